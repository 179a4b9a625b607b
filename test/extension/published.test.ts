import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { type DiagnosticLike, MAX_FILES, PublishedDiagnostics } from "../../extension/language/published.ts";

const A = "file:///w/a.ts";
const B = "file:///w/b.ts";

let published: PublishedDiagnostics;

beforeEach(() => {
  published = new PublishedDiagnostics();
});

function diagnostic(change: Partial<Record<keyof DiagnosticLike, unknown>> = {}): DiagnosticLike {
  const range = { start: { line: 1, character: 2 }, end: { line: 3, character: 4 } };
  return { range, severity: 0, code: 2322, source: "ts", message: "wrong", ...change } as DiagnosticLike;
}

test("what is published for the first time is a change, and published once more it is none", () => {
  assert.equal(published.changed(A, [diagnostic()]), true);
  assert.equal(published.changed(A, [diagnostic()]), false);
  assert.equal(published.changed(B, [diagnostic()]), true, "of another file it is news");
});

test("an empty list for a file that had none is no change, and one that takes the diagnostics away is", () => {
  assert.equal(published.changed(A, []), false);
  published.changed(A, [diagnostic()]);
  assert.equal(published.changed(A, []), true);
  assert.equal(published.changed(A, []), false);
  assert.equal(published.changed(A, [diagnostic()]), true);
});

test("every part of a diagnostic that clients get to see is a change of its own", () => {
  const start = { line: 1, character: 2 };
  const end = { line: 3, character: 4 };
  const changes: Partial<Record<keyof DiagnosticLike, unknown>>[] = [
    { range: { start: { ...start, line: 0 }, end } },
    { range: { start: { ...start, character: 0 }, end } },
    { range: { start, end: { ...end, line: 9 } } },
    { range: { start, end: { ...end, character: 9 } } },
    { severity: 1 },
    { severity: undefined },
    { code: 2323 },
    { code: undefined },
    { code: { value: 2323 } },
    { source: "tsc" },
    { message: "still wrong" },
  ];
  for (const change of changes) {
    published.changed(A, [diagnostic()]);
    assert.equal(published.changed(A, [diagnostic(change)]), true, JSON.stringify(change));
    assert.equal(published.changed(A, [diagnostic(change)]), false, JSON.stringify(change));
  }
});

test("one more diagnostic or one fewer is a change", () => {
  published.changed(A, [diagnostic()]);
  assert.equal(published.changed(A, [diagnostic(), diagnostic({ message: "more" })]), true);
  assert.equal(published.changed(A, [diagnostic({ message: "more" })]), true);
});

test("another order, repetition and what no client sees are no change", () => {
  const [one, other] = [diagnostic({ message: "one" }), diagnostic({ message: "other" })];
  published.changed(A, [one, other]);
  assert.equal(published.changed(A, [other, one, one]), false);
  assert.equal(published.changed(A, [{ ...one, tags: [1], relatedInformation: [] } as DiagnosticLike, other]), false);
  const linked = (target: string) => diagnostic({ code: { value: "no-unused", target } });
  published.changed(A, [linked("https://example.com/one")]);
  assert.equal(published.changed(A, [linked("https://example.com/other")]), false);
});

test("diagnostics are not told apart by how their texts happen to join", () => {
  published.changed(A, [diagnostic({ message: 'x"]\n["' })]);
  assert.equal(published.changed(A, [diagnostic({ message: "x" }), diagnostic({ message: "" })]), true);
});

test("what cannot be read is always a change", () => {
  const circle: { value?: unknown } = {};
  circle.value = circle;
  for (const junk of [{ range: undefined }, { code: { value: circle } }, { code: 1n }]) {
    assert.equal(published.changed(A, [diagnostic(junk)]), true);
    assert.equal(published.changed(A, [diagnostic(junk)]), true);
  }
  assert.equal(published.changed(A, []), true);
  assert.equal(published.changed(A, []), false);
});

test("a look at everything finds what changed, what came and what went, each once", () => {
  published.changed(A, [diagnostic()]);
  assert.equal(published.anyChanged([[A, [diagnostic()]]]), false);
  assert.equal(published.anyChanged([[A, [diagnostic({ message: "other" })]]]), true);
  assert.equal(published.changed(A, [diagnostic({ message: "other" })]), false);
  const both = [A, B].map((uri): [string, DiagnosticLike[]] => [uri, [diagnostic()]]);
  assert.equal(published.anyChanged(both), true);
  assert.equal(published.anyChanged(both), false);
  assert.equal(
    published.anyChanged([], (uri) => uri !== A && uri !== B),
    false,
    "What does not count is not looked at.",
  );
  assert.equal(published.anyChanged([]), true);
  assert.equal(published.anyChanged([[A, []]]), false);
});

test("a look at everything reads no object that it has seen there before, and those of an event are read each time", () => {
  let reads = 0;
  let message = "wrong";
  const seen = Object.defineProperty(diagnostic(), "message", {
    get: () => {
      reads += 1;
      return message;
    },
  });
  assert.equal(published.anyChanged([[A, [seen]]]), true);
  assert.equal(reads, 1);
  assert.equal(published.anyChanged([[A, [seen]]]), false);
  assert.equal(reads, 1);
  assert.equal(published.anyChanged([[A, [seen, diagnostic({ message: "more" })]]]), true, "one came");
  assert.equal(published.anyChanged([[A, [seen]]]), true, "and went");
  message = "changed in its place";
  assert.equal(published.changed(A, [seen]), true);
});

test("a look at everything leaves to the events what could not be read", () => {
  const unreadable: [string, DiagnosticLike[]][] = [[A, [diagnostic({ code: 1n })]]];
  assert.equal(published.anyChanged(unreadable), true);
  assert.equal(published.anyChanged(unreadable), false);
});

test("beyond the files that are remembered everything counts as a change, and nothing real is missed", () => {
  for (let file = 0; file < MAX_FILES; file++) {
    published.changed(`file:///w/${file}.ts`, [diagnostic()]);
  }
  assert.equal(published.changed(B, []), false, "nothing has been forgotten yet");
  assert.equal(published.changed(A, [diagnostic()]), true);
  assert.equal(published.changed(A, [diagnostic()]), true, "it was not remembered");
  assert.equal(published.changed(A, []), true, "so that this is not missed");
  assert.equal(published.changed("file:///w/0.ts", [diagnostic()]), false, "the others are");
  assert.equal(published.anyChanged([[A, [diagnostic()]]]), false, "only events tell of what is not remembered");
});
