import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Location, Page, Position } from "../../harness/clients/gateway-client.ts";
import {
  copyWorkspace,
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
} from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { eventually } from "../../harness/machine/eventually.ts";

interface Files {
  readonly files: readonly { readonly path: string; readonly at: readonly string[] }[];
}

interface Highlights {
  readonly highlights: readonly { readonly range: { readonly start: Position }; readonly kind?: number }[];
}

describe("a person who has chosen more tools", () => {
  let folder: string;
  let editor: RealVsCode;
  let gateway: GatewayWindow;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor({ "mcpLspGateway.catalog": "all" });
    gateway = await openGateway(editor, folder);
  });
  after(async () => {
    await gateway?.client.close();
    await editor?.stop();
    removeFolder(folder);
  });

  /** Where this stands first in a file of the workspace. */
  function placeOf(file: string, text: string): { readonly uri: string; readonly position: Position } {
    const path = join(folder, file);
    const before = readFileSync(path, "utf8").split(text)[0]?.split("\n") ?? [];
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    return { uri: pathToFileURL(path).href, position };
  }

  /** The same place as the tools beyond version 1 take it. */
  function compact({ uri, position }: { readonly uri: string; readonly position: Position }) {
    return { file: uri, at: `${position.line}:${position.character}` };
  }

  test("a client sees them after those of version 1", async () => {
    const names = await gateway.client.toolNames();
    const beyond = [
      "symbol.find",
      "symbol.source",
      "outline",
      "usages",
      "implementation",
      "typeDefinition",
      "declaration",
      "status",
      "documentHighlights",
    ];
    assert.deepEqual(
      names.slice(7),
      beyond.map((name) => `vscode.lsp.${name}`),
    );
  });

  test("what implements an interface is found", async () => {
    const vessel = placeOf("src/ship.ts", "Vessel {");
    const { files } = await gateway.client.call<Files>("vscode.lsp.implementation", compact(vessel));
    const { line, character } = placeOf("src/ship.ts", "Ship implements").position;
    assert.deepEqual(files, [{ path: "src/ship.ts", at: [`${line}:${character}-${character + "Ship".length}`] }]);
  });

  test("the uses of a symbol are found, as references has them", async () => {
    const cargo = placeOf("src/ship.ts", "#cargo: string");
    const { items } = await gateway.client.call<Page<Location>>("vscode.lsp.references", cargo);
    const { files } = await gateway.client.call<Files>("vscode.lsp.usages", compact(cargo));
    const starts = items.map(({ range }) => `${range.start.line}:${range.start.character}`);
    assert.ok(starts.length > 0);
    assert.deepEqual(
      files.map(({ path, at }) => [path, at.map((place) => place.split("-")[0])]),
      [["src/ship.ts", starts]],
    );
  });

  test("a symbol is found by its name, and its lines are those that the editor has, saved or not", async () => {
    await gateway.window.inside(
      async (vscode, path) => {
        const document = await vscode.workspace.openTextDocument(path);
        const { line } = document.positionAt(document.getText().indexOf("  load(piece"));
        const edit = new vscode.WorkspaceEdit();
        edit.insert(document.uri, new vscode.Position(line, 0), "  // Not saved.\n");
        await vscode.workspace.applyEdit(edit);
      },
      join(folder, "src/ship.ts"),
    );
    const { line } = placeOf("src/ship.ts", "load(piece").position;
    const load = { name: "load", in: "Ship", kind: "method", path: "src/ship.ts", at: `${line + 1}:2-6` };
    const head = "load(piece: string): this {";
    const { symbols } = await gateway.client.call<{ symbols: object[] }>("vscode.lsp.symbol.find", {
      symbol: "Ship.load",
    });
    assert.deepEqual(symbols, [{ ...load, head }]);
    const { source } = await gateway.client.call<{ source: string[] }>("vscode.lsp.symbol.source", { symbol: "load" });
    assert.deepEqual(source.slice(0, 3), [
      "  /** Puts one more piece of cargo on board. */",
      "  // Not saved.",
      "  load(piece: string): this {",
    ]);
    const { files } = await gateway.client.call<Files>("vscode.lsp.usages", { symbol: "Ship.load", lines: true });
    assert.ok(files.length > 0);
    await gateway.window.inside(
      async (vscode, path) => {
        const document = await vscode.workspace.openTextDocument(path);
        const { line } = document.positionAt(document.getText().indexOf("  // Not saved."));
        const edit = new vscode.WorkspaceEdit();
        edit.delete(document.uri, new vscode.Range(line, 0, line + 1, 0));
        await vscode.workspace.applyEdit(edit);
      },
      join(folder, "src/ship.ts"),
    );
  });

  test("what shows how far a language has come is told, each time as it is then", async () => {
    interface Status {
      readonly languages: readonly { readonly language: string; readonly stage: string }[];
    }
    const told: Status[] = [];
    await eventually(
      async () => {
        told.push(await gateway.client.call<Status>("vscode.lsp.status", {}));
        return told.at(-1)?.languages[0]?.stage;
      },
      (stage) => stage === "ready",
    );
    for (const { languages } of told) {
      assert.deepEqual(
        languages.map(({ language, stage }) => [language, stage === "ready" || stage === "loading"]),
        [["typescript", true]],
      );
    }
    assert.equal(told.at(-1)?.languages[0]?.stage, "ready");
  });

  test("what belongs to a symbol in its file is found, and where it is written", async () => {
    const cargo = placeOf("src/ship.ts", "#cargo: string");
    const { highlights } = await gateway.client.call<Highlights>("vscode.lsp.documentHighlights", cargo);
    assert.deepEqual(
      highlights.map(({ range, kind }) => [range.start.line, kind]),
      [
        [cargo.position.line, 3],
        [placeOf("src/ship.ts", "#cargo.push").position.line, 2],
        [placeOf("src/ship.ts", "#cargo;").position.line, 2],
      ],
    );
  });

  test("without them, a client that had them begins a new session", async () => {
    await gateway.window.inside(async (vscode) => {
      await vscode.workspace
        .getConfiguration("mcpLspGateway")
        .update("catalog", "v1", vscode.ConfigurationTarget.Workspace);
    }, undefined);
    await assert.rejects(async () => {
      for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
        await gateway.client.toolNames();
      }
    }, /session/i);
  });
});
