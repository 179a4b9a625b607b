// `npm run bench:freshness`: writes files under a real VS Code and asks at once, on rxjs and on a Python project. Prints how
// many answers were about the files before the write, and how long the right ones took from the write on, beside the time
// until VS Code's own command is right, called in the same window. Then the same without an editor, by four language
// servers, some of the writes being checkouts of many files. `-- --language python` takes only what has that in its name,
// and `--trials N` and `--seed N` other trials. At the end, what it costs to watch very many files; `--watch` takes only that.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildAddon } from "../harness/build/addon.ts";
import { buildHeadless } from "../harness/build/headless.ts";
import { packVsix } from "../harness/build/vsix.ts";
import { StdioClient } from "../harness/clients/stdio-client.ts";
import {
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
  temporaryFolder,
} from "../harness/editor/gateway-window.ts";
import { type AskedProject, ON_FLASK, ON_FLEET, ON_RXJS, ON_SEMVER } from "../harness/languages/asked-projects.ts";
import { LanguageProject } from "../harness/languages/language-project.ts";
import {
  clangd,
  type InstalledServer,
  linkPrograms,
  pyright,
  rustAnalyzer,
  typescript7,
} from "../harness/languages/language-servers.ts";
import {
  CPP,
  type Language,
  OwnWrites,
  PYTHON,
  RUST,
  type Trial,
  TYPESCRIPT,
} from "../harness/languages/own-writes.ts";
import { RxjsWorkspace } from "../harness/languages/rxjs-workspace.ts";
import { ownEnvironment } from "../harness/machine/own-environment.ts";
import { command, Failure, say, step } from "../harness/machine/progress.mjs";
import { median } from "../harness/results/table.ts";
import { buildRustBench, RustProcess } from "./bench/rust.ts";
import { compareLoops } from "./bench/watching.ts";

const DEFAULT_TRIALS = 1_000;
const DEFAULT_SEED = 20_251_122;
/** Of the trials, one in so many is made with VS Code's own commands as well. */
const COMPARED = 5;

const WATCHED_FILES = 100_000;
const LOOKS = 10_000;

/** What native/bench says of a watch. */
interface Costs {
  readonly firstWalkMs: number;
  readonly residentBytes: number;
  /** Each, in microseconds. */
  readonly looks: readonly number[];
}

/** What came of the trials in one language. */
interface Outcomes {
  readonly gateway: readonly Trial[];
  readonly editor: readonly Trial[];
}

const TRIED = [
  { language: "TypeScript", project: "rxjs", trials: typescript, inEditor: true },
  { language: "Python", project: "a Python project", trials: python, inEditor: true },
  {
    language: "TypeScript 7, no editor",
    project: "rxjs",
    trials: withoutEditor(typescript7, ON_RXJS, TYPESCRIPT),
    inEditor: false,
  },
  {
    language: "Python, no editor",
    project: "flask",
    trials: withoutEditor(pyright, ON_FLASK, PYTHON),
    inEditor: false,
  },
  { language: "C++, no editor", project: "40 files", trials: withoutEditor(clangd, ON_FLEET, CPP), inEditor: false },
  {
    language: "Rust, no editor",
    project: "semver",
    trials: withoutEditor(rustAnalyzer, ON_SEMVER, RUST),
    inEditor: false,
  },
];

await command(async () => {
  const { values } = parseArgs({
    options: {
      trials: { type: "string" },
      seed: { type: "string" },
      language: { type: "string", default: "" },
      watch: { type: "boolean" },
    },
  });
  if (values.watch === true) {
    await watch();
    return 0;
  }
  const count = Number(values.trials ?? DEFAULT_TRIALS);
  const seed = Number(values.seed ?? DEFAULT_SEED);
  if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed)) {
    throw new Failure("--trials takes a number from 1 on, and --seed a whole number.");
  }
  const tried = TRIED.filter(({ language }) => language.toLowerCase().includes(values.language.toLowerCase()));
  if (tried.length === 0) {
    throw new Failure(`--language takes a part of one of these: ${TRIED.map(({ language }) => language).join(", ")}.`);
  }
  if (tried.some(({ inEditor }) => inEditor)) {
    await packVsix("release");
  }
  const languages: [string, Outcomes][] = [];
  for (const { language, project, trials } of tried) {
    languages.push([language, await step(`${count} trials on ${project}`, () => trials(count, seed))]);
  }
  say("| | trials | stale | errors | right within three calls | median | p99 |");
  say("| --- | --- | --- | --- | --- | --- | --- |");
  for (const [language, { gateway, editor }] of languages) {
    for (const [whose, trials] of [["the gateway", gateway] as const, ["VS Code's own commands", editor] as const]) {
      const kinds = [...new Set(trials.map(kindOf))].sort();
      const rows = kinds.map((kind) =>
        line(
          `${kind}: ${whose}`,
          trials.filter((trial) => kindOf(trial) === kind),
        ),
      );
      const all = trials.length === 0 ? [] : [line(`${language}: ${whose}`, trials)];
      for (const row of [...all, ...rows]) {
        say(row);
      }
    }
  }
  const wrong = languages.flatMap(([, { gateway }]) => gateway.filter(({ outcome }) => outcome !== "right"));
  for (const { write, question, outcome, answer } of wrong) {
    say(`${outcome}: ${write}, ${question}: ${answer}`);
  }
  await watch();
  return wrong.some(({ outcome }) => outcome === "stale") ? 1 : 0;
});

async function typescript(count: number, seed: number): Promise<Outcomes> {
  const rxjs = await RxjsWorkspace.create();
  const editor = await startEditor();
  try {
    const gateway = await openGateway(editor, rxjs.folder);
    const { uri, position } = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
    await gateway.client.references(uri, position);
    const outcomes = await run(gateway, rxjs.folder, TYPESCRIPT, count, seed);
    await gateway.client.close();
    return outcomes;
  } finally {
    await editor.stop();
    rxjs.remove();
  }
}

async function python(count: number, seed: number): Promise<Outcomes> {
  const project = await LanguageProject.open("python", await pyright());
  try {
    await project.untilWhole("fleet.py", { line: 0, character: 6 }, 6);
    return await run(project.gateway, project.folder, PYTHON, count, seed);
  } finally {
    await project.close();
  }
}

function withoutEditor(server: () => Promise<InstalledServer>, { copyTo }: AskedProject, language: Language) {
  return async (count: number, seed: number): Promise<Outcomes> => {
    const [program, folder, own] = [await buildHeadless("release"), temporaryFolder("written"), temporaryFolder("own")];
    try {
      await copyTo(folder);
      linkPrograms(own, [await server()]);
      const trials = OwnWrites.begin(folder, language, seed, { checkouts: true });
      const args = ["--root", folder, "--trust"];
      const client = await StdioClient.start({ program, args, env: ownEnvironment(join(own, "kept"), own) });
      await trials.begun(client);
      const gateway: Trial[] = [];
      while (gateway.length < count) {
        gateway.push(await trials.next(client));
      }
      await client.close();
      return { gateway, editor: [] };
    } finally {
      removeFolder(folder);
      removeFolder(own);
    }
  };
}

async function run(
  { window, client }: GatewayWindow,
  folder: string,
  language: Language,
  count: number,
  seed: number,
): Promise<Outcomes> {
  const trials = OwnWrites.begin(folder, language, seed);
  // VS Code publishes what is wrong only with documents that it shows.
  await window.openFile(language.user.file);
  // First, before the gateway has any of the files opened.
  const editor: Trial[] = [];
  while (editor.length * COMPARED < count) {
    editor.push(await trials.nextInEditor(window));
  }
  const gateway: Trial[] = [];
  while (gateway.length < count) {
    const trial = await trials.next(client);
    gateway.push(trial.outcome === "stale" ? await withWhatFollowed(trial) : trial);
  }
  return { gateway, editor };

  /** Nobody can be right for a language server that stays wrong. */
  async function withWhatFollowed(trial: Trial): Promise<Trial> {
    const { outcome, ms } = await trials.againInEditor(window, trial.question);
    const told =
      outcome === "right" ? `were right ${Math.round(ms)} ms later` : `stayed wrong for ${Math.round(ms)} ms`;
    const answer = `${trial.answer} in trial ${gateway.length}; VS Code's own commands ${told}`;
    return { ...trial, outcome: outcome === "right" ? "stale" : "server", answer };
  }
}

/** What it costs to watch, on Linux. A question looks three times, at each root. */
async function watch(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "gateway-watch-"));
  try {
    await buildRustBench();
    const costs = await new RustProcess("watch").answer<Costs>({ root, files: WATCHED_FILES, rounds: LOOKS });
    say(`A look when nothing was written: ${median(costs.looks).toFixed(1)} µs.`);
    const [seconds, megabytes] = [costs.firstWalkMs / 1_000, costs.residentBytes / 1e6];
    say(`${WATCHED_FILES} files: ${seconds.toFixed(1)} s for the first walk, ${megabytes.toFixed(0)} MB.`);
  } finally {
    rmSync(root, { recursive: true });
  }
  await buildAddon("release");
  await compareLoops(WATCHED_FILES);
}

function kindOf({ write, question }: Trial): string {
  return `${write}, ${question}`;
}

function line(name: string, trials: readonly Trial[]): string {
  const right = trials.filter(({ outcome }) => outcome === "right");
  const times = right.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string => `${Math.round(times[Math.floor(times.length * share)] ?? Number.NaN)} ms`;
  const stale = trials.filter(({ outcome }) => outcome === "stale").length;
  const errors = trials.filter(({ outcome }) => outcome === "unanswered").length;
  const share = ((100 * right.length) / trials.length).toFixed(1);
  return `| ${[name, trials.length, stale, errors, `${share} %`, at(0.5), at(0.99)].join(" | ")} |`;
}
