import assert from "node:assert/strict";
import { test } from "node:test";
import { noProvider, noted, notFound, packLocations, packOpen, packTargets } from "../../extension/rows.ts";

const ABSENT = 0xffff_ffff;
const LARGEST = 0x7fff_ffff;

/** A position with getters on its prototype, and a URI that knows its own text, as in VS Code. */
class Position {
  readonly #line: number;
  readonly #character: number;
  constructor(line: number, character: number) {
    this.#line = line;
    this.#character = character;
  }
  get line() {
    return this.#line;
  }
  get character() {
    return this.#character;
  }
}

class Uri {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString() {
    return this.#text;
  }
}

function range(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
  return { start: new Position(startLine, startCharacter), end: new Position(endLine, endCharacter) };
}

test("locations share the strings that they have in common", () => {
  const a = new Uri("file:///a");
  const answer = packLocations([
    { uri: a, range: range(1, 2, 3, 4) },
    { uri: "file:///ü", range: range(5, 6, 7, 8) },
    { uri: new Uri("file:///a"), range: range(9, 10, 11, 12) },
  ]);

  assert.equal(answer.outcome, 0);
  assert.equal(answer.text, "file:///afile:///ü");
  assert.deepEqual([...answer.cells], [2, 9, 9, 0, 1, 2, 3, 4, 1, 5, 6, 7, 8, 0, 9, 10, 11, 12]);
});

test("the length of a string counts UTF-16 units", () => {
  assert.deepEqual([...packLocations([{ uri: "😀", range: range(0, 0, 0, 0) }]).cells].slice(0, 2), [1, 2]);
});

test("a target is a location or a link, and a link's selection may be absent", () => {
  const answer = packTargets([
    { uri: "u", range: range(1, 2, 3, 4) },
    { targetUri: "u", targetRange: range(1, 1, 2, 2), targetSelectionRange: range(5, 6, 7, 8) },
    { targetUri: "v", targetRange: range(3, 3, 4, 4), originSelectionRange: range(0, 0, 0, 0) },
  ]);

  assert.equal(answer.text, "uv");
  assert.deepEqual(
    [...answer.cells],
    [
      [2, 1, 1],
      [0, 1, 2, 3, 4, ABSENT, ABSENT, ABSENT, ABSENT],
      [0, 1, 1, 2, 2, 5, 6, 7, 8],
      [1, 3, 3, 4, 4, ABSENT, ABSENT, ABSENT, ABSENT],
    ].flat(),
  );
});

test("an open document is its number of lines and the length of one of them", () => {
  assert.deepEqual([...packOpen(7, 3).cells], [0, 7, 3]);
  assert.deepEqual([...packOpen(7, undefined).cells], [0, 7, ABSENT]);
});

test("an empty list has no strings and no rows", () => {
  for (const answer of [packLocations([]), packTargets([])]) {
    assert.deepEqual(answer, { outcome: 0, text: "", cells: new Uint32Array(1) });
  }
});

test("the answers without rows differ by their outcome", () => {
  assert.deepEqual(
    [noted(), noProvider(), notFound()].map(({ outcome }) => outcome),
    [0, 1, 2],
  );
});

test("a number too large for the contract is cut to its largest", () => {
  const [uri, location] = ["u", range(0, LARGEST, LARGEST + 1, Number.MAX_VALUE)];

  assert.deepEqual([...packLocations([{ uri, range: location }]).cells].slice(3), [0, LARGEST, LARGEST, LARGEST]);
  assert.deepEqual([...packOpen(Number.POSITIVE_INFINITY, 0).cells], [0, LARGEST, 0]);
});

test("what is no whole number from 0 is refused, naming the item and the field", () => {
  for (const line of [-1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, "1", null, undefined, 1n]) {
    const odd = { start: { line, character: 0 }, end: { line: 0, character: 0 } };
    const refused = (field: string) => ({
      name: "TypeError",
      message: new RegExp(`^item 1: ${field} has a number that`),
    });

    const fine = { uri: "u", range: range(0, 0, 0, 0) };
    assert.throws(() => packLocations([fine, { uri: "u", range: odd }]), refused("range"));
    const link = { targetUri: "u", targetRange: odd };
    assert.throws(() => packTargets([fine, link]), refused("targetRange"));
    const selected = { targetUri: "u", targetRange: fine.range, targetSelectionRange: odd };
    assert.throws(() => packTargets([fine, selected]), refused("targetSelectionRange"));
  }
});

test("what is no location is refused, naming the item and the field", () => {
  const whole = range(0, 0, 0, 0);
  const cases: [unknown, RegExp][] = [
    [undefined, /^item 0: item is not an object$/],
    ["u", /^item 0: item is not an object$/],
    [{ range: whole }, /^item 0: uri is not an object$/],
    [{ uri: 5, range: whole }, /^item 0: uri is not an object$/],
    [{ uri: {}, range: whole }, /^item 0: uri is not a URI$/],
    [{ uri: Object.create(null), range: whole }, /^item 0: uri is not a URI$/],
    [{ uri: { toString: () => 5 }, range: whole }, /^item 0: uri is not a URI$/],
    [{ uri: "u" }, /^item 0: range is not an object$/],
    [{ uri: "u", range: { start: whole.start } }, /^item 0: range is not an object$/],
  ];

  for (const [item, message] of cases) {
    assert.throws(() => packLocations([item]), { name: "TypeError", message });
    assert.throws(() => packTargets([item]), { name: "TypeError", message });
  }
  for (const list of [undefined, null, {}, "items", { length: 1, 0: { uri: "u", range: whole } }]) {
    assert.throws(() => packLocations(list), { name: "TypeError", message: "the provider's answer is not a list" });
    assert.throws(() => packTargets(list), { name: "TypeError", message: "the provider's answer is not a list" });
  }
});
