import assert from "node:assert/strict";
import { test } from "node:test";
import {
  noProvider,
  noted,
  notFound,
  packDiagnostics,
  packDocumentSymbols,
  packHovers,
  packLocations,
  packMainDocuments,
  packOpen,
  packReady,
  packTargets,
  packWorkspaceSymbols,
} from "../../extension/boundary/rows.ts";

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

/** VS Code's text in Markdown, with a getter for its value. */
class MarkdownString {
  readonly #value: string;
  readonly isTrusted = false;
  constructor(value: string) {
    this.#value = value;
  }
  get value() {
    return this.#value;
  }
}

const NONE = [ABSENT, ABSENT, ABSENT, ABSENT];

function range(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
  return { start: new Position(startLine, startCharacter), end: new Position(endLine, endCharacter) };
}

const OPEN = {
  lineCount: 7,
  lineLength: undefined,
  language: "python",
  hasReadinessProbe: false,
  ready: false,
  inTab: false,
};

const PACKERS = {
  locations: packLocations,
  targets: packTargets,
  hovers: packHovers,
  documentSymbols: packDocumentSymbols,
  workspaceSymbols: packWorkspaceSymbols,
  diagnostics: packDiagnostics,
};

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

test("halves of characters at the ends of two strings do not become one character", () => {
  const [high = "", low = ""] = "😀".split("");
  const answer = packHovers([{ contents: [`a${high}`, `${low}b`, "😀"] }]);

  assert.equal(answer.text, "a\uFFFD\uFFFDb😀");
  assert.deepEqual([...answer.cells].slice(0, 4), [3, 2, 2, 2]);
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

test("an open document is its number of lines, the length of one of them, its language, and three facts about it", () => {
  const { outcome, text, cells } = packOpen({ ...OPEN, lineLength: 3, hasReadinessProbe: true });

  assert.deepEqual([outcome, text], [0, "python"]);
  assert.deepEqual([...cells], [1, 6, 7, 3, 0, 1, 0, 0]);
  assert.deepEqual([...packOpen({ ...OPEN, ready: true }).cells], [1, 6, 7, ABSENT, 0, 0, 1, 0]);
  assert.deepEqual([...packOpen({ ...OPEN, inTab: true }).cells], [1, 6, 7, ABSENT, 0, 0, 0, 1]);
});

test("a language that was seen to be ready is told from one that is only believed to be, or soon will be", () => {
  assert.deepEqual([...packReady("shown").cells], [0, 1]);
  assert.deepEqual([...packReady("assumed").cells], [0, 0]);
  assert.deepEqual([...packReady("resting").cells], [0, 2]);
});

test("the main documents are rows of a URI, a language and whether it hasReadinessProbe when it is ready", () => {
  const { outcome, text, cells } = packMainDocuments([
    { uri: "file:///a", language: "typescript", hasReadinessProbe: true },
    { uri: "file:///ü", language: "c", hasReadinessProbe: false },
  ]);

  assert.deepEqual([outcome, text], [0, "file:///atypescriptfile:///üc"]);
  assert.deepEqual([...cells], [4, 9, 10, 9, 1, 0, 1, 1, 2, 3, 0]);
  assert.deepEqual([...packMainDocuments([]).cells], [0]);
});

test("an empty list has no strings and no rows", () => {
  for (const pack of Object.values(PACKERS)) {
    assert.deepEqual(pack([]), { outcome: 0, text: "", cells: new Uint32Array(1) });
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
  assert.deepEqual([...packOpen({ ...OPEN, lineCount: Number.POSITIVE_INFINITY }).cells].slice(2, 4), [
    LARGEST,
    ABSENT,
  ]);
});

/** What is no range: without places, with half of them, and with lines that are no whole number from 0. */
const ODD_RANGES = [
  ...[undefined, null, 5, "1:2", {}, { start: null, end: null }, { start: { line: 0, character: 0 } }],
  ...[-1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, "1", null, undefined, 1n].map((line) => ({
    start: { line: 0, character: 0 },
    end: { line, character: 0 },
  })),
];

test("a location whose range is none has a row without one", () => {
  const fine = { uri: "u", range: range(1, 2, 3, 4) };
  const row = [0, 1, 2, 3, 4];
  for (const odd of ODD_RANGES) {
    assert.deepEqual([...packLocations([{ uri: "u", range: odd }, fine]).cells], [1, 1, 0, ...NONE, ...row]);
    const targets = packTargets([{ uri: "u", range: odd }, { targetUri: "u", targetRange: odd }, fine]);
    assert.deepEqual([...targets.cells].slice(2), [[0, ...NONE, ...NONE], [0, ...NONE, ...NONE], row, NONE].flat());
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
  ];

  for (const [item, message] of cases) {
    assert.throws(() => packLocations([item]), { name: "TypeError", message });
    assert.throws(() => packTargets([item]), { name: "TypeError", message });
  }
});

test("what is no list is refused, and so is a list with a hole", () => {
  for (const pack of Object.values(PACKERS)) {
    for (const junk of [undefined, null, {}, "items", 5, { length: 1, 0: {} }, new Set([{}])]) {
      assert.throws(() => pack(junk), { name: "TypeError", message: "the provider's answer is not a list" });
    }
    assert.throws(() => pack(new Array(1)), { name: "TypeError", message: /^item 0: item is not / });
  }
});

test("a hover is a row for each fragment of its contents, with the hover's range", () => {
  const answer = packHovers([
    {
      contents: [new MarkdownString("**a**"), "b", { language: "ts", value: "c" }, { value: "b" }],
      range: range(1, 2, 3, 4),
    },
    { contents: [{ language: "", value: "" }], range: undefined },
    { contents: ["c"], range: null },
    { contents: [], range: range(9, 9, 9, 9) },
  ]);

  assert.equal(answer.outcome, 0);
  assert.equal(answer.text, "**a**btsc");
  assert.deepEqual(
    [...answer.cells],
    [
      [5, 5, 1, 2, 1, 0],
      [1, 2, 3, 4, ABSENT, 0],
      [1, 2, 3, 4, ABSENT, 1],
      [1, 2, 3, 4, 2, 3],
      [1, 2, 3, 4, ABSENT, 1],
      [...NONE, 4, 4],
      [...NONE, ABSENT, 3],
    ].flat(),
  );
});

test("the contents of a hover may be one fragment without a list around it", () => {
  for (const contents of [new MarkdownString("a"), "a", { value: "a" }, { language: undefined, value: "a" }]) {
    assert.deepEqual([...packHovers([{ contents }]).cells], [1, 1, ...NONE, ABSENT, 0]);
  }
  assert.deepEqual([...packHovers([{ contents: { language: "a", value: "a" } }]).cells], [1, 1, ...NONE, 0, 0]);
});

test("what is no hover is refused, naming the hover and the field", () => {
  const fine = { contents: ["a", "b"] };
  const cases: [unknown, string][] = [
    [undefined, "item 1: item is not an object"],
    ["a", "item 1: item is not an object"],
    [{ contents: ["a"], range: 5 }, "item 1: range is not a range"],
    [{ contents: ["a"], range: { start: new Position(0, 0) } }, "item 1: range is not a range"],
    [{ contents: ["a"], range: range(0, -1, 0, 0) }, "item 1: range is not a range"],
  ];

  for (const [hover, message] of cases) {
    assert.throws(() => packHovers([fine, hover]), { name: "TypeError", message });
  }
});

test("what is no text in a hover is an empty one, and keeps nothing of the others from anybody", () => {
  for (const odd of [undefined, null, 5, {}, { language: "" }, { value: new MarkdownString("a") }]) {
    const { text, cells } = packHovers([{ contents: odd }, { contents: ["fine"] }]);
    assert.equal(text, "fine");
    assert.deepEqual([...cells].slice(-12), [
      ...NONE,
      (odd as { language?: string })?.language === "" ? 0 : ABSENT,
      0,
      ...NONE,
      ABSENT,
      1,
    ]);
  }
  assert.deepEqual([...packHovers([{ contents: { language: 5, value: "a" } }]).cells], [1, 1, ...NONE, ABSENT, 0]);
});

test("document symbols are rows in the order of an outline, each naming the row of the symbol around it", () => {
  const symbol = (name: string, line: number, children?: unknown[]) => ({
    name,
    kind: line,
    range: range(line, 0, line, 9),
    selectionRange: range(line, 4, line, 5),
    ...(children === undefined ? {} : { children }),
  });
  const answer = packDocumentSymbols([
    symbol("a", 1, [symbol("b", 2, [symbol("c", 3)]), symbol("a", 4, [])]),
    symbol("b", 5),
  ]);

  assert.equal(answer.text, "abc");
  const row = (name: number, line: number, parent: number) => [
    [name, line, line, 0, line, 9, line, 4, line, 5],
    [ABSENT, parent],
  ];
  assert.deepEqual(
    [...answer.cells],
    [[3, 1, 1, 1], row(0, 1, ABSENT), row(1, 2, 0), row(2, 3, 1), row(0, 4, 0), row(1, 5, ABSENT)].flat(2),
  );
});

test("an object that is a SymbolInformation and a DocumentSymbol at once is taken with its children", () => {
  class SymbolInformation {
    readonly name: string;
    readonly kind = 4;
    /** VS Code gives an empty text where there is no container. */
    readonly containerName = "";
    readonly location = { uri: new Uri("file:///other"), range: range(7, 7, 7, 7) };
    readonly range = range(1, 2, 3, 4);
    readonly selectionRange = range(2, 0, 2, 6);
    readonly children: readonly SymbolInformation[];
    constructor(name: string, children: readonly SymbolInformation[]) {
      this.name = name;
      this.children = children;
    }
  }
  const answer = packDocumentSymbols([
    new SymbolInformation("Class", [new SymbolInformation("method", [])]),
    new SymbolInformation("empty", []),
  ]);

  assert.equal(answer.text, "Classmethodempty", "neither the container's empty name nor the URI crosses");
  assert.deepEqual(
    [...answer.cells],
    [
      [3, 5, 6, 5],
      [0, 4, 1, 2, 3, 4, 2, 0, 2, 6, ABSENT, ABSENT],
      [1, 4, 1, 2, 3, 4, 2, 0, 2, 6, ABSENT, 0],
      [2, 4, 1, 2, 3, 4, 2, 0, 2, 6, ABSENT, ABSENT],
    ].flat(),
  );
});

test("a plain SymbolInformation has the range of its location, the name of its container, and no selection", () => {
  const location = { uri: new Uri("file:///x"), range: range(1, 2, 3, 4) };
  const answer = packDocumentSymbols([
    { name: "method", kind: 5, location, containerName: "Class" },
    { name: "method", kind: 5, location, containerName: "" },
    { name: "method", kind: 5, location, containerName: null, children: null },
    { name: "method", kind: 5, location },
  ]);

  assert.equal(answer.text, "methodClass");
  const row = (container: number) => [0, 5, 1, 2, 3, 4, ...NONE, container, ABSENT];
  assert.deepEqual([...answer.cells], [[3, 6, 5, 0], row(1), row(2), row(ABSENT), row(ABSENT)].flat());
});

test("a symbol may lack a name and a selection", () => {
  const [first, second] = [range(1, 2, 3, 4), range(5, 6, 7, 8)];
  const answer = packDocumentSymbols([
    { kind: 0, range: first },
    { name: 5, kind: 0, range: first },
    { kind: 0, location: { uri: "u", range: first }, containerName: 5 },
    { name: null, kind: 25, range: second, selectionRange: null, children: [{ name: "", kind: 1, range: first }] },
  ]);

  assert.deepEqual(
    [...answer.cells],
    [
      [1, 0],
      [ABSENT, 0, 1, 2, 3, 4, ...NONE, ABSENT, ABSENT],
      [ABSENT, 0, 1, 2, 3, 4, ...NONE, ABSENT, ABSENT],
      [ABSENT, 0, 1, 2, 3, 4, ...NONE, ABSENT, ABSENT],
      [ABSENT, 25, 5, 6, 7, 8, ...NONE, ABSENT, ABSENT],
      [0, 1, 1, 2, 3, 4, ...NONE, ABSENT, 3],
    ].flat(),
  );
});

test("what is no document symbol is refused, naming the outermost symbol and the field", () => {
  const whole = range(0, 0, 0, 0);
  const fine = { name: "n", kind: 4, range: whole, selectionRange: whole, children: [] };
  const location = { uri: "u", range: whole };
  const cases: [unknown, string][] = [
    ["n", "item is not an object"],
    [{ ...fine, kind: undefined }, "kind has a number that is not a whole number from 0"],
    [{ ...fine, kind: -1 }, "kind has a number that is not a whole number from 0"],
    [{ ...fine, kind: "4" }, "kind has a number that is not a whole number from 0"],
    [{ ...fine, range: undefined }, "range is not a range"],
    [{ ...fine, range: undefined, location }, "range is not a range"],
    [{ ...fine, selectionRange: 5 }, "selectionRange is not a range"],
    [{ ...fine, selectionRange: range(0, 0.5, 0, 0) }, "selectionRange is not a range"],
    [{ ...fine, children: 5 }, "children is not a list"],
    [{ ...fine, children: { 0: fine, length: 1 } }, "children is not a list"],
    [{ name: "n", kind: 4 }, "range is not a range"],
    [{ name: "n", kind: 4, location: 5 }, "location is not an object"],
    [{ name: "n", kind: 4, location: { uri: "u" } }, "location is not a range"],
  ];

  for (const [symbol, what] of cases) {
    const refusal = { name: "TypeError", message: `item 1: ${what}` };
    assert.throws(() => packDocumentSymbols([fine, symbol]), refusal);
    assert.throws(() => packDocumentSymbols([fine, { ...fine, children: [fine, symbol] }]), refusal);
  }
});

test("symbols that contain each other without end are refused", () => {
  const whole = range(0, 0, 0, 0);
  const symbol = { name: "n", kind: 4, range: whole, children: [] as unknown[] };
  symbol.children.push(symbol);

  assert.throws(() => packDocumentSymbols([symbol]), RangeError);
});

test("a workspace symbol may lack a name, a container and a range", () => {
  const uri = new Uri("file:///x");
  const answer = packWorkspaceSymbols([
    { name: "method", kind: 5, containerName: "Class", location: { uri, range: range(1, 2, 3, 4) } },
    { name: "Class", kind: 4, containerName: "", location: { uri, range: range(5, 6, 7, Number.MAX_VALUE) } },
    { name: "method", kind: 0, containerName: null, location: { uri: "file:///y", range: undefined } },
    { kind: 25, location: { uri, range: null } },
    { name: 5, kind: 25, containerName: {}, location: { uri, range: range(0, -1, 0, 0) } },
  ]);

  assert.equal(answer.text, "methodClassfile:///xfile:///y");
  assert.deepEqual(
    [...answer.cells],
    [
      [5, 6, 5, 9, 0, 9],
      [0, 5, 1, 2, 1, 2, 3, 4],
      [1, 4, 3, 2, 5, 6, 7, LARGEST],
      [0, 0, ABSENT, 4, ...NONE],
      [ABSENT, 25, ABSENT, 2, ...NONE],
      [ABSENT, 25, ABSENT, 2, ...NONE],
    ].flat(),
  );
});

test("what is no workspace symbol is refused, naming the item and the field", () => {
  const fine = { name: "n", kind: 4, containerName: "c", location: { uri: "u", range: range(0, 0, 0, 0) } };
  const cases: [unknown, string][] = [
    [5, "item is not an object"],
    [{ ...fine, location: undefined }, "location is not an object"],
    [{ ...fine, location: { range: fine.location.range } }, "location is not an object"],
    [{ ...fine, location: { uri: {} } }, "location is not a URI"],
    [{ ...fine, kind: null }, "kind has a number that is not a whole number from 0"],
  ];

  for (const [symbol, what] of cases) {
    assert.throws(() => packWorkspaceSymbols([fine, symbol]), { name: "TypeError", message: `item 1: ${what}` });
  }
});

test("diagnostics name their URI, and a URI without any is a row of its own", () => {
  const answer = packDiagnostics([
    [
      new Uri("file:///x"),
      [
        { message: "m", range: range(1, 2, 3, 4), severity: 0, code: "c", source: "s", tags: [1] },
        { message: "m", range: range(5, 6, 7, 8), severity: 3 },
      ],
    ],
    ["file:///empty", []],
    [new Uri("file:///x"), [{ message: "", range: range(0, 0, 0, 0), severity: null, code: null, source: "" }]],
  ]);

  assert.equal(answer.text, "file:///xcsmfile:///empty");
  assert.deepEqual(
    [...answer.cells],
    [
      [6, 9, 1, 1, 1, 13, 0],
      [0, 1, 2, 3, 4, 0, 1, 2, 3],
      [0, 5, 6, 7, 8, 3, ABSENT, ABSENT, 3],
      [4, ...NONE, ABSENT, ABSENT, ABSENT, ABSENT],
      [0, 0, 0, 0, 0, ABSENT, ABSENT, 5, 5],
    ].flat(),
  );
});

test("the code of a diagnostic is a number, a text, or an object with one of them, and numbers become decimal", () => {
  const cases: [unknown, string | undefined][] = [
    [2322, "2322"],
    [0, "0"],
    [-1, "-1"],
    [1.5, "1.5"],
    [1e21, "1000000000000000000000"],
    ["", ""],
    ["E0308", "E0308"],
    [{ value: 6133, target: new Uri("https://example.com") }, "6133"],
    [{ value: "no-unused", target: new Uri("https://example.com") }, "no-unused"],
    [{ value: undefined, target: new Uri("https://example.com") }, undefined],
    [undefined, undefined],
    [null, undefined],
  ];

  for (const [code, text] of cases) {
    const { text: crossed, cells } = packDiagnostics([["u", [{ message: "m", range: range(0, 0, 0, 0), code }]]]);
    assert.equal(crossed, `u${text ?? ""}m`);
    assert.equal(cells.at(-3), text === undefined ? ABSENT : 1);
  }
});

test("a severity that VS Code does not have is none, and the diagnostic stays", () => {
  for (const severity of [4, -1, 0.5, Number.NaN, "1", {}, true, 2 ** 40]) {
    const { cells } = packDiagnostics([["u", [{ message: "m", range: range(1, 2, 3, 4), severity }]]]);
    assert.deepEqual([...cells].slice(-9), [0, 1, 2, 3, 4, ABSENT, ABSENT, ABSENT, 1]);
  }
});

test("a code or a source that is none is absent, and the diagnostic stays", () => {
  for (const odd of [true, Number.NaN, { value: {} }, {}]) {
    const diagnostic = { message: "m", range: range(1, 2, 3, 4), severity: 0, code: odd, source: odd };
    assert.deepEqual([...packDiagnostics([["u", [diagnostic]]]).cells].slice(-9), [
      0,
      1,
      2,
      3,
      4,
      0,
      ABSENT,
      ABSENT,
      1,
    ]);
  }
});

test("a diagnostic without a range or a message is a row without a range, and keeps none of the others back", () => {
  const fine = { message: "m", range: range(1, 2, 3, 4), severity: 1, code: 5, source: "s" };
  const messages = [undefined, null, 5, {}].map((message) => ({ ...fine, message }));
  for (const odd of [undefined, null, 5, "m", ...messages, ...ODD_RANGES.map((range) => ({ ...fine, range }))]) {
    const { text, cells } = packDiagnostics([["u", [odd, fine]]]);
    assert.equal(text, "u5sm");
    const row = [0, ...NONE, ABSENT, ABSENT, ABSENT, 1];
    assert.deepEqual([...cells], [[5, 1, 0, 1, 1, 1], row, [0, 1, 2, 3, 4, 1, 2, 3, 4]].flat());
  }
});

test("what is no list of diagnostics of a file is refused, naming the pair and the field", () => {
  const fine = { message: "m", range: range(0, 0, 0, 0), severity: 1, code: 5, source: "s" };
  const pairs: [unknown, string][] = [
    [fine, "item is not a pair of a URI and a list"],
    [[], "item is not a pair of a URI and a list"],
    [["u"], "item is not a pair of a URI and a list"],
    [["u", { 0: fine, length: 1 }], "item is not a pair of a URI and a list"],
    [[5, [fine]], "uri is not an object"],
    [[{}, []], "uri is not a URI"],
  ];

  for (const [pair, what] of pairs) {
    const refusal = { name: "TypeError", message: `item 1: ${what}` };
    assert.throws(() => packDiagnostics([["u", [fine]], pair]), refusal);
  }
});
