import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { eventually } from "../../scripts/eventually.ts";
import type { RealVsCode } from "../../scripts/real-vscode.ts";
import { type GatewayWindow, openGateway, startEditor } from "./gateway-window.ts";
import {
  type DiagnosticItem,
  type DocumentSymbolItem,
  type HoverPayload,
  normalisedDiagnostics,
  normalisedDocumentSymbols,
  normalisedHover,
  normalisedWorkspaceSymbols,
  type WorkspaceSymbolItem,
} from "./normalised.ts";
import { diagnosticsInside, documentSymbolsInside, hoversInside, workspaceSymbolsInside } from "./own-commands.ts";
import { RxjsWorkspace } from "./rxjs-workspace.ts";

const POSITIONS = 30;
const FILES = 10;
const SEED = 20_251_121;
/** The class has more references than this; a language server that has not read the project yet knows fewer. */
const MANY = 400;
const MISTAKEN = "src/mistaken.ts";

/** Two type errors, each on a line of its own. */
const MISTAKES = `export const count: number = "three";
export const nothing = count.absent;
`;

describe("hovers, symbols and diagnostics on the sources of rxjs", () => {
  let rxjs: RxjsWorkspace;
  let editor: RealVsCode;
  let gateway: GatewayWindow;

  before(async () => {
    rxjs = await RxjsWorkspace.create();
    writeFileSync(join(rxjs.folder, MISTAKEN), MISTAKES);
    editor = await startEditor();
    gateway = await openGateway(editor, rxjs.folder);
    const declaration = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
    // Right after its start the editor's language server answers in part; with this many files it has read the project.
    const known = await eventually(
      () => gateway.client.references(declaration.uri, declaration.position),
      (found) => found.length > MANY,
    );
    assert.ok(known.length > MANY, `${known.length} references of Observable`);
  });

  after(async () => {
    await gateway?.client.close();
    await editor?.stop();
    rxjs?.remove();
  });

  test(`hovers at ${POSITIONS} positions are what VS Code's own command returns, normalised`, async () => {
    let full = 0;
    for (const { uri, position, word } of rxjs.sample(POSITIONS, SEED)) {
      const { contents, range } = await gateway.client.call<HoverPayload>("vscode.lsp.hover", { uri, position });
      const expected = normalisedHover(await hoversInside(gateway.window, uri, position));
      assert.deepEqual({ contents, ...(range === undefined ? {} : { range }) }, expected, `${word} in ${uri}`);
      full += expected.contents.length > 0 ? 1 : 0;
    }
    assert.ok(full >= POSITIONS / 3, `${full} of the positions mean something`);
  });

  test(`the symbols of ${FILES} files are what VS Code's own command returns, flattened and normalised`, async () => {
    let nested = 0;
    const files = new Set(rxjs.sample(2 * FILES, SEED + 1).map(({ uri }) => uri));
    files.add(rxjs.uri("src/internal/Observable.ts"));
    for (const uri of [...files].slice(-FILES)) {
      const payload = await gateway.client.call<{ symbols: DocumentSymbolItem[]; summary: string }>(
        "vscode.lsp.documentSymbols",
        { uri },
      );
      const expected = normalisedDocumentSymbols(uri, await documentSymbolsInside(gateway.window, uri));
      assert.deepEqual(payload.symbols, expected.slice(0, 200), uri);
      nested += expected.filter(({ containerName }) => containerName !== undefined).length;
    }
    assert.ok(nested > FILES, `${nested} of the symbols lie in others`);
  });

  test("workspace symbols, paged, are what VS Code's own command returns, normalised", async () => {
    const uri = rxjs.uri("src/internal/Observable.ts");
    // The TypeScript extension asks about the project of a document that is open in a tab.
    await gateway.window.openFile("src/internal/Observable.ts");
    const items: WorkspaceSymbolItem[] = [];
    for await (const page of gateway.client.pages<WorkspaceSymbolItem>("vscode.lsp.workspaceSymbols", {
      query: "Scheduler",
      pageSize: 20,
    })) {
      items.push(...page.items);
    }
    const found = await workspaceSymbolsInside(gateway.window, "Scheduler");
    assert.deepEqual(items, normalisedWorkspaceSymbols(pathToFileURL(rxjs.folder).href, found));
    assert.ok(items.length > 20, `${items.length} symbols in ${uri}`);
  });

  test("diagnostics of a file in a tab, alone and with all others, are what the editor has", async () => {
    const uri = rxjs.uri(MISTAKEN);
    await gateway.window.openFile(MISTAKEN);
    const inEditor = await eventually(
      async () => (await diagnosticsInside(gateway.window)).find(([file]) => file === uri)?.[1] ?? [],
      (diagnostics) => diagnostics.length >= 2,
    );
    const expected = normalisedDiagnostics(uri, inEditor);
    assert.deepEqual(
      expected.map(({ code, source, severity, range: { start } }) => ({ code, source, severity, line: start.line })),
      [
        { code: "2322", source: "ts", severity: 1, line: 0 },
        { code: "2339", source: "ts", severity: 1, line: 1 },
      ],
    );
    const alone = await gateway.client.call<{ uri: string; diagnostics: DiagnosticItem[] }>(
      "vscode.lsp.diagnostics.document",
      { uri },
    );
    assert.deepEqual({ uri: alone.uri, diagnostics: alone.diagnostics }, { uri, diagnostics: expected });

    const everywhere: { uri: string; diagnostics: readonly DiagnosticItem[] }[] = [];
    for await (const page of gateway.client.pages<{ uri: string; diagnostics: DiagnosticItem[] }>(
      "vscode.lsp.diagnostics.workspace",
      { pageSize: 1 },
    )) {
      everywhere.push(...page.items);
    }
    const all = (await diagnosticsInside(gateway.window))
      .map(([file, diagnostics]) => ({ uri: file, diagnostics: normalisedDiagnostics(file, diagnostics) }))
      .sort((a, b) => (a.uri < b.uri ? -1 : 1));
    assert.deepEqual(everywhere, all);
    assert.ok(all.some((group) => group.uri === uri));
  });

  test("a file in no tab is analysed when it is asked about", async () => {
    const uri = rxjs.uri("src/internal/util/isFunction.ts");
    assert.deepEqual(await gateway.client.call("vscode.lsp.diagnostics.document", { uri }), {
      uri,
      diagnostics: [],
      summary: "Returned no diagnostics.",
    });
  });
});
