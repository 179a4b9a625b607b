import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TOOLS } from "./schemas.ts";

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

test("every test that the protocol's description names exists", () => {
  const section = read("docs/PROTOCOL.md").split("## The tests that hold these rules")[1] ?? "";
  const inRust = [...section.matchAll(/`([a-z0-9]+(?:_[a-z0-9]+)+)`/g)].map(([, name]) => name);
  const inTypeScript = [...section.matchAll(/"([^"]+)"/g)].map(([, name]) => name);
  assert.ok(inRust.length > 40 && inTypeScript.length > 4);

  const rust = readAll("native/server/tests/**/*.rs");
  assert.deepEqual(
    inRust.filter((name) => !rust.includes(`fn ${name}(`)),
    [],
  );
  const typeScript = readAll("test/{extension,host}/*.test.ts");
  assert.deepEqual(
    inTypeScript.filter((name) => !typeScript.includes(`test("${name}"`)),
    [],
  );
});

test("every file that a document names exists", () => {
  for (const document of [
    "README.md",
    "CHANGELOG.md",
    "docs/ARCHITECTURE.md",
    "docs/PROTOCOL.md",
    "schemas/README.md",
  ]) {
    const named = [...read(document).matchAll(/`((?:docs|native|schemas|scripts|test)\/[\w./-]+)`/g)].map(
      ([, path]) => path,
    );
    assert.deepEqual(
      named.filter((path) => globSync(path ?? "", { cwd: fileURLToPath(ROOT) }).length === 0),
      [],
      document,
    );
  }
});

test("every code of the error taxonomy stands in the protocol's description", () => {
  const codes = [...read("native/core/src/error.rs").matchAll(/"MCP_LSP_GATEWAY\/(\w+)"/g)].map(([, code]) => code);
  const described = [...read("docs/PROTOCOL.md").matchAll(/^\| `([A-Z_]+)` +\| -32/gm)].map(([, code]) => code);
  assert.equal(codes.length, 11);
  assert.deepEqual(described.toSorted(), codes.toSorted());
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
