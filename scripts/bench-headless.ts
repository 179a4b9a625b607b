// `npm run bench:headless`: what `mcp-lsp-gateway` costs beside a language server alone. Each of four servers is started
// on a fresh copy of a real project, by itself and by the program in turn, and is asked for references until the answer is
// whole, then for definitions, then by each of the tools in few tokens. After that, all projects lie in one folder, and the program is asked about each there. `-- --rounds N` takes N turns, `-- --project TEXT` those projects only whose name has the
// text, and `-- --program FILE` a program that is built already.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { buildHeadless } from "../harness/build/headless.ts";
import { type DefinitionPayload, type Location, type Page, ToolFailure } from "../harness/clients/gateway-client.ts";
import { RpcError } from "../harness/clients/json-rpc-process.ts";
import { StdioClient } from "../harness/clients/stdio-client.ts";
import { removeFolder, temporaryFolder } from "../harness/editor/gateway-window.ts";
import {
  type AskedProject,
  ON_FLASK,
  ON_GO,
  ON_RXJS,
  ON_SEMVER,
  ON_ZLIB,
} from "../harness/languages/asked-projects.ts";
import { UNCONFIRMED } from "../harness/languages/language-project.ts";
import { LanguageServer } from "../harness/languages/language-server.ts";
import {
  clangd,
  gopls,
  type InstalledServer,
  linkPrograms,
  pyright,
  rustAnalyzer,
  typescript7,
} from "../harness/languages/language-servers.ts";
import { placeIn } from "../harness/languages/sample.ts";
import { root } from "../harness/layout.ts";
import { ownEnvironment } from "../harness/machine/own-environment.ts";
import { command, Failure, step } from "../harness/machine/progress.mjs";
import { median } from "../harness/results/table.ts";
import { WARM_CALLS, WARM_HEAD, type WarmCall, warmRow } from "./bench/warm-calls.ts";

const DEFAULT_ROUNDS = 5;
const DEFINITIONS = 200;
const WARM_QUESTIONS = 50;
const MAX_PAGE = 200;
/** What the program tells language servers of itself. */
const CAPABILITIES = join(root, "native", "lsp", "src", "client_capabilities.json");
/** Between one question and the next, and how long at most until the answer is whole. */
const PAUSE_MS = 20;
const PATIENCE_MS = 180_000;
/** What servers answer that are to be asked again: the text has changed, or they have given up the request. */
const AGAIN: ReadonlySet<number> = new Set([-32800, -32801, -32802]);

interface HeadlessProject extends AskedProject {
  readonly name: string;
  /** The server, with the options that the program starts it with. */
  readonly server: () => Promise<InstalledServer>;
  /** How many references there are once the server has loaded the project. */
  readonly whole: number;
  /** Resolves once the server has shown that it has. */
  readonly ready: (server: LanguageServer, uri: string) => Promise<void>;
}

const PROJECTS: readonly HeadlessProject[] = [
  {
    name: "TypeScript 7 on rxjs",
    server: typescript7,
    ...ON_RXJS,
    whole: 117,
    // It lets questions wait until it can answer them.
    ready: async () => {},
  },
  {
    name: "pyright on flask",
    server: pyright,
    ...ON_FLASK,
    whole: 46,
    ready: (server, uri) => server.countedFrom(uri),
  },
  {
    name: "clangd on zlib",
    server: async () => ({ ...(await clangd()), language: "c" }),
    ...ON_ZLIB,
    whole: 101,
    ready: (server, uri) => server.indexedFrom(uri),
  },
  {
    name: "rust-analyzer on semver",
    server: async () => {
      const runsNothing = { cargo: { buildScripts: { enable: false } }, procMacro: { enable: false } };
      return { ...(await rustAnalyzer()), initializationOptions: { ...runsNothing, checkOnSave: false } };
    },
    ...ON_SEMVER,
    whole: 46,
    ready: (server, uri) => server.quiescentFrom(uri),
  },
  {
    name: "gopls on two files",
    server: gopls,
    ...ON_GO,
    whole: 4,
    ready: async () => {},
  },
];

const HEAD =
  "| project | references | the server is ready | alone: whole | by the program: whole | later by | alone: a definition | by the program: a definition | longer by |";

/** One start, in milliseconds. */
interface Start {
  /** From the start to the first answer that is whole; of the program, and does not say that it may be a part. */
  readonly whole: number;
  /** Of a definition, the median. */
  readonly definition: number;
  /** From the start to when the server showed that it is ready, where it is asked alone. */
  readonly ready?: number;
  /** Of each call to a server that is ready, the median; of those that it can be asked. */
  readonly warm: ReadonlyMap<string, number>;
  /** How many answers of the program were a part and did not say so. */
  readonly parts?: number;
}

/** Where it is asked. */
interface Place {
  readonly folder: string;
  readonly uri: string;
  readonly position: Location["range"]["start"];
}

await command(async () => {
  const { values } = parseArgs({
    options: { rounds: { type: "string" }, project: { type: "string", default: "" }, program: { type: "string" } },
  });
  const rounds = Number(values.rounds ?? DEFAULT_ROUNDS);
  const projects = PROJECTS.filter(({ name }) => name.includes(values.project));
  if (!(rounds >= 1) || projects.length === 0) {
    const names = PROJECTS.map(({ name }) => name).join(", ");
    throw new Failure(`--rounds takes a number from 1 on, and --project a part of one of these: ${names}.`);
  }
  const program = values.program ?? (await buildHeadless("release"));
  const lines = [HEAD, `|${" --- |".repeat(HEAD.split("|").length - 2)}`];
  const warm = [WARM_HEAD];
  let parts = 0;
  for (const project of projects) {
    const alone: Start[] = [];
    const byProgram: Start[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const turns = [
        async () => alone.push(await inCopy(project, (place) => startAlone(project, place))),
        async () => byProgram.push(await inCopy(project, (place) => startByProgram(project, place, program))),
      ];
      for (const turn of round % 2 === 0 ? turns.toReversed() : turns) {
        await step(`${project.name}, round ${round} of ${rounds}`, turn);
      }
    }
    lines.push(rowOf(project, alone, byProgram));
    warm.push(...warmRows(project, alone, byProgram));
    parts += byProgram.reduce((sum, start) => sum + (start.parts ?? 0), 0);
  }
  lines.push("", ...warm, "", ...(await polyglot(projects, rounds, program)));
  process.stdout.write(`${lines.join("\n")}\n\nParts that did not say so: ${parts}.\n`);
  return parts === 0 ? 0 : 1;
});

/** Does the work in a copy of the project that no server has seen. */
async function inCopy(project: HeadlessProject, work: (place: Place) => Promise<Start>): Promise<Start> {
  return inCopies([project], ([place]) => work(place as Place));
}

/** Does the work in a folder with a copy of each project, in a folder of its own where there are several. */
async function inCopies(
  projects: readonly HeadlessProject[],
  work: (places: readonly Place[]) => Promise<Start>,
): Promise<Start> {
  const folder = temporaryFolder("headless");
  try {
    const places: Place[] = [];
    for (const [index, project] of projects.entries()) {
      const own = projects.length === 1 ? folder : join(folder, `project${index}`);
      mkdirSync(own, { recursive: true });
      await project.copyTo(own);
      places.push({ folder, ...placeIn(own, project.file, project.word, project.after) });
    }
    return await work(places);
  } finally {
    removeFolder(folder);
  }
}

/** How long the first whole answer of the program takes for each project by itself, and with all others beside it. */
async function polyglot(
  projects: readonly HeadlessProject[],
  rounds: number,
  program: string,
): Promise<readonly string[]> {
  const lines = ["| project | by itself: whole | among all: whole | times |", "| --- | --- | --- | --- |"];
  for (const [index, project] of projects.entries()) {
    const [byItself, among]: [number[], number[]] = [[], []];
    for (let round = 1; round <= rounds; round += 1) {
      await step(`${project.name} by itself and among all, round ${round} of ${rounds}`, async () => {
        const alone = await inCopy(project, (place) => startByProgram(project, place, program, projects));
        const beside = await inCopies(projects, (places) =>
          startByProgram(project, places[index] as Place, program, projects),
        );
        byItself.push(alone.whole);
        among.push(beside.whole);
      });
    }
    const [one, all] = [median(byItself), median(among)];
    lines.push(`| ${[project.name, seconds(one), seconds(all), (all / one).toFixed(2)].join(" | ")} |`);
  }
  return lines;
}

async function startAlone(project: HeadlessProject, place: Place): Promise<Start> {
  const installed = await project.server();
  // A server does more or less by what its client can do: pyright is slower where it has to watch the files itself.
  const capabilities = JSON.parse(readFileSync(CAPABILITIES, "utf8"));
  const begun = performance.now();
  const server = await LanguageServer.of(installed, place.folder, installed.initializationOptions, capabilities);
  const ready = project.ready(server, place.uri).then(() => performance.now() - begun);
  const references = () => server.references(place.uri, place.position).catch(isAgain);
  const items = await untilWhole(project, references);
  const whole = performance.now() - begun;
  const definition = await timed(useIn(items, place), (use) => server.definition(place.uri, use));
  const calls = WARM_CALLS.filter(({ question = "documentSymbol" }) => server.offers(question));
  const warm = await inTurn(calls, (call) => call.alone(server, { ...place, word: project.word }));
  const start = { whole, definition, warm, ready: await ready };
  await server.stop();
  return start;
}

/** Of a question that is to be asked again, nothing is known yet. */
function isAgain(error: unknown): undefined {
  if (error instanceof RpcError && AGAIN.has(error.code)) {
    return undefined;
  }
  throw error;
}

async function startByProgram(
  project: HeadlessProject,
  place: Place,
  program: string,
  projects: readonly HeadlessProject[] = [project],
): Promise<Start> {
  const own = temporaryFolder("own");
  const programs = join(own, "programs");
  mkdirSync(programs);
  linkPrograms(programs, await Promise.all(projects.map(({ server }) => server())));
  const env = ownEnvironment(own, programs);
  const begun = performance.now();
  const client = await StdioClient.start({
    program,
    args: ["--root", place.folder, "--trust", "--catalog", "core"],
    env,
  });
  const { uri, position } = place;
  let parts = 0;
  const references = async () => {
    const input = { uri, position, includeDeclaration: true, pageSize: MAX_PAGE };
    const page = await client.callOnce<Page<Location>>("vscode.lsp.references", input).catch(isRetryable);
    if (page === undefined || page.summary?.endsWith(UNCONFIRMED) === true) {
      return undefined;
    }
    parts += page.items.length === project.whole ? 0 : 1;
    return page.items;
  };
  const items = await untilWhole(project, references);
  const whole = performance.now() - begun;
  const definition = await timed(useIn(items, place), (use) =>
    client.callOnce<DefinitionPayload>("vscode.lsp.definition", { uri, position: use }),
  );
  const warm = await inTurn(projects.length === 1 ? WARM_CALLS : [], ({ tool, input }) =>
    client.callOnce(`vscode.lsp.${tool}`, input({ ...place, word: project.word })).catch(isUnavailable),
  );
  await client.close();
  removeFolder(own);
  return { whole, definition, warm, parts };
}

/** Each of the calls again and again, and the median of its times. */
async function inTurn(
  calls: readonly WarmCall[],
  ask: (call: WarmCall) => Promise<unknown>,
): Promise<ReadonlyMap<string, number>> {
  const medians = new Map<string, number>();
  for (const call of calls) {
    medians.set(call.name, await timed(call, ask, WARM_QUESTIONS));
  }
  return medians;
}

/** What the server cannot be asked has no row. */
function isUnavailable(error: unknown): undefined {
  if (error instanceof ToolFailure && error.code === "PROVIDER_UNAVAILABLE") {
    return undefined;
  }
  throw error;
}

function isRetryable(error: unknown): undefined {
  if (error instanceof ToolFailure && error.retryable) {
    return undefined;
  }
  throw error;
}

/** Asks until the answer is whole. */
async function untilWhole(
  { name, whole }: HeadlessProject,
  ask: () => Promise<readonly Location[] | undefined>,
): Promise<readonly Location[]> {
  for (const deadline = performance.now() + PATIENCE_MS; ; ) {
    const items = await ask();
    if (items?.length === whole) {
      return items;
    }
    if (performance.now() > deadline) {
      throw new Failure(`${name}: the answer stays at ${items?.length ?? "none"} of ${whole} references.`);
    }
    await delay(PAUSE_MS);
  }
}

/** Where the same file names it first apart from the place that was asked about. */
function useIn(items: readonly Location[], { uri, position }: Place): Location["range"]["start"] {
  const isAsked = ({ range: { start } }: Location): boolean =>
    start.line === position.line && start.character === position.character;
  const use = items.find((item) => item.uri === uri && !isAsked(item));
  if (use === undefined) {
    throw new Failure(`${uri} names what is asked about at one place only.`);
  }
  return use.range.start;
}

/** Asks the same again and again, and takes the median of the times, in milliseconds. */
async function timed<About>(
  about: About,
  ask: (about: About) => Promise<unknown>,
  questions = DEFINITIONS,
): Promise<number> {
  const times: number[] = [];
  for (let question = 0; question < questions; question += 1) {
    const asked = performance.now();
    await ask(about);
    times.push(performance.now() - asked);
  }
  return median(times);
}

function rowOf({ name, whole }: HeadlessProject, alone: readonly Start[], byProgram: readonly Start[]): string {
  const middle = (starts: readonly Start[], figure: (start: Start) => number) => median(starts.map(figure));
  const [wholeAlone, wholeByProgram] = [alone, byProgram].map((starts) => middle(starts, (start) => start.whole));
  const [aDefinition, itsDefinition] = [alone, byProgram].map((starts) => middle(starts, (start) => start.definition));
  const ready = middle(alone, (start) => start.ready ?? Number.NaN);
  return `| ${[
    ...[name, whole, seconds(ready)],
    ...[wholeAlone, wholeByProgram, difference(wholeAlone, wholeByProgram)].map(seconds),
    ...[aDefinition, itsDefinition, difference(aDefinition, itsDefinition)].map(millis),
  ].join(" | ")} |`;
}

function warmRows({ name }: HeadlessProject, alone: readonly Start[], byProgram: readonly Start[]): readonly string[] {
  const middle = (starts: readonly Start[], call: string) =>
    median(starts.map(({ warm }) => warm.get(call) ?? Number.NaN));
  const calls = WARM_CALLS.filter((call) => alone[0]?.warm.has(call.name));
  return calls.map((call) => warmRow(name, call.name, middle(alone, call.name), middle(byProgram, call.name)));
}

function difference(one = Number.NaN, other = Number.NaN): number {
  return other - one;
}

function seconds(milliseconds = Number.NaN): string {
  return `${(milliseconds / 1e3).toFixed(2)} s`;
}

function millis(milliseconds = Number.NaN): string {
  return `${milliseconds.toFixed(2)} ms`;
}
