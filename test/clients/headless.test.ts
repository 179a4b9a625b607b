// The program `mcp-lsp-gateway` with real language servers, over stdio.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { buildHeadless } from "../../harness/build/headless.ts";
import { type Page, ToolFailure } from "../../harness/clients/gateway-client.ts";
import { StdioClient } from "../../harness/clients/stdio-client.ts";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import { type AskedProject, ON_FLASK, ON_FLEET, ON_RXJS, ON_SEMVER } from "../../harness/languages/asked-projects.ts";
import { UNCONFIRMED } from "../../harness/languages/language-project.ts";
import { clangd, linkPrograms, pyright, rustAnalyzer, typescript7 } from "../../harness/languages/language-servers.ts";
import { CPP, type Language, OwnWrites, PYTHON, RUST, TYPESCRIPT } from "../../harness/languages/own-writes.ts";
import { placeIn } from "../../harness/languages/sample.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";
import { ownEnvironment } from "../../harness/machine/own-environment.ts";
import { answersAreRight } from "../answers-are-right.ts";

const STARTS = unlessLonger(3, 25);
const TRIALS = unlessLonger(10, 200);
/** A machine that is busy takes its time until a server has loaded what was written. */
const MAX_CALLS = 30;
// The first ten have each kind of write and of question.
const SEED = 3;
/** Between one question and the next. */
const PAUSE_MS = 100;
const PATIENCE_MS = 120_000;
/** Nearly always one second is enough; a machine that is busy may take longer. */
const GONE_WITHIN_MS = 20_000;

interface Project extends AskedProject {
  readonly name: string;
  /** How many references there are, declarations included, as the server said when it was asked alone. */
  readonly whole: number;
  /** What is written into it. */
  readonly language: Language;
}

const PROJECTS: readonly Project[] = [
  {
    name: "TypeScript 7 on rxjs",
    ...ON_RXJS,
    whole: 117,
    language: TYPESCRIPT,
  },
  {
    name: "pyright on flask",
    ...ON_FLASK,
    whole: 46,
    language: PYTHON,
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

let program: string;
let own: string;

before(async () => {
  program = await buildHeadless("dev");
  own = temporaryFolder("headless-own");
  mkdirSync(join(own, "programs"));
  linkPrograms(join(own, "programs"), [await typescript7(), await pyright(), await clangd(), await rustAnalyzer()]);
});

after(() => removeFolder(own));

/** What a test has started. One that fails does not come to closing it, and it would keep this process from ending. */
const started: StdioClient[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((client) => client.close()));
});

/** Programs on PATH, and folders of its own in place of the person's. */
function environment(path = join(own, "programs"), kept = join(own, "kept")): NodeJS.ProcessEnv {
  return ownEnvironment(kept, path);
}

async function start(folder: string, args: readonly string[] = ["--trust"], env = environment()): Promise<StdioClient> {
  const client = await StdioClient.start({ program, args: ["--root", folder, ...args], env });
  started.push(client);
  return client;
}

/** What a program printed, and how it ended. */
function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(program, args, { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, text: stdout + stderr });
    });
  });
}

/** All references, or undefined while the error asks for another try. An answer that may be a part is one that does not count. */
async function references(client: StdioClient, project: Project, folder: string): Promise<number | undefined> {
  const { uri, position } = placeIn(folder, project.file, project.word, project.after);
  const input = { uri, position, includeDeclaration: true, pageSize: 200 };
  try {
    const page = await client.callOnce<Page<unknown> & { summary: string }>("vscode.lsp.references", input);
    assert.equal(page.nextCursor, null);
    assert.ok(!page.summary.includes(UNCONFIRMED), page.summary);
    return page.items.length;
  } catch (error) {
    assert.ok(error instanceof ToolFailure && error.retryable, String(error));
    return undefined;
  }
}

/** Asks until there is an answer. */
async function answered(client: StdioClient, project: Project, folder: string): Promise<number> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await references(client, project, folder);
    if (found !== undefined) {
      return found;
    }
    assert.ok(performance.now() < until, "It has had its time.");
    await delay(PAUSE_MS);
  }
}

/** Paths and contents of all files. A glob would pass over those whose names begin with a dot, as of many caches. */
function contents(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).sort();
  return new Map(paths.map((path) => [path, readFileSync(path, "base64")]));
}

/** The processes whose environment has this text. */
function processesOf(text: string): number[] {
  const numbers = globSync("[0-9]*", { cwd: "/proc" }).map(Number);
  return numbers.filter((number) => {
    try {
      const isDead = /^\d+ \(.*\) Z/.test(readFileSync(`/proc/${number}/stat`, "utf8"));
      return !isDead && readFileSync(`/proc/${number}/environ`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

for (const project of PROJECTS) {
  describe(project.name, () => {
    let folder: string;
    /** What is there before any server has seen it. */
    let untouched: ReturnType<typeof contents>;

    before(async () => {
      folder = temporaryFolder("headless");
      await project.copyTo(folder);
      untouched = contents(folder);
    });

    after(() => removeFolder(folder));

    test(`whole, or an error that asks for another try, and nothing left when killed, in ${STARTS} cold starts`, async () => {
      for (let time = 0; time < STARTS; time += 1) {
        const kept = join(own, `kept-${project.word}-${time}`);
        const client = await start(folder, ["--trust"], environment(undefined, kept));
        assert.equal(await answered(client, project, folder), project.whole);
        assert.ok(processesOf(kept).length >= 3, "The program, the supervisor and the server.");
        client.kill();
        const left = await eventually(
          async () => processesOf(kept),
          (found) => found.length === 0,
          GONE_WITHIN_MS,
        );
        assert.deepEqual(left, []);
      }
    });

    test("every tool answers, and nothing in the project has changed", async () => {
      const client = await start(folder, ["--trust", "--catalog", "all"]);
      await answered(client, project, folder);
      const { uri, position } = placeIn(folder, project.file, project.word, project.after);
      for (const [name, input] of [
        ["definition", { uri, position }],
        ["hover", { uri, position }],
        ["implementation", { uri, position }],
        ["documentHighlights", { uri, position }],
        ["documentSymbols", { uri }],
        ["workspaceSymbols", { query: project.word }],
        ["diagnostics.document", { uri }],
        ["diagnostics.workspace", {}],
      ] as const) {
        const summary = await eventually(
          () =>
            client.callOnce<{ summary: string }>(`vscode.lsp.${name}`, input).then(
              (payload) => payload.summary,
              (error: ToolFailure) => error,
            ),
          (answer) => typeof answer === "string" || !answer.retryable,
        );
        // Pyright has no implementations.
        const isUnknown = summary instanceof ToolFailure && summary.code === "PROVIDER_UNAVAILABLE";
        assert.ok(typeof summary === "string" || (isUnknown && name === "implementation"), `${name}: ${summary}`);
      }
      await client.close();
      assert.deepEqual(contents(folder), untouched);
    });

    test("what is asked right after a write is answered about the files after it", async (t) => {
      const trials = OwnWrites.begin(folder, project.language, SEED, { checkouts: true, maxCalls: MAX_CALLS });
      const client = await start(folder);
      await trials.begun(client);
      await answersAreRight(t, client, trials, TRIALS);
      await client.close();
    });
  });
}

test("a project that nobody trusts runs nothing of its own, and says what helps", async () => {
  const folder = temporaryFolder("hostile");
  const canary = join(own, "canary");
  const trap = `#!/bin/sh\necho "$0" >> '${canary}'\n`;
  for (const name of ["node_modules/.bin/tsc", ".venv/bin/python", ".venv/bin/pyright-langserver", "rust-analyzer"]) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), trap, { mode: 0o755 });
  }
  // The one server that must not be started at all, also from where servers may be.
  const outside = join(own, "traps");
  mkdirSync(outside);
  writeFileSync(join(outside, "rust-analyzer"), trap, { mode: 0o755 });
  mkdirSync(join(folder, ".cargo"));
  writeFileSync(join(folder, ".cargo", "config.toml"), `[build]\nrustc-wrapper = "${folder}/rust-analyzer"\n`);
  writeFileSync(join(folder, "Cargo.toml"), '[package]\nname = "hostile"\nversion = "0.0.0"\n[lib]\npath = "a.rs"\n');
  writeFileSync(join(folder, "build.rs"), "fn main() {}\n");
  const texts = { "a.ts": "export const a = 1;\n", "a.py": "a = 1\n", "a.rs": "pub fn a() {}\n" };
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(join(folder, name), text);
  }
  const inside = ["node_modules/.bin", ".venv/bin", "."].map((name) => join(folder, name));
  const env = environment([...inside, outside, join(own, "programs")].join(delimiter));
  const client = await start(folder, [], env);
  const outline = (name: string) =>
    client.callOnce<{ symbols: unknown[] }>("vscode.lsp.documentSymbols", { uri: placeIn(folder, name, "a").uri }).then(
      ({ symbols }) => symbols.length,
      (error: ToolFailure) => error,
    );
  for (const name of ["a.ts", "a.py"]) {
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
  assert.throws(() => readFileSync(canary), { code: "ENOENT" }, "Nothing of the project ran.");
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
