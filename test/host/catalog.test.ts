import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { DefinitionPayload, Position } from "../../harness/clients/gateway-client.ts";
import {
  copyWorkspace,
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
} from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";

interface Highlights {
  readonly highlights: readonly { readonly range: { readonly start: Position }; readonly kind?: number }[];
}

describe("a person who has chosen more tools", () => {
  let folder: string;
  let editor: RealVsCode;
  let gateway: GatewayWindow;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor({ "mcpLspGateway.catalog": "core" });
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

  test("a client sees them after those of version 1", async () => {
    const names = await gateway.client.toolNames();
    assert.deepEqual(names.slice(7), ["vscode.lsp.implementation", "vscode.lsp.documentHighlights"]);
  });

  test("what implements an interface is found", async () => {
    const vessel = placeOf("src/ship.ts", "Vessel {");
    const { locations } = await gateway.client.call<DefinitionPayload>("vscode.lsp.implementation", vessel);
    const { uri, position } = placeOf("src/ship.ts", "Ship implements");
    assert.deepEqual(
      locations.map((location) => [location.uri, location.range.start]),
      [[uri, position]],
    );
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
