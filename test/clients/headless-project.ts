// The program `mcp-lsp-gateway` with a real language server on a real project, over stdio.

import assert from "node:assert/strict";
import { globSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { buildHeadless } from "../../harness/build/headless.ts";
import { type Page, ToolFailure } from "../../harness/clients/gateway-client.ts";
import { StdioClient } from "../../harness/clients/stdio-client.ts";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import type { AskedProject } from "../../harness/languages/asked-projects.ts";
import { UNCONFIRMED } from "../../harness/languages/language-project.ts";
import { type InstalledServer, linkPrograms } from "../../harness/languages/language-servers.ts";
import { type Language, OwnWrites, type Question } from "../../harness/languages/own-writes.ts";
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

export interface Project extends AskedProject {
  readonly name: string;
  /** How many references there are, declarations included, as the server said when it was asked alone. */
  readonly whole: number;
  /** What is written into it, and asked about that; everything if it is not given. */
  readonly language: Language;
  readonly questions?: readonly Question[];
  /** What its server does not answer, by the names of tools. */
  readonly lacks?: readonly string[];
  /** Whether its answers always say that they may be a part. */
  readonly isMarked?: boolean;
}

export let program: string;
export let own: string;

/** To be called once in a file: builds the program, and puts these servers on its PATH. */
export function withServers(install: () => Promise<readonly InstalledServer[]>): void {
  before(async () => {
    program = await buildHeadless("dev");
    own = temporaryFolder("headless-own");
    mkdirSync(join(own, "programs"));
    linkPrograms(join(own, "programs"), await install());
  });

  after(() => removeFolder(own));
}

/** What a test has started. One that fails does not come to closing it, and it would keep this process from ending. */
const started: StdioClient[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((client) => client.close()));
});

/** These programs on PATH, or else those of all servers before what is there, and folders of its own in place of the person's. */
export function environment(path?: string, kept = join(own, "kept")): NodeJS.ProcessEnv {
  const env = ownEnvironment(kept, join(own, "programs"));
  return path === undefined ? env : { ...env, PATH: path };
}

export async function start(
  folder: string,
  args: readonly string[] = ["--trust"],
  env = environment(),
): Promise<StdioClient> {
  const client = await StdioClient.start({ program, args: ["--root", folder, ...args], env });
  started.push(client);
  return client;
}

/** All references, or undefined while the error asks for another try. An answer that may be a part is one that does not count. */
async function references(client: StdioClient, project: Project, folder: string): Promise<number | undefined> {
  const { uri, position } = placeIn(folder, project.file, project.word, project.after);
  const input = { uri, position, includeDeclaration: true, pageSize: 200 };
  try {
    const page = await client.callOnce<Page<unknown> & { summary: string }>("vscode.lsp.references", input);
    assert.equal(page.nextCursor, null);
    assert.equal(page.summary.includes(UNCONFIRMED), project.isMarked === true, page.summary);
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

/** The tests of a project, with the servers of this PATH instead of all. */
export function describeProject(
  project: Project,
  path: () => Promise<string | undefined> = async () => undefined,
): void {
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
        const client = await start(folder, ["--trust"], environment(await path(), kept));
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
      const client = await start(folder, ["--trust", "--catalog", "all"], environment(await path()));
      await answered(client, project, folder);
      const { uri, position } = placeIn(folder, project.file, project.word, project.after);
      const at = `${position.line}:${position.character}`;
      for (const [name, input] of [
        ["definition", { uri, position }],
        ["hover", { uri, position }],
        ["usages", { file: project.file, at }],
        ["implementation", { file: project.file, at }],
        ["typeDefinition", { file: project.file, at }],
        ["declaration", { file: project.file, at }],
        ["outline", { file: project.file }],
        ["symbol.find", { symbol: project.word }],
        ["symbol.source", { file: project.file, at }],
        ["status", {}],
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
        const isUnknown = summary instanceof ToolFailure && summary.code === "PROVIDER_UNAVAILABLE";
        assert.equal(isUnknown, project.lacks?.includes(name) === true, `${name}: ${summary}`);
        assert.ok(isUnknown || typeof summary === "string", `${name}: ${summary}`);
      }
      await client.close();
      assert.deepEqual(contents(folder), untouched);
    });

    test("what is asked right after a write is answered about the files after it", async (t) => {
      const trials = OwnWrites.begin(folder, project.language, SEED, {
        checkouts: true,
        maxCalls: MAX_CALLS,
        ...(project.questions === undefined ? {} : { questions: project.questions }),
      });
      const client = await start(folder, ["--trust"], environment(await path()));
      await trials.begun(client);
      await answersAreRight(t, client, trials, TRIALS);
      await client.close();
    });
  });
}
