// The program `mcp-lsp-gateway` with the servers that most people have, over stdio.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { ToolFailure } from "../../harness/clients/gateway-client.ts";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import { ON_FLASK, ON_FLEET, ON_RXJS, ON_SEMVER } from "../../harness/languages/asked-projects.ts";
import { UNCONFIRMED } from "../../harness/languages/language-project.ts";
import { clangd, pyright, rustAnalyzer, typescript7 } from "../../harness/languages/language-servers.ts";
import { CPP, PYTHON, RUST, TYPESCRIPT } from "../../harness/languages/own-writes.ts";
import { placeIn } from "../../harness/languages/sample.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { describeProject, environment, own, type Project, program, start, withServers } from "./headless-project.ts";

const PROJECTS: readonly Project[] = [
  {
    name: "TypeScript 7 on rxjs",
    ...ON_RXJS,
    whole: 117,
    language: TYPESCRIPT,
    lacks: ["declaration"],
  },
  {
    name: "pyright on flask",
    ...ON_FLASK,
    whole: 46,
    language: PYTHON,
    lacks: ["implementation"],
  },
  {
    name: "clangd on 40 files",
    ...ON_FLEET,
    whole: 4,
    language: CPP,
  },
  {
    name: "rust-analyzer on semver",
    ...ON_SEMVER,
    whole: 46,
    language: RUST,
  },
];

withServers(async () => [await typescript7(), await pyright(), await clangd(), await rustAnalyzer()]);

/** What a program printed, and how it ended. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, text: stdout + stderr });
    });
  });
}

for (const project of PROJECTS) {
  describeProject(project);
}

/** A folder with these files. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder("files");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

interface Usages {
  readonly files: readonly { readonly path: string; readonly at: readonly string[] }[];
  readonly summary: string;
}

interface Found {
  readonly symbols: readonly { readonly path: string }[];
}

const WHOLE = ({ summary }: Usages): boolean => !summary.includes(UNCONFIRMED);

const references = (...paths: string[]) => JSON.stringify({ files: [], references: paths.map((path) => ({ path })) });
const BOAT = "export class Boat {}\n";
const uses = (of: string) => `import { Boat } from "${of}";\nnew Boat();\nexport const raft = 1;\n`;
const COMPOSITE = '"compilerOptions": { "composite": true }';

/** Where the projects of TypeScript are in a folder, and the files that use `Boat` of the first. */
const LAYOUTS: readonly { name: string; files: Readonly<Record<string, string>>; users: readonly string[] }[] = [
  {
    name: "projects of a solution",
    files: {
      "p/a/boat.ts": BOAT,
      "tsconfig.json": references("p", "q"),
      "p/tsconfig.json": references("a"),
      "p/a/tsconfig.json": `{ ${COMPOSITE} }`,
      "q/tsconfig.json": references("b"),
      "q/b/tsconfig.json": `{ ${COMPOSITE}, "references": [{ "path": "../../p/a" }] }`,
      "q/b/harbour.ts": uses("../../p/a/boat"),
    },
    users: ["q/b/harbour.ts"],
  },
  {
    name: "tests that belong to no project",
    files: {
      "src/boat.ts": BOAT,
      "tsconfig.json": '{ "include": ["src"] }',
      "src/harbour.ts": uses("./boat"),
      "test/one.test.ts": uses("../src/boat"),
      "test/two.test.ts": uses("../src/boat"),
    },
    users: ["src/harbour.ts", "test/one.test.ts", "test/two.test.ts"],
  },
  {
    name: "packages that refer to each other only by imports",
    files: {
      "packages/a/boat.ts": BOAT,
      "packages/a/tsconfig.json": "{}",
      "packages/b/tsconfig.json": "{}",
      "packages/b/harbour.ts": uses("../a/boat"),
      "packages/c/tsconfig.json": "{}",
      "packages/c/harbour.ts": uses("../a/boat"),
    },
    users: ["packages/b/harbour.ts", "packages/c/harbour.ts"],
  },
  {
    name: "no project at all",
    files: { "boat.ts": BOAT, "a/harbour.ts": uses("../boat"), "b/harbour.ts": uses("../boat") },
    users: ["a/harbour.ts", "b/harbour.ts"],
  },
];

for (const { name, files, users } of LAYOUTS) {
  test(`uses are found in whatever project they are: ${name}`, async () => {
    const folder = folderWith(files);
    const client = await start(folder, ["--trust", "--catalog", "core"]);
    const ask = (symbol: string, file?: string) =>
      eventually(() => client.callOnce<Usages>("vscode.lsp.usages", { symbol, file }), WHOLE);
    const usersOfBoat = async () => (await ask("Boat", Object.keys(files)[0])).files.map(({ path }) => path);
    assert.deepEqual(await usersOfBoat(), users);

    // What was asked in between does not change what is found, nor is a name found in one place only.
    const [user = ""] = users;
    await client.callOnce("vscode.lsp.outline", { file: user });
    assert.deepEqual(await usersOfBoat(), users);
    const { symbols } = await client.callOnce<Found>("vscode.lsp.symbol.find", { symbol: "raft" });
    assert.deepEqual(
      symbols.map(({ path }) => path),
      users,
    );

    const later = user.replace(/(\.test)?\.ts$/, ".zzz.ts");
    writeFileSync(join(folder, later), files[user] ?? "");
    assert.deepEqual(await usersOfBoat(), [...users, later].sort());
    await client.close();
    removeFolder(folder);
  });
}

test("where more files belong to no project than can be held, every answer says that there may be more", async () => {
  const many = Array.from({ length: 501 }, (_, number) => [`test/${number}.ts`, uses("../src/boat")]);
  const folder = folderWith({
    "src/boat.ts": BOAT,
    "tsconfig.json": '{ "include": ["src"] }',
    ...Object.fromEntries(many),
  });
  const client = await start(folder, ["--trust", "--catalog", "core"]);
  // Until it is known, nothing is said.
  const { summary } = await eventually(
    () => client.callOnce<Usages>("vscode.lsp.usages", { file: "src/boat.ts", at: "0:13" }),
    () => true,
  );
  assert.ok(summary.includes(UNCONFIRMED), summary);
  await client.close();
  removeFolder(folder);
});

test("a header that clangd cannot read by itself hides its uses, and that is told", async () => {
  const folder = folderWith({
    "boat.h": "#pragma once\nstruct Boat {};\n",
    "part.h": "inline Boat *first;\n",
    "a.cpp": '#include "boat.h"\n#include "part.h"\nBoat second;\n',
  });
  const command = { directory: folder, file: "a.cpp", arguments: ["c++", "-std=c++17", "-c", "a.cpp"] };
  writeFileSync(join(folder, "compile_commands.json"), JSON.stringify([command]));
  const client = await start(folder, ["--trust", "--catalog", "core"]);
  const usages = () => client.callOnce<Usages>("vscode.lsp.usages", { file: "boat.h", at: "1:7" });
  const { files } = await eventually(usages, WHOLE);
  assert.deepEqual(
    files.map(({ path }) => path),
    ["a.cpp", "part.h"],
  );
  await client.callOnce("vscode.lsp.outline", { file: "part.h" });
  const after = await usages();
  assert.ok(!WHOLE(after), JSON.stringify(after));
  await client.close();
  removeFolder(folder);
});

test("a project that nobody trusts runs nothing of its own, and says what helps", async () => {
  const folder = temporaryFolder("hostile");
  const canary = join(own, "canary");
  const traps: string[] = [];
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode });
  };
  const trap = (path: string) => {
    // What is called `.js` is a trap for who starts it and for who loads it.
    const script = path.endsWith(".js")
      ? `#!${process.execPath}\nrequire("node:fs").appendFileSync(${JSON.stringify(canary)}, \`\${__filename}\\n\`);\n`
      : `#!/bin/sh\necho "$0" >> '${canary}'\n`;
    write(path, script, 0o755);
    traps.push(path);
  };
  const platform = `typescript-${process.platform}-${process.arch}`;
  for (const name of [
    "node_modules/.bin/tsc",
    "node_modules/typescript/bin/tsc",
    "node_modules/typescript/lib/tsc.js",
    "node_modules/typescript/lib/tsserver.js",
    "node_modules/typescript/lib/typescript.js",
    `node_modules/@typescript/${platform}/lib/tsc`,
    "node_modules/plugin/index.js",
    ".venv/bin/python",
    ".venv/bin/python3",
    ".venv/bin/pyright-langserver",
    "toolchain/bin/cargo",
    "toolchain/bin/rustc",
    "toolchain/bin/rust-analyzer",
    "rust-analyzer",
    "clangd",
    "c++",
  ]) {
    trap(join(folder, name));
  }
  // The one server that must not be started at all, also from where servers may be.
  const outside = join(own, "traps");
  trap(join(outside, "rust-analyzer"));
  const inFolder = (name: string) => join(folder, name);
  const compile = { directory: folder, file: inFolder("a.cpp"), command: `'${inFolder("c++")}' -c a.cpp` };
  for (const [name, text] of Object.entries({
    "a.ts": "export const a = 1;\n",
    "a.py": "a = 1\n",
    "a.cpp": "int a = 1;\n",
    "a.rs": "pub fn a() {}\n",
    "node_modules/typescript/package.json": '{ "name": "typescript", "version": "7.0.2", "bin": "./bin/tsc" }',
    [`node_modules/@typescript/${platform}/package.json`]: `{ "name": "@typescript/${platform}", "version": "7.0.2" }`,
    "tsconfig.json": '{ "compilerOptions": { "plugins": [{ "name": "plugin" }] } }',
    "pyrightconfig.json": '{ "venvPath": ".", "venv": ".venv" }',
    "pyproject.toml": '[tool.pyright]\nvenvPath = "."\nvenv = ".venv"\n',
    ".venv/pyvenv.cfg": `home = ${inFolder(".venv/bin")}\n`,
    "compile_commands.json": JSON.stringify([compile]),
    "Cargo.toml": '[package]\nname = "hostile"\nversion = "0.0.0"\n[lib]\npath = "a.rs"\n',
    "build.rs": `fn main() { std::fs::write(${JSON.stringify(canary)}, "build.rs").unwrap(); }\n`,
    ".cargo/config.toml": `[build]\nrustc-wrapper = "${inFolder("rust-analyzer")}"\n`,
    "rust-toolchain.toml": `[toolchain]\npath = "${inFolder("toolchain")}"\n`,
    ".mcp-lsp-gateway.toml": `[pyright]\nprogram = "${inFolder(".venv/bin/pyright-langserver")}"\n`,
  })) {
    write(inFolder(name), text);
  }
  const inside = ["node_modules/.bin", ".venv/bin", "toolchain/bin", "."].map(inFolder);
  const env = environment([...inside, outside, join(own, "programs")].join(delimiter));

  const named = await run(["doctor", "--root", folder], env);
  assert.equal(named.code, 1);
  assert.match(named.text, /the file of a project only has `prefer` and `off`/);
  rmSync(inFolder(".mcp-lsp-gateway.toml"));

  const client = await start(folder, [], env);
  const outline = (name: string) =>
    client.callOnce<{ symbols: unknown[] }>("vscode.lsp.documentSymbols", { uri: placeIn(folder, name, "a").uri }).then(
      ({ symbols }) => symbols.length,
      (error: ToolFailure) => error,
    );
  for (const name of ["a.ts", "a.py", "a.cpp"]) {
    const found = await eventually(
      () => outline(name),
      (answer) => typeof answer === "number",
    );
    assert.equal(found, 1, name);
  }
  const refused = await outline("a.rs");
  assert.ok(refused instanceof ToolFailure);
  assert.deepEqual([refused.code, refused.details["reason"]], ["PROVIDER_UNAVAILABLE", "untrusted"]);
  assert.ok(refused.message.includes("mcp-lsp-gateway trust"), refused.message);
  await client.close();
  assert.equal(existsSync(canary) ? readFileSync(canary, "utf8") : "", "", "Nothing of the project ran.");

  for (const path of traps) {
    execFileSync(path);
  }
  assert.deepEqual(readFileSync(canary, "utf8").trim().split("\n"), traps, "Each trap would have told.");
  removeFolder(folder);
});

test("doctor says what works and what is missing, and trust is remembered", async () => {
  const folder = temporaryFolder("doctor");
  writeFileSync(join(folder, "a.ts"), "export const a = 1;\n");
  const env = environment(undefined, join(own, "doctor"));
  const all = await run(["doctor", "--root", folder], env);
  assert.equal(all.code, 0, all.text);
  assert.match(all.text, /TypeScript 7 in .*: ready after .*textDocument\/references/);

  const nothing = { ...env, PATH: join(own, "no-programs") };
  const missing = await run(["doctor", "--root", folder], nothing);
  assert.equal(missing.code, 1);
  assert.match(missing.text, /install it: npm install --global typescript@7/);

  writeFileSync(join(folder, "a.rs"), "pub fn a() {}\n");
  const untrusted = await run(["doctor", "--root", folder], env);
  assert.equal(untrusted.code, 1);
  assert.match(untrusted.text, /trust it: mcp-lsp-gateway trust/);
  assert.equal((await run(["trust", folder], env)).code, 0);
  assert.doesNotMatch((await run(["doctor", "--root", folder], env)).text, /trust it/);
  assert.equal((await run(["untrust", folder], env)).code, 0);
  assert.match((await run(["doctor", "--root", folder], env)).text, /trust it/);
  removeFolder(folder);
});
