import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { URI } from "vscode-uri";
import { editor } from "./stand-in-vscode.ts";

const { Changes } = await import("../../extension/changes.ts");
const { Documents } = await import("../../extension/documents.ts");
const { documentHost } = await import("../../extension/editor.ts");

const A = "file:///w/a.ts";
const B = "file:///w/b.ts";

let bumps: string[];

beforeEach(() => {
  editor.reset();
  bumps = [];
});

function watch(): InstanceType<typeof Changes> {
  return new Changes((epoch) => bumps.push(epoch), new Documents(documentHost, () => bumps.push("text")));
}

function diagnostic(message: string): object {
  const position = { line: 0, character: 0 };
  return { message, severity: 0, range: { start: position, end: position } };
}

/** Extensions publish, and the editor tells of all their URIs at once. */
function publish(published: Readonly<Record<string, readonly object[]>>): void {
  for (const [uri, diagnostics] of Object.entries(published)) {
    editor.diagnostics.set(uri, diagnostics);
  }
  editor.fire("onDidChangeDiagnostics", { uris: Object.keys(published).map((uri) => URI.parse(uri)) });
}

test("diagnostics that changed count once for each event, however many files it is about", () => {
  watch();

  publish({ [A]: [diagnostic("a")], [B]: [diagnostic("b")] });
  assert.deepEqual(bumps, ["diagnostics"]);
  publish({ [A]: [diagnostic("a")], [B]: [] });
  assert.deepEqual(bumps, ["diagnostics", "diagnostics"]);
  publish({ [A]: [diagnostic("another")] });
  assert.deepEqual(bumps, ["diagnostics", "diagnostics", "diagnostics"]);
});

test("diagnostics that are published once more do not count, and neither does an empty list for a clean file", () => {
  watch();
  publish({ [A]: [diagnostic("a")], [B]: [diagnostic("b")] });

  publish({ [A]: [diagnostic("a")], [B]: [diagnostic("b")] });
  publish({ "file:///w/clean.ts": [] });
  assert.deepEqual(bumps, ["diagnostics"]);
});

test("every file of an event is looked at, so that none of them counts again later", () => {
  watch();

  publish({ [A]: [diagnostic("a")], [B]: [diagnostic("b")] });
  publish({ [B]: [diagnostic("b")] });
  assert.deepEqual(bumps, ["diagnostics"]);
});

test("what was published before the extension started is known", () => {
  editor.diagnostics.set(A, [diagnostic("a")]);
  watch();

  publish({ [A]: [diagnostic("a")] });
  assert.deepEqual(bumps, []);
  publish({ [A]: [] });
  assert.deepEqual(bumps, ["diagnostics"]);
});

test("diagnostics of what is no file on disk do not count", () => {
  watch();

  publish({ "untitled:Untitled-1": [diagnostic("a")], "git:/w/a.ts": [diagnostic("a")] });
  assert.deepEqual(bumps, []);
});

test("nothing counts after the end", () => {
  const changes = watch();
  changes.dispose();

  publish({ [A]: [diagnostic("a")] });
  assert.deepEqual(bumps, []);
});
