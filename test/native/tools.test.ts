import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { AddonProcess } from "./addon-process.ts";
import type { Outcome } from "./client.ts";
import { JUNK_BY_TOOL } from "./junk.ts";

type Place = AddonProcess["place"];

/** The tools that are asked about a document, with their arguments. */
const ABOUT_A_DOCUMENT: Readonly<Record<string, (place: Place) => object>> = {
  "vscode.lsp.definition": (place) => place,
  "vscode.lsp.references": (place) => ({ ...place, includeDeclaration: true }),
  "vscode.lsp.hover": (place) => place,
  "vscode.lsp.documentSymbols": ({ uri }) => ({ uri }),
};

const TOOLS: typeof ABOUT_A_DOCUMENT = {
  ...ABOUT_A_DOCUMENT,
  "vscode.lsp.workspaceSymbols": () => ({ query: "shape" }),
  "vscode.lsp.diagnostics.document": ({ uri }) => ({ uri }),
  "vscode.lsp.diagnostics.workspace": () => ({}),
};

/** The paged tools beside references, with what makes their cursors stale. */
const PAGED = {
  "vscode.lsp.workspaceSymbols": { depends: ["text", "fs", "roots"], not: "diagnostics" },
  "vscode.lsp.diagnostics.workspace": { depends: ["diagnostics", "fs", "roots"], not: "text" },
} as const;

function range(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
  return {
    start: { line: startLine, character: startCharacter },
    end: { line: endLine, character: endCharacter },
  };
}

function codeOf(outcome: Outcome): string | undefined {
  return outcome.error?.data.code.replace("MCP_LSP_GATEWAY/", "");
}

/** The payload without its identifiers, which golden cases hold, once it is known that they look like some. */
function withoutIds(payload: object): object {
  return JSON.parse(JSON.stringify(payload), (key, value) => {
    if (key !== "id") {
      return value;
    }
    assert.match(value, /^sha256:[0-9a-f]{64}$/);
    return undefined;
  });
}

/** Another file of the project, after `main.ts` in the order of URIs. */
async function otherFile(addon: AddonProcess): Promise<string> {
  const [root = ""] = addon.options.roots;
  await writeFile(join(root, "other.ts"), "");
  return pathToFileURL(join(root, "other.ts")).href;
}

test("the fragments of all hovers are one answer, with code fenced", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", {
    items: [
      { contents: ["b", { language: "ts", value: "größe: 😀" }, { value: "\ud83d" }], range: range(1, 2, 3, 4) },
      { contents: ["b", " \n"], range: range(0, 1, 0, 2) },
      { contents: { value: "a" } },
    ],
  });

  const { payload } = await client.call("vscode.lsp.hover", addon.place);

  assert.deepEqual(payload, {
    contents: ["```ts\ngröße: 😀\n```", "a", "b", "\ufffd"].map((value) => ({ kind: "markdown", value })),
    range: range(0, 1, 0, 2),
    summary: "Hover available.",
  });
});

test("an outline is answered flat, with what VS Code gives twice taken once", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;
  const merged = (name: string, line: number, children: object[]) => ({
    name,
    kind: 4,
    containerName: "",
    location: { uri, range: range(line, 0, 9, 0) },
    range: range(line, 0, 9, 0),
    selectionRange: range(line, 6, line, 9),
    children,
  });
  const information = { name: "info", kind: 25, containerName: "far", location: { uri, range: range(4, 0, 4, 5) } };
  await addon.command("behave", {
    items: [information, merged("Äußere 😀", 1, [merged("inner", 2, [merged("innermost", 3, [])])]), information],
  });

  const { payload } = await client.call("vscode.lsp.documentSymbols", { uri });

  const symbol = (name: string, line: number) => ({
    name,
    kind: 5,
    range: range(line, 0, 9, 0),
    selectionRange: range(line, 6, line, 9),
  });
  assert.deepEqual(withoutIds(payload), {
    symbols: [
      symbol("Äußere 😀", 1),
      { ...symbol("inner", 2), containerName: "Äußere 😀" },
      { ...symbol("innermost", 3), containerName: "inner" },
      {
        name: "info",
        kind: 26,
        range: range(4, 0, 4, 5),
        selectionRange: range(4, 0, 4, 5),
        containerName: "far",
      },
    ],
    summary: "Returned 4 document symbols.",
  });
});

test("an outline of twenty thousand symbols crosses whole, and one more is too many", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const symbol = (line: number) => ({ name: `s${line}`, kind: 11, range: range(line, 0, line, 1) });
  const symbols = Array.from({ length: 19_999 }, (_, index) => symbol(19_999 - index));
  await addon.command("behave", { items: [{ ...symbol(0), range: range(0, 0, 30_000, 0), children: symbols }] });

  const { payload } = await client.call("vscode.lsp.documentSymbols", { uri: addon.place.uri });
  assert.equal(payload.summary, "Returned 200 of 20000 document symbols.");
  assert.equal(payload.symbols.length, 200);
  assert.equal(payload.symbols[199].name, "s199");
  assert.equal(payload.symbols[199].containerName, "s0");

  await addon.command("behave", { items: [...symbols, symbol(20_000), symbol(20_001)] });
  const { error } = await client.call("vscode.lsp.documentSymbols", { uri: addon.place.uri });
  assert.deepEqual(error?.data.details, { items: 20_001, maxItems: 20_000 });
});

test("symbols of the workspace are answered in order, and what is left out is counted", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;
  const other = await otherFile(addon);
  const symbol = (where: string, name: string | undefined, at: object | undefined) => ({
    name,
    kind: 0,
    containerName: "",
    location: { uri: where, range: at },
  });
  await addon.command("behave", {
    items: [
      { ...symbol(other, "größe", range(0, 0, 0, 5)), containerName: "😀" },
      symbol(uri, "size", range(2, 0, 2, 4)),
      symbol(uri, "lazy", undefined),
      symbol(uri, undefined, range(0, 0, 0, 1)),
      symbol("file:///etc/hostname", "outside", range(0, 0, 0, 1)),
    ],
  });

  const { payload } = await client.call("vscode.lsp.workspaceSymbols", { query: "s" });

  assert.deepEqual(withoutIds(payload.items), [
    { name: "size", kind: 1, location: { uri, range: range(2, 0, 2, 4) } },
    { name: "größe", kind: 1, location: { uri: other, range: range(0, 0, 0, 5) }, containerName: "😀" },
  ]);
  assert.match(payload.summary, /^Returned 2 workspace symbols; 1 outside the allowed roots.* left out\.$/);
});

test("twenty thousand symbols of the workspace cross whole, and one more is too many", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;
  const symbols = Array.from({ length: 20_000 }, (_, index) => ({
    name: `symbol ${index}`,
    kind: 11,
    containerName: "container",
    location: { uri, range: range(19_999 - index, 0, 19_999 - index, 5) },
  }));
  await addon.command("behave", { items: symbols });

  const { payload } = await client.call("vscode.lsp.workspaceSymbols", { query: "symbol", pageSize: 2 });
  assert.deepEqual(
    payload.items.map(({ name }: { name: string }) => name),
    ["symbol 19999", "symbol 19998"],
  );

  const more = { name: "more", kind: 0, location: { uri, range: range(0, 0, 0, 0) } };
  await addon.command("behave", { items: [...symbols, more] });
  const { error } = await client.call("vscode.lsp.workspaceSymbols", { query: "symbol" });
  assert.deepEqual(error?.data.details, { items: 20_001, maxItems: 20_000 });
});

test("both diagnostics tools tell what is published, by file and with codes as texts", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;
  const other = await otherFile(addon);
  const place = range(1, 2, 3, 4);
  await addon.command("behave", {
    items: [
      [other, [{ message: "Größe 😀", range: place }]],
      ["file:///etc/hostname", [{ message: "outside", range: place }]],
      [
        uri,
        [
          { message: "b", range: place, severity: 3, code: { value: 6133, target: "https://example.com" }, source: "" },
          { message: "a", range: place, severity: 0, code: 2322, source: "ts" },
          { message: "a", range: place, severity: 0, code: "2322", source: "ts" },
        ],
      ],
    ],
  });

  const diagnostics = [
    { range: place, severity: 1, code: "2322", source: "ts", message: "a" },
    { range: place, severity: 4, code: "6133", message: "b" },
  ];
  const document = await client.call("vscode.lsp.diagnostics.document", { uri });
  assert.deepEqual(withoutIds(document.payload), { uri, diagnostics, summary: "Returned 2 diagnostics." });
  const workspace = await client.call("vscode.lsp.diagnostics.workspace", {});
  assert.deepEqual(withoutIds(workspace.payload), {
    items: [
      { uri, diagnostics },
      { uri: other, diagnostics: [{ range: place, message: "Größe 😀" }] },
    ],
    nextCursor: null,
    summary:
      "Returned diagnostics for 2 files; 1 outside the allowed roots was left out; files that no language server has analysed are not among them.",
  });
});

test("a file published without diagnostics is clean, and one that nobody published for is not known to be", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;

  await addon.command("behave", { items: [[uri, []]] });
  const clean = await client.call("vscode.lsp.diagnostics.document", { uri });
  assert.deepEqual(clean.payload, { uri, diagnostics: [], summary: "Returned no diagnostics." });
  const workspace = await client.call("vscode.lsp.diagnostics.workspace", {});
  assert.deepEqual(workspace.payload.items, []);

  await addon.command("behave", { items: [] });
  const unknown = await client.call("vscode.lsp.diagnostics.document", { uri });
  assert.equal(codeOf(unknown), "PROVIDER_UNAVAILABLE");
  assert.deepEqual(unknown.error?.data.details, { reason: "not_analysed" });
});

test("no provider is an answer of its own, from every tool", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { says: "no provider" });

  for (const [tool, arguments_] of Object.entries(TOOLS)) {
    assert.equal(codeOf(await client.call(tool, arguments_(addon.place))), "PROVIDER_UNAVAILABLE", tool);
  }
});

test("no document is an answer of its own, from every tool that is asked about one", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { says: "not found" });

  for (const [tool, arguments_] of Object.entries(ABOUT_A_DOCUMENT)) {
    assert.equal(codeOf(await client.call(tool, arguments_(addon.place))), "NOT_FOUND", tool);
  }
});

test("rows that make no sense for their question are a clean error, and the next call is answered", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const call = (tool: string) => client.call(tool, TOOLS[tool]?.(addon.place) ?? {});

  for (const [tool, junk] of Object.entries(JUNK_BY_TOOL)) {
    for (const name of Object.keys(junk)) {
      await t.test(`${tool}: ${name}`, async () => {
        await addon.command("behave", { junk: name });
        const outcome = await call(tool);
        assert.equal(codeOf(outcome), "INTERNAL");
        assert.match(outcome.error?.message ?? "", /^A language extension in the editor failed to answer; /);

        await addon.command("behave", { items: tool.includes("diagnostics") ? [[addon.place.uri, []]] : [] });
        assert.equal(codeOf(await call(tool)), undefined);
      });
    }
  }

  assert.deepEqual((await addon.report()).uncaught, []);
});

test("one item that makes no sense costs no other its place in an answer, and is counted", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;
  const at = range(1, 0, 1, 5);
  const location = { uri, range: at };
  const diagnostics = [[uri, [{ range: at }, null, { message: "none" }, { message: "m", range: at }]]];
  const none = "; files that no language server has analysed are not among them";
  const cases: [string, readonly object[], string][] = [
    ["vscode.lsp.definition", [{ uri }, location], "Found 1 definition; 1 without a range was left out."],
    [
      "vscode.lsp.references",
      [{ uri, range: {} }, { uri }, location],
      "Returned 1 reference; 2 without a range were left out.",
    ],
    ["vscode.lsp.hover", [{ contents: [{ value: 5 }] }, { contents: ["fine"] }], "Hover available."],
    [
      "vscode.lsp.documentSymbols",
      [
        { name: 5, kind: 4, range: at },
        { name: "n", kind: 4, range: at },
      ],
      "Returned 1 document symbol; 1 without a name was left out.",
    ],
    [
      "vscode.lsp.workspaceSymbols",
      [
        { name: 5, kind: 4, location },
        { name: "n", kind: 4, containerName: 5, location },
      ],
      "Returned 1 workspace symbol; 1 without a name was left out.",
    ],
    [
      "vscode.lsp.diagnostics.document",
      diagnostics,
      "Returned 1 diagnostic; 3 diagnostics without a range or a message were left out.",
    ],
    [
      "vscode.lsp.diagnostics.workspace",
      diagnostics,
      `Returned diagnostics for 1 file; 3 diagnostics without a range or a message were left out${none}.`,
    ],
  ];

  for (const [tool, items, summary] of cases) {
    await addon.command("behave", { items });
    const { payload } = await client.call(tool, TOOLS[tool]?.(addon.place) ?? {});
    assert.equal(payload?.summary, summary, tool);
  }
});

test("a cursor of each paged tool is stale after the changes that its result depends on, and after no others", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;
  const other = await otherFile(addon);
  const at = range(0, 0, 0, 1);
  const items = {
    "vscode.lsp.workspaceSymbols": [uri, other].map((where) => ({
      name: "n",
      kind: 0,
      location: { uri: where, range: at },
    })),
    "vscode.lsp.diagnostics.workspace": [uri, other].map((where) => [where, [{ message: "m", range: at }]]),
  };

  for (const [tool, { depends, not }] of Object.entries(PAGED)) {
    await addon.command("behave", { items: items[tool as keyof typeof PAGED] });
    const page = (cursor: string | null) => client.call(tool, { ...TOOLS[tool]?.(addon.place), pageSize: 1, cursor });
    for (const kind of depends) {
      const cursor = (await page(null)).payload?.nextCursor;
      await addon.command("bump", { kind });
      const stale = await page(cursor);
      assert.equal(codeOf(stale), "CURSOR_STALE", tool);
      assert.deepEqual(stale.error?.data.details, { changed: [kind] }, tool);
    }
    const cursor = (await page(null)).payload?.nextCursor;
    await addon.command("bump", { kind: not });
    const last = await page(cursor);
    assert.equal(last.payload?.items.length, 1, tool);
    assert.equal(last.payload.nextCursor, null, tool);
  }
});
