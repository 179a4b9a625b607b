import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TOOLS } from "../clients/schemas.ts";

const ROOT = new URL("../../", import.meta.url);

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

function readAll(pattern: string): string {
  return globSync(pattern, { cwd: fileURLToPath(ROOT) })
    .map(read)
    .join("\n");
}

const { properties } = JSON.parse(read("package.json")).contributes.configuration as {
  properties: Record<string, { default: unknown }>;
};
const { commands } = JSON.parse(read("package.json")).contributes as { commands: { title: string }[] };

/** The documents whose rules have ids, with what starts each of their tables of rules. */
const DOCUMENTS_WITH_RULES = {
  "docs/CONTRACT.md": "| Rule ",
  "docs/SECURITY.md": "| Threat and control ",
  "docs/SERVERS.md": "| Behaviour ",
};

const rustTests = new Set(
  [
    ...readAll("native/*/{src,tests}/**/*.rs").matchAll(
      /#\[(?:tokio::)?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)/g,
    ),
  ].map(([, name]) => name ?? ""),
);
/** A name with a value in it stands for what it is with any. */
const typeScriptTests = [...readAll("test/**/*.ts").matchAll(/^\s*test\(\s*(?:"([^"]+)"|`([^`]+)`)/gm)].map(
  ([, plain, template = ""]) =>
    new RegExp(
      `^${(plain ?? template)
        .split(/\$\{[^}]*\}/)
        .map(escaped)
        .join(".+")}$`,
    ),
);

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

const checks = new Set([...read("scripts/checks.ts").matchAll(/title: "([^"]+)"/g)].map(([, title]) => title ?? ""));

const NAMED_TEST = /`([^`]+)`|"([^"]+)"/g;

/** Whether there is a test that is named like this: in backticks if `inCode`, otherwise in quotation marks. */
function isTest(name: string, inCode: boolean): boolean {
  if (!inCode) {
    return typeScriptTests.some((test) => test.test(name));
  }
  const check = /^check: (.+)$/.exec(name)?.[1];
  if (check !== undefined) {
    return checks.has(check);
  }
  return rustTests.has(name) || globSync(`test/golden/${name}.json`, { cwd: fileURLToPath(ROOT) }).length === 1;
}

/** The names of tests in a text that do not belong to any. */
function unknownTests(text: string): string[] {
  return [...text.matchAll(NAMED_TEST)].flatMap(([, code, words = ""]) =>
    isTest(code ?? words, code !== undefined) ? [] : [code ?? words],
  );
}

/** The cells of each row of the tables that start so. */
function* rowsOf(document: string, start: string): Generator<string[]> {
  let inTable = false;
  for (const line of read(document).split("\n")) {
    if (inTable && line.startsWith("|") && !line.startsWith("| ---")) {
      yield line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
    }
    inTable = line.startsWith(start) || (inTable && line.startsWith("|"));
  }
}

test("every test that the protocol's description names exists", () => {
  const tests = [...rowsOf("docs/PROTOCOL.md", "| Rule ")].map((cells) => cells.at(-1) ?? "").join("\n");
  const names = tests.replaceAll(/`test\/[\w./-]+`/g, "");
  assert.ok([...names.matchAll(NAMED_TEST)].length > 44);
  assert.deepEqual(unknownTests(names), []);
});

test("every rule has an id of its own and names a test that exists", () => {
  const numbers: Record<string, number[]> = {};
  for (const [document, start] of Object.entries(DOCUMENTS_WITH_RULES)) {
    for (const [rule = "", tests = "", ...more] of rowsOf(document, start)) {
      const [, id = "", prefix = "", number] = /^\*\*(([A-Z]+)-(\d+))\*\* \S/.exec(rule) ?? [];
      assert.ok(id !== "" && more.length === 0, `${document}: ${rule}`);
      numbers[prefix] = [...(numbers[prefix] ?? []), Number(number)];
      assert.match(tests, NAMED_TEST, `${id} names no test`);
      assert.equal(tests.replaceAll(NAMED_TEST, "").replaceAll(", ", "").trim(), "", `${id} names something else`);
      assert.deepEqual(unknownTests(tests), [], id);
    }
  }
  for (const [prefix, found] of Object.entries(numbers)) {
    assert.deepEqual(
      found,
      found.map((_, index) => index + 1),
      `the rules ${prefix} are not counted one by one`,
    );
  }
  assert.ok(Object.keys(numbers).length >= 20);
});

test("the contract names every decision that is one about tools, and none that nobody knows", () => {
  const between = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const named = new Set([...read("docs/CONTRACT.md").matchAll(/\bD(\d+)\b/g)].map(([, number]) => Number(number)));
  const about = [...between(1, 26), ...between(30, 37)];
  assert.deepEqual(
    about.filter((number) => !named.has(number)),
    [],
  );
  assert.deepEqual(
    [...named].filter((number) => number < 1 || number > 50),
    [],
  );
});

/** The value of a constant, in bytes, items or milliseconds; undefined if it is no plain product of numbers. */
function numberOf(expression: string, known: ReadonlyMap<string, number>): number | undefined {
  const factors = expression.split("*").map((factor) => {
    const [, unit, text = ""] = /^\s*(?:Duration::from_(secs|millis)\()?(\w+)\)?\s*$/.exec(factor) ?? [];
    const number = known.get(text) ?? Number(text.replaceAll("_", "") || Number.NaN);
    return unit === "secs" ? number * 1_000 : number;
  });
  const product = factors.reduce((one, other) => one * other, 1);
  return Number.isNaN(product) ? undefined : product;
}

function constantsOf(pattern: string, known = new Map<string, number>()): Map<string, number> {
  const constants = new Map<string, number>();
  for (const [, name = "", expression = ""] of readAll(pattern).matchAll(
    /^(?:pub |export )?const ([A-Z_]+)(?:: (?:usize|u32|u64|Duration))? = ([^;]+);/gm,
  )) {
    const value = numberOf(expression, new Map([...known, ...constants]));
    if (value !== undefined) {
      constants.set(name, value);
    }
  }
  return constants;
}

function numbersIn(document: string, start: string): [string, number][] {
  return [...rowsOf(document, start)].map(([name = "", number = ""]) => [
    name.replaceAll("`", ""),
    Number(/^[\d,]+/.exec(number)?.[0].replaceAll(",", "")),
  ]);
}

const limits = constantsOf("native/core/src/limits.rs");

test("every limit of the code stands in the contract with its number", () => {
  assert.ok(limits.size >= 17);
  assert.deepEqual(new Map(numbersIn("docs/CONTRACT.md", "| Limit ").toSorted()), new Map([...limits].toSorted()));
});

test("every bound that the description of security names is the code's", () => {
  const code = new Map([...limits, ...constantsOf("{native/{server,addon}/src,extension}/**/*.{rs,ts}", limits)]);
  const bounds = numbersIn("docs/SECURITY.md", "| Bound ");
  assert.ok(bounds.length >= 20);
  for (const [name, number] of bounds) assert.equal(number, code.get(name), name);
});

test("every bound that the description of the headless program names is the code's", () => {
  const code = constantsOf("native/{lsp/src/*,server/src/walk}.rs");
  const bounds = numbersIn("docs/HEADLESS.md", "| Bound of a server ");
  assert.ok(bounds.length >= 15);
  for (const [name, number] of bounds) assert.equal(number, code.get(name), name);
});

test("the ids, keys and cursors that the contract shows are right", () => {
  const contract = read("docs/CONTRACT.md");
  const hashes = [...contract.matchAll(/^(.+)\n(?:sha256:)?([0-9a-f]{64})$/gm)];
  assert.equal(hashes.length, 9);
  for (const [, text = "", hash] of hashes) {
    assert.equal(createHash("sha256").update(text, "utf8").digest("hex"), hash, text);
  }

  const [, json = "", cursor = ""] = /^(\{"v":2,.*\})\n([\w-]+)$/m.exec(contract) ?? [];
  assert.equal(Buffer.from(json, "utf8").toString("base64url"), cursor);
  const { k, s } = JSON.parse(json) as { k: string; s: string };
  const [roots] = hashes.filter(([, text]) => text?.startsWith("[")).map(([, , hash]) => hash);
  const snapshot = hashes.find(([, , hash]) => hash === s)?.[1] ?? "";
  assert.ok(hashes.some(([, , hash]) => hash === k));
  assert.ok(snapshot.startsWith(`v1|snapshot|${k}|roots:${roots}|epochs:`));
});

test("every file that a document names exists", () => {
  for (const document of [
    "README.md",
    "CHANGELOG.md",
    "docs/ARCHITECTURE.md",
    "docs/CLIENTS.md",
    "docs/CONTRACT.md",
    "docs/HEADLESS.md",
    "docs/PERFORMANCE.md",
    "docs/PROTOCOL.md",
    "docs/REPLAY.md",
    "docs/SECURITY.md",
    "docs/TROUBLESHOOTING.md",
    "schemas/README.md",
  ]) {
    const named = [
      ...read(document).matchAll(/`((?:docs|extension|media|native|schemas|scripts|test)\/[\w./-]+)`/g),
    ].map(([, path]) => path);
    assert.deepEqual(
      named.filter((path) => globSync(path ?? "", { cwd: fileURLToPath(ROOT) }).length === 0),
      [],
      document,
    );
  }
});

test("every code of the error taxonomy stands in both tables of errors, with its details", () => {
  const source = read("native/core/src/error.rs");
  const codes = [...source.matchAll(/"MCP_LSP_GATEWAY\/(\w+)"/g)].map(([, code]) => code);
  assert.equal(codes.length, 12);
  const body = /fn details\(.*?\n {4}\}\n/s.exec(source)?.[0] ?? "";
  const details = [...body.matchAll(/"(\w+)":/g)].map(([, name]) => name);
  assert.ok(details.length > 12);

  const numbers = ["docs/PROTOCOL.md", "docs/CONTRACT.md"].map((document) => {
    const rows = [...read(document).matchAll(/^\| `([A-Z_]+)` +\| (-32\d+)/gm)];
    assert.deepEqual(rows.map(([, code]) => code).toSorted(), codes.toSorted(), document);
    for (const name of details) assert.ok(read(document).includes(`\`${name}`), `${document}: ${name}`);
    return Object.fromEntries(rows.map(([, code, number]) => [code, number]));
  });
  assert.deepEqual(numbers[0], numbers[1]);
});

test("the README lists every setting with its default, every command and every tool", () => {
  const readme = read("README.md");
  const rows = new Map(
    [...readme.matchAll(/^\| `([\w.]+)` +\| (\S[^|]*?) +\|/gm)].map(([, name, second]) => [name ?? "", second ?? ""]),
  );
  for (const [name, { default: value }] of Object.entries(properties)) {
    const shown = rows.get(name.replace("mcpLspGateway.", ""));
    assert.ok(shown !== undefined, `${name} is not in the README`);
    // The one long list is described in words.
    if (name !== "mcpLspGateway.watch.ignore") {
      assert.equal(shown, `\`${typeof value === "string" ? value : JSON.stringify(value)}\``, name);
    }
  }
  for (const { title } of commands) assert.ok(readme.includes(title), title);
  for (const tool of TOOLS) assert.ok(rows.has(tool), tool);
});

test("the walkthrough has three steps, whose pictures and commands exist, as do the pictures of the README", () => {
  const { walkthroughs, commands: declared } = JSON.parse(read("package.json")).contributes;
  assert.equal(walkthroughs.length, 1);
  const { steps } = walkthroughs[0];
  assert.equal(steps.length, 3);
  const known = new Set(declared.map(({ command }: { command: string }) => command));
  const pictures = [...read("README.md").matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, file]) => file ?? "");
  assert.equal(pictures.length, 4);
  const done: string[][] = [];
  for (const { description, media, completionEvents } of steps) {
    const [, link] = /\(command:([\w.]+)\)/.exec(description) ?? [];
    assert.ok(known.has(link), link);
    done.push(completionEvents);
    pictures.push(...(Object.values(media.image) as string[]));
  }
  // A command that opens a list must not tick its step: the walkthrough takes the focus then, and the list is closed.
  assert.deepEqual(done, [
    ["onContext:mcpLspGateway.state == running"],
    ["onContext:mcpLspGateway.copied"],
    ["onCommand:mcpLspGateway.checkWorkspace"],
  ]);
  for (const file of pictures) assert.ok(existsSync(new URL(file, ROOT)), file);
});
