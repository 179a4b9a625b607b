import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { URI } from "vscode-uri";
import { MOST_CLIENTS_MS, PassedOn } from "../../extension/language/passed-on.ts";
import { FakeClock } from "./fake-clock.ts";
import { editor } from "./stand-in-vscode.ts";

const { Changes } = await import("../../extension/language/changes.ts");
const { Analysis } = await import("../../extension/language/analysis.ts");
const { Documents } = await import("../../extension/language/documents.ts");
const { documentHost } = await import("../../extension/language/editor.ts");
const { MomentaryTabs } = await import("../../extension/language/tabs.ts");

const A = "file:///w/a.ts";
const B = "file:///w/b.ts";

let bumps: string[];
let seen: object[][];
let clock: FakeClock;
let analysis: InstanceType<typeof Analysis>;
let tabs: InstanceType<typeof MomentaryTabs>;
let over: ConstructorParameters<typeof MomentaryTabs>[1];

beforeEach(() => {
  editor.reset();
  bumps = [];
  seen = [];
  clock = new FakeClock();
  analysis = new Analysis(clock);
  tabs = new MomentaryTabs(clock, (uri) => over(uri));
});

function watch(): InstanceType<typeof Changes> {
  const documents = new Documents(documentHost, () => bumps.push("text"));
  const changes = new Changes(
    (epoch) => bumps.push(epoch),
    new PassedOn(
      clock,
      new Set(),
      () => [],
      (files) => seen.push(files),
    ),
    documents,
    analysis,
    tabs,
  );
  over = (uri) => changes.look([uri]);
  return changes;
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

test("what is published for a document in a tab of the gateway's does not count, unless it stays", async () => {
  const changes = watch();
  const document = { uri: URI.parse(A) } as Parameters<typeof tabs.during>[0];
  const publishing = async () => {
    publish({ [A]: [diagnostic("a")] });
    changes.published();
  };
  await tabs.during(document, publishing);
  changes.published();
  await clock.pass(500);
  publish({ [A]: [] });
  await clock.pass(500);
  assert.deepEqual(bumps, [], "It was taken back.");

  await tabs.during(document, publishing);
  await clock.pass(500);
  await tabs.during(document, async () => {});
  await clock.pass(999);
  assert.deepEqual(bumps, []);
  await clock.pass(1);
  assert.deepEqual(bumps, ["diagnostics"], "It was not, a second after the last of the tabs had gone.");
});

test("what is published for a document in a tab that the person has made theirs counts at once", async () => {
  watch();
  const document = { uri: URI.parse(A) } as Parameters<typeof tabs.during>[0];
  await tabs.during(document, async () => {
    publish({ [A]: [diagnostic("a")] });
    Object.assign(editor.tabs.at(-1) ?? {}, { isDirty: true });
  });
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

test("diagnostics that are asked for before the editor tells of them count then, and not once more with the event", () => {
  const changes = watch();
  publish({ [B]: [diagnostic("b")] });
  bumps = [];

  editor.diagnostics.set(A, [diagnostic("a")]);
  editor.diagnostics.delete(B);
  assert.deepEqual(
    changes.published().map(([uri]) => uri.toString()),
    [A],
  );
  assert.deepEqual(bumps, ["diagnostics"]);
  changes.published();
  publish({ [A]: [diagnostic("a")], [B]: [] });
  assert.deepEqual(bumps, ["diagnostics"]);
});

test("diagnostics of what is no file on disk do not count", () => {
  watch();

  publish({ "untitled:Untitled-1": [diagnostic("a")], "git:/w/a.ts": [diagnostic("a")] });
  assert.deepEqual(bumps, []);
});

test("opening, changing, saving and closing a file counts, and so does one outside the roots", () => {
  watch();

  for (const uri of [A, "file:///elsewhere/a.ts"]) {
    bumps = [];
    const document = { uri: URI.parse(uri), isClosed: true };
    editor.fire("onDidOpenTextDocument", document);
    editor.fire("onDidChangeTextDocument", { document, contentChanges: [{}] });
    editor.fire("onDidSaveTextDocument", document);
    editor.fire("onDidCloseTextDocument", document);
    assert.deepEqual(bumps, ["text", "text", "text", "text"], uri);
  }
});

test("a change without content does not count, and neither does anything that happens to what is no file on disk", () => {
  watch();

  editor.fire("onDidChangeTextDocument", { document: { uri: URI.parse(A) }, contentChanges: [] });
  for (const uri of ["output:log", "git:/w/a.ts", "untitled:Untitled-1"]) {
    const document = { uri: URI.parse(uri), isClosed: true };
    editor.fire("onDidOpenTextDocument", document);
    editor.fire("onDidChangeTextDocument", { document, contentChanges: [{}] });
    editor.fire("onDidSaveTextDocument", document);
    editor.fire("onDidCloseTextDocument", document);
  }
  assert.deepEqual(bumps, []);
});

test("what the editor sees on disk is told of once it is passed on, and counts for nothing here", async () => {
  const changes = watch();
  changes.watch(["/w", "/x"]);

  editor.fire("onDidCreate", URI.parse(A));
  editor.fire("onDidChange", URI.parse("file:///x/a.ts"));
  editor.fire("onDidDelete", URI.parse(A));
  assert.deepEqual(seen, []);
  await clock.pass(MOST_CLIENTS_MS);
  assert.deepEqual(seen, [
    [
      { path: "/w/a.ts", kind: "created" },
      { path: "/x/a.ts", kind: "changed" },
      { path: "/w/a.ts", kind: "deleted" },
    ],
  ]);
  assert.deepEqual(bumps, []);
});

test("who waits for a language or a document learns of opened documents, their changes, and what is published", async () => {
  const document = { uri: URI.parse(A), languageId: "c", isClosed: false };
  editor.documents.push({ uri: URI.parse(B), languageId: "d", lines: [] });
  editor.diagnostics.set(B, []);
  watch();
  editor.fire("onDidOpenTextDocument", document);
  await clock.pass(1_000);
  assert.equal(await analysis.languageSettled("d"), true, "It was open, and published for, before.");

  let isSettled = false;
  publish({ [A]: [] });
  editor.fire("onDidChangeTextDocument", { document, contentChanges: [{}] });
  const settling = analysis.documentSettled(A, false).then(() => {
    isSettled = true;
  });
  await clock.pass(1_000);
  assert.equal(isSettled, false, "What was published is about the text before the change.");
  publish({ [A]: [] });
  await clock.pass(1_000);
  await settling;
});

test("a root that stays keeps its watcher, and gets another when it joins or leaves the workspace", async () => {
  const changes = watch();
  changes.watch(["/w"]);
  changes.watch(["/w", "/x"]);
  assert.deepEqual(editor.watched, ["/w", "/x"]);

  editor.folders.push("/x");
  changes.watch(["/x"]);
  assert.deepEqual(editor.watched, ["/w", "/x", "/x"]);
  editor.fire("onDidCreate", URI.parse(A));
  editor.fire("onDidCreate", URI.parse("file:///x/a.ts"));
  await clock.pass(MOST_CLIENTS_MS);
  assert.deepEqual(seen, [[{ path: "/x/a.ts", kind: "created" }]]);
});

test("nothing counts after the end", () => {
  const changes = watch();
  changes.dispose();

  publish({ [A]: [diagnostic("a")] });
  editor.fire("onDidSaveTextDocument", { uri: URI.parse(A) });
  assert.deepEqual(bumps, []);
});
