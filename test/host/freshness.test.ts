import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Location, type Page, ToolFailure } from "../../scripts/gateway-client.ts";
import { pickSubject, type Subject } from "../../scripts/pick-subject.ts";
import type { RealVsCode } from "../../scripts/real-vscode.ts";
import { copyWorkspace, eventually, type GatewayWindow, openGateway, startEditor } from "./gateway-window.ts";

describe("cursors and what happens in the editor and on disk", () => {
  let folder: string;
  let editor: RealVsCode;
  let gateway: GatewayWindow;
  let subject: Subject;

  before(async () => {
    folder = copyWorkspace();
    subject = pickSubject(folder);
    editor = await startEditor();
    gateway = await openGateway(editor, folder);
    // More than the files of the subject's own: the project is loaded.
    await eventually(
      () => gateway.client.references(subject.declaration.uri, subject.declaration.position),
      (items) => new Set(items.map(({ uri }) => uri)).size >= 3,
    );
  });

  after(async () => {
    await editor?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("an edit that nobody has saved makes a cursor stale and is seen by the next answer", async () => {
    const { cursor, total } = await firstPage();
    await gateway.window.inside(async (vscode, uri) => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(vscode.Uri.parse(uri), new vscode.Position(0, 0), 'import { Ship as Another } from "./ship";\n');
      await vscode.workspace.applyEdit(edit);
    }, uriOf("src/mistakes.ts"));
    assert.deepEqual(await changedSince(cursor), ["text"]);
    assert.ok((await firstPage()).total > total);
  });

  test("a file that appears in the folder makes a cursor stale", async () => {
    const { cursor } = await firstPage();
    writeFileSync(join(folder, "src", "appeared.ts"), "export {};\n");
    assert.deepEqual(
      await eventually(
        () => changedSince(cursor),
        (changed) => changed.length > 0,
      ),
      ["fs"],
    );
  });

  test("what is written into a build's output folder leaves a cursor alone", async () => {
    const { cursor } = await firstPage();
    await gateway.window.inside(async (vscode, root) => {
      const { mkdirSync, writeFileSync } = process.getBuiltinModule("node:fs");
      const watcher = vscode.workspace.createFileSystemWatcher(
        new vscode.RelativePattern(vscode.Uri.file(root), "dist/**"),
      );
      const seen = new Promise((resolve) => watcher.onDidCreate(resolve));
      mkdirSync(`${root}/dist`);
      let written = 0;
      // A new watcher needs a moment before it sees anything.
      const writing = setInterval(() => writeFileSync(`${root}/dist/bundle-${written++}.js`, ""), 100);
      await seen;
      clearInterval(writing);
      watcher.dispose();
    }, folder);
    assert.deepEqual(await changedSince(cursor), []);
  });

  test("showing a document that the gateway holds, output channels and untitled documents leave a cursor alone", async () => {
    const { cursor } = await firstPage();
    await gateway.window.inside(async (vscode, uri) => {
      await vscode.window.showTextDocument(vscode.Uri.parse(uri));
      const channel = vscode.window.createOutputChannel("Noise");
      const changed = new Promise((resolve) => {
        const subscription = vscode.workspace.onDidChangeTextDocument(({ document }) => {
          if (document.uri.scheme === "output") {
            subscription.dispose();
            resolve(undefined);
          }
        });
      });
      channel.show(true);
      channel.appendLine("something");
      await changed;
      channel.dispose();
      await vscode.workspace.openTextDocument({ content: "untitled", language: "typescript" });
    }, subject.declaration.uri);
    assert.deepEqual(await changedSince(cursor), []);
  });

  test("questions about other files, which the gateway opens for them, leave a cursor alone", async () => {
    const { cursor } = await firstPage();
    for (const file of ["src/berth.ts", "src/harbour.ts", "src/mistakes.ts"]) {
      await gateway.client.definition(uriOf(file), { line: 1, character: 0 });
    }
    assert.deepEqual(await changedSince(cursor), []);
  });

  function uriOf(file: string): string {
    return pathToFileURL(join(folder, file)).href;
  }

  function ask(cursor: string | null): Promise<Page<Location>> {
    const { uri, position } = subject.declaration;
    return gateway.client.call("vscode.lsp.references", {
      uri,
      position,
      includeDeclaration: true,
      pageSize: 1,
      cursor,
    });
  }

  async function firstPage(): Promise<{ cursor: string; total: number }> {
    const { uri, position } = subject.declaration;
    const { length } = await gateway.client.references(uri, position);
    const { nextCursor } = await ask(null);
    assert.ok(nextCursor, "There is a second page.");
    return { cursor: nextCursor, total: length };
  }

  /** What has moved since the cursor was made, as the gateway says it; empty if the cursor still works. */
  async function changedSince(cursor: string): Promise<readonly string[]> {
    try {
      await ask(cursor);
      return [];
    } catch (error) {
      if (error instanceof ToolFailure && error.code === "CURSOR_STALE") {
        return error.details["changed"] as string[];
      }
      throw error;
    }
  }
});
