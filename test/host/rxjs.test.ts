import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { GatewayClient, type Location } from "../../harness/clients/gateway-client.ts";
import { type GatewayWindow, openGateway, startEditor } from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { LanguageServer } from "../../harness/languages/language-server.ts";
import {
  type DiagnosticItem,
  type DocumentSymbolItem,
  type HoverPayload,
  normalisedDiagnostics,
  normalisedDocumentSymbols,
  normalisedHover,
  normalisedWorkspaceSymbols,
  type WorkspaceSymbolItem,
} from "../../harness/languages/normalised.ts";
import { RxjsWorkspace } from "../../harness/languages/rxjs-workspace.ts";
import { describePlace, type Place } from "../../harness/languages/sample.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { compareReferences } from "./compared-references.ts";
import { diagnosticsInside, documentSymbolsInside, hoversInside, workspaceSymbolsInside } from "./own-commands.ts";

const POSITIONS = 50;
const OTHER_FILES = 40;
/** So that each of the other files has been asked about by the time of the last page. */
const HOVERS_BETWEEN_PAGES = 5;
const SEED = 20_251_125;
/** None of the texts at these positions is longer than a fragment may be. */
const OTHER_SEED = 20_251_121;
const HOVERED_POSITIONS = 30;
const FILES = 10;
const MISTAKEN = "src/mistaken.ts";

/** Two type errors, each on a line of its own. */
const MISTAKES = `export const count: number = "three";
export const nothing = count.absent;
`;

describe("on the sources of rxjs", () => {
  let rxjs: RxjsWorkspace;
  let server: LanguageServer;
  let editor: RealVsCode;
  let gateway: GatewayWindow;
  let everyObservable: Location[];

  before(async () => {
    rxjs = await RxjsWorkspace.create();
    writeFileSync(join(rxjs.folder, MISTAKEN), MISTAKES);
    [server, editor] = await Promise.all([LanguageServer.start(rxjs.folder), startEditor()]);
    const declaration = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
    everyObservable = await server.references(declaration.uri, declaration.position);
    gateway = await openGateway(editor, rxjs.folder);
    // Right after its start the editor's language server answers in part; it is ready when it knows them all.
    const known = await eventually(
      () => gateway.client.references(declaration.uri, declaration.position),
      ({ length }) => length === everyObservable.length,
    );
    assert.deepEqual(known, everyObservable);
  });

  after(async () => {
    await gateway?.client.close();
    await Promise.all([editor?.stop(), server?.stop()]);
    rxjs?.remove();
  });

  test("scenario 2: all references of Observable are paged through in a file that was never open, while another client hovers on 40 files and the log is shown at trace level", async () => {
    const place = rxjs.find("src/internal/scheduled/scheduleArray.ts", "Observable", "export function");
    const elsewhere = new Map(rxjs.sample(500, SEED + 1).map((other) => [other.uri, other]));
    elsewhere.delete(place.uri);
    const others = [...elsewhere.values()].slice(0, OTHER_FILES);
    assert.equal(others.length, OTHER_FILES);
    assert.ok(!(await openFiles()).includes(place.uri), "It was never open.");
    await gateway.window.inside(async (vscode) => {
      await vscode.workspace.getConfiguration("mcpLspGateway").update("logLevel", "trace", true);
    }, undefined);
    await gateway.window.runCommand("MCP LSP Gateway: Show Log");
    const linesBefore = await shownLog();

    const another = await GatewayClient.connect(gateway.configuration);
    const hovers = new EventEmitter();
    let hovered = 0;
    let paging = true;
    const hovering = (async () => {
      while (paging) {
        const { uri, position } = others[hovered % others.length] as Place;
        await another.call("vscode.lsp.hover", { uri, position });
        hovered += 1;
        hovers.emit("one more");
      }
    })();
    const items: Location[] = [];
    let pages = 0;
    const input = { uri: place.uri, position: place.position, includeDeclaration: true, pageSize: 50 };
    for await (const page of gateway.client.pages<Location>("vscode.lsp.references", input)) {
      pages += 1;
      items.push(...page.items);
      while (page.nextCursor !== null && hovered < pages * HOVERS_BETWEEN_PAGES) {
        await Promise.race([once(hovers, "one more"), hovering]);
      }
    }
    paging = false;
    await hovering;
    await another.close();
    assert.deepEqual(items, everyObservable);
    assert.equal(pages, Math.ceil(everyObservable.length / 50));
    assert.ok(hovered >= OTHER_FILES, `${hovered} hovers`);
    const lines = await eventually(shownLog, (count) => count >= linesBefore + hovered);
    assert.ok(lines >= linesBefore + hovered, "The log was written to while it was shown.");
    await gateway.window.screenshot("scenario-2");
  });

  test(`definitions at ${POSITIONS} positions equal those of the language server asked directly`, async () => {
    const answers = { empty: 0, full: 0 };
    for (const place of rxjs.sample(POSITIONS, SEED)) {
      const expected = await server.definition(place.uri, place.position);
      const { locations } = await gateway.client.definition(place.uri, place.position);
      assert.deepEqual(locations, expected, describePlace(place));
      answers[expected.length === 0 ? "empty" : "full"] += 1;
    }
    assert.ok(answers.full > answers.empty, `Most of the positions mean something: ${JSON.stringify(answers)}`);
  });

  test(`scenario 5: references at ${POSITIONS} positions equal those of the TypeScript language server asked directly`, async (t) => {
    await compareReferences(t, gateway.client, server, rxjs.sample(POSITIONS, SEED));
  });

  test("a picture is taken of the editor with the gateway's port and its log", async () => {
    const { window } = gateway;
    await window.runCommand("MCP LSP Gateway: Show Log");
    await window.openFile("src/internal/Observable.ts");
    assert.match(await window.status(/MCP \d+/), /listens on port \d+/);
    await window.screenshot("rxjs");
  });

  test(`hovers at ${HOVERED_POSITIONS} positions are what VS Code's own command returns, normalised`, async () => {
    let full = 0;
    for (const { uri, position, word } of rxjs.sample(HOVERED_POSITIONS, OTHER_SEED)) {
      const { contents, range } = await gateway.client.call<HoverPayload>("vscode.lsp.hover", { uri, position });
      const expected = normalisedHover(await hoversInside(gateway.window, uri, position));
      assert.deepEqual({ contents, ...(range === undefined ? {} : { range }) }, expected, `${word} in ${uri}`);
      full += expected.contents.length > 0 ? 1 : 0;
    }
    assert.ok(full >= HOVERED_POSITIONS / 3, `${full} of the positions mean something`);
  });

  test(`the symbols of ${FILES} files are what VS Code's own command returns, flattened and normalised`, async () => {
    let nested = 0;
    const files = new Set(rxjs.sample(2 * FILES, OTHER_SEED + 1).map(({ uri }) => uri));
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

  function openFiles(): Promise<string[]> {
    return gateway.window.inside(
      (vscode) => vscode.workspace.textDocuments.map(({ uri }) => uri.toString()),
      undefined,
    );
  }

  /** How many lines of the log the panel shows; none if it is not shown. */
  function shownLog(): Promise<number> {
    return gateway.window.inside(
      (vscode) =>
        vscode.window.visibleTextEditors.find(({ document: { uri } }) => uri.scheme === "output")?.document.lineCount ??
        0,
      undefined,
    );
  }
});
