import assert from "node:assert/strict";
import { test } from "node:test";
import { compileStrictly, readDescriptions, readSchema, schemaFiles, TOOLS } from "./schemas.ts";

const POSITION = { line: 10, character: 4 };
const FILE = "file:///home/me/project/src/main.ts";

/** Every schema inside `schema`, itself included. */
function* schemasIn(schema: object): Generator<Record<string, unknown>> {
  yield schema as Record<string, unknown>;
  const { properties = {}, items } = schema as { properties?: Record<string, object>; items?: object };
  for (const inner of Object.values(properties)) yield* schemasIn(inner);
  if (items !== undefined) yield* schemasIn(items);
}

test("each tool has an input and an output schema, and there is no other file", () => {
  assert.deepEqual(
    schemaFiles().toSorted(),
    Object.keys(readDescriptions())
      .flatMap((tool) => [`${tool}.json`, `${tool}.output.json`])
      .toSorted(),
  );
});

/** Whether this belongs to a tool that models are given in few tokens: what its members mean stands in docs/TOOLS.md. */
function isTerse(name: string): boolean {
  const isOther = [...TOOLS, "vscode.lsp.documentHighlights"].some((tool) => name.startsWith(tool));
  return !isOther && !name.endsWith(".output.json");
}

test("the descriptions begin with those of the seven tools, in the order of the catalog", () => {
  const descriptions = readDescriptions();
  assert.deepEqual(Object.keys(descriptions).slice(0, TOOLS.length), [...TOOLS]);
  for (const [tool, text] of Object.entries(descriptions)) {
    assert.ok(text.length <= 400, `${tool} is described in ${text.length} characters`);
    assert.ok(isTerse(tool) || /\bUse it\b/.test(text), `${tool} does not say when to use it`);
  }
});

test("both descriptions of diagnostics say that the two tools can differ on a file", () => {
  const descriptions = readDescriptions();
  assert.match(descriptions["vscode.lsp.diagnostics.document"] ?? "", /vscode\.lsp\.diagnostics\.workspace/);
  assert.match(descriptions["vscode.lsp.diagnostics.workspace"] ?? "", /vscode\.lsp\.diagnostics\.document/);
});

for (const file of schemaFiles()) {
  const schema = readSchema(file);

  test(`${file} is plain JSON Schema 2020-12 that a strict validator takes`, () => {
    assert.equal(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert.equal(schema["type"], "object");
    assert.equal(typeof schema["title"], "string");
    compileStrictly(schema);
    for (const name of ["$ref", "$defs", "$id", "format"]) {
      assert.ok(!JSON.stringify(schema).includes(`"${name}":`), `${file} uses ${name}`);
    }
  });

  test(`${file} describes every property and closes every object`, () => {
    for (const inner of schemasIn(schema)) {
      if (inner["type"] === "object") assert.equal(inner["additionalProperties"], false);
      for (const [name, property] of Object.entries((inner["properties"] ?? {}) as Record<string, object>)) {
        const { description = "" } = property as { description?: string };
        assert.ok(isTerse(file) || /\S{2,}.*[.]$/.test(description), `${file}: ${name}`);
      }
    }
  });
}

type Case = { tool: string; accepted: object[]; refused: object[] };
const AT = { uri: FILE, position: POSITION };
const inputs: Case[] = [
  {
    tool: "vscode.lsp.definition",
    accepted: [
      AT,
      { uri: "https://elsewhere", position: { line: 0, character: 0 } },
      { uri: FILE, position: { line: 2147483647, character: 2147483647 } },
    ],
    refused: [
      {},
      { uri: FILE },
      { position: POSITION },
      { ...AT, cursor: null },
      { uri: 1, position: POSITION },
      { uri: `file:///${"a".repeat(16384)}`, position: POSITION },
      { uri: FILE, position: { line: 1 } },
      { uri: FILE, position: { ...POSITION, offset: 1 } },
      { uri: FILE, position: { line: -1, character: 0 } },
      { uri: FILE, position: { line: 0, character: 2147483648 } },
      { uri: FILE, position: { line: 0.5, character: 0 } },
      { uri: FILE, position: { line: "0", character: 0 } },
    ],
  },
  {
    tool: "vscode.lsp.references",
    accepted: [
      AT,
      { ...AT, includeDeclaration: true, pageSize: 1, cursor: null },
      { ...AT, pageSize: 1e9, cursor: "x" },
    ],
    refused: [
      { uri: FILE },
      { ...AT, pageSize: 0 },
      { ...AT, pageSize: 1.5 },
      { ...AT, pageSize: null },
      { ...AT, includeDeclaration: "yes" },
      { ...AT, cursor: 1 },
      { ...AT, query: "x" },
    ],
  },
  { tool: "vscode.lsp.hover", accepted: [AT], refused: [{}, { uri: FILE }, { ...AT, pageSize: 1 }] },
  { tool: "vscode.lsp.documentSymbols", accepted: [{ uri: FILE }], refused: [{}, AT] },
  {
    tool: "vscode.lsp.workspaceSymbols",
    accepted: [{ query: " a " }, { query: "a b", pageSize: 200, cursor: "x" }],
    refused: [{}, { query: "" }, { query: " \t\n" }, { query: 1 }, { query: "a", uri: FILE }],
  },
  { tool: "vscode.lsp.diagnostics.document", accepted: [{ uri: FILE }], refused: [{}, AT] },
  {
    tool: "vscode.lsp.diagnostics.workspace",
    accepted: [{}, { pageSize: 100, cursor: null }],
    refused: [{ uri: FILE }, { pageSize: -1 }],
  },
];

for (const { tool, accepted, refused } of inputs) {
  const fits = compileStrictly(readSchema(`${tool}.json`));

  test(`${tool} accepts what the contract allows and refuses the rest`, () => {
    for (const input of accepted) assert.ok(fits(input), `${JSON.stringify(input)}: ${JSON.stringify(fits.errors)}`);
    for (const input of refused) assert.ok(!fits(input), JSON.stringify(input));
  });
}

const range = { start: { line: 10, character: 4 }, end: { line: 10, character: 12 } };
const id = `sha256:${"0".repeat(64)}`;
const diagnostic = { id, range, severity: 2, code: "TS1234", source: "ts", message: "..." };
// The payloads that the contract itself gives as examples.
const outputs: Record<(typeof TOOLS)[number], object> = {
  "vscode.lsp.definition": { locations: [{ uri: FILE, range }], summary: "Found 1 definition." },
  "vscode.lsp.references": {
    items: [{ uri: FILE, range }],
    nextCursor: "opaque",
    summary: "Returned 50 references (next page available).",
  },
  "vscode.lsp.hover": { contents: [{ kind: "markdown", value: "..." }], range, summary: "Hover available." },
  "vscode.lsp.documentSymbols": {
    symbols: [{ id, name: "MyFunction", kind: 12, range, selectionRange: range, containerName: "MyClass" }],
    summary: "Returned 42 document symbols.",
  },
  "vscode.lsp.workspaceSymbols": {
    items: [{ id, name: "MyFunction", kind: 12, location: { uri: FILE, range }, containerName: "MyClass" }],
    nextCursor: null,
    summary: "Returned 1 workspace symbol.",
  },
  "vscode.lsp.diagnostics.document": { uri: FILE, diagnostics: [diagnostic], summary: "Returned 1 diagnostic." },
  "vscode.lsp.diagnostics.workspace": {
    items: [{ uri: FILE, diagnostics: [diagnostic] }],
    nextCursor: null,
    summary: "Returned diagnostics for 1 file; files that no language server has analysed are not among them.",
  },
};

for (const [tool, payload] of Object.entries(outputs)) {
  test(`the output schema of ${tool} fits the contract's example, and nothing beside it`, () => {
    const fits = compileStrictly(readSchema(`${tool}.output.json`));
    assert.ok(fits(payload), JSON.stringify(fits.errors));
    assert.ok(!fits({ ...payload, extra: 1 }));
    for (const name of Object.keys(payload).filter((name) => name !== "summary" && name !== "range")) {
      const { [name]: _, ...rest } = payload as Record<string, unknown>;
      assert.ok(!fits(rest), `${name} can be left out`);
    }
  });
}
