// `npm test`: every test. `npm run test:fast`: what needs no addon. `npm run test:all`: everything for longer.
// `npm run test:<layer>`: one layer. `-- FILE` picks test files, `-- --grep TEXT` tests, by a part of their name.

import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildAddon } from "../harness/build/addon.ts";
import { bundleExtension } from "../harness/build/bundle.ts";
import { packVsix } from "../harness/build/vsix.ts";
import { RealVsCode } from "../harness/editor/real-vscode.ts";
import { root } from "../harness/layout.ts";
import { command, Failure, say } from "../harness/machine/progress.mjs";
import { runNodeTests } from "../harness/results/node-tests.ts";
import { emptyTally, printTally, type Tally } from "../harness/results/tally.ts";
import { runCargoTests } from "./cargo-tests.ts";
import { type CheckScope, runChecks } from "./checks.ts";
import { buildFuzzTargets, runFuzzTargets } from "./fuzzing.ts";

/** How many cases each property is tried on. Proptest tries 256 unless told otherwise. */
const FEW_CASES = 32;
const MANY_CASES = 2_560;
/** How many seeds `npm run test:all` tries besides the usual one. */
const MORE_SEEDS = 3;
/** How long each fuzz target runs in `npm run test:all`. */
const FUZZ_SECONDS = 120;

const FILES_AT_ONCE = 2;

/** What is to be run of a layer. */
interface Selection {
  /** Only files whose path contains one of these texts. */
  readonly files: readonly string[];
  /** Only tests whose name, or the name of a suite around them, contains this text. */
  readonly grep: string | undefined;
}

const EVERYTHING: Selection = { files: [], grep: undefined };

/** The folders in `test` whose files belong to a layer. */
const FOLDERS = {
  /** Plain Node: neither the addon nor an editor. */
  plain: ["documents", "extension", "harness", "view"],
  native: ["native"],
  clients: ["clients"],
  /** A real VS Code. */
  host: ["host"],
} as const;

type NodeLayer = keyof typeof FOLDERS;

const LAYERS: Readonly<Record<string, (selection: Selection) => Promise<Tally>>> = {
  core: async ({ grep }) => runCargoTests({ grep }),
  plain: async (selection) => nodeTests(["plain"], selection),
  native: async (selection) =>
    (await prepare(buildAddon("dev"), bundleExtension())) ?? nodeTests(["native"], selection),
  clients: async (selection) => (await prepare(buildAddon("dev"))) ?? nodeTests(["clients"], selection),
  host: async (selection) => (await prepare(packVsix("dev"))) ?? nodeTests(["host"], selection),
};

const TIERS: Readonly<Record<string, () => Promise<Tally[]>>> = {
  fast: async () => [
    ...(await Promise.all([checks("quick"), nodeTests(["plain"], EVERYTHING)])),
    await runCargoTests({ cases: FEW_CASES }),
  ],
  whole,
  all: async () => [
    ...(await whole()),
    await runCargoTests({ cases: MANY_CASES }),
    ...(await moreSeeds()),
    (await prepare(buildFuzzTargets())) ?? (await runFuzzTargets(FUZZ_SECONDS)),
    (await prepare(packVsix("release"))) ?? emptyTally(),
  ],
};

await command(async () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { grep: { type: "string" } } });
  const [name = "whole", ...files] = positionals;
  const started = performance.now();
  const layer = LAYERS[name];
  const tier = TIERS[name];
  if (layer === undefined && tier === undefined) {
    const known = [...Object.keys(LAYERS), ...Object.keys(TIERS)].join(", ");
    throw new Failure(`There is no layer ${JSON.stringify(name)}: use one of ${known}.`);
  }
  if (layer === undefined && (files.length > 0 || values.grep !== undefined)) {
    throw new Failure(
      `Files and --grep are for one layer: use npm run test:<layer>, one of ${Object.keys(LAYERS).join(", ")}.`,
    );
  }
  if (name === "all") {
    process.env["GATEWAY_LONGER"] = "1";
  }
  const tallies = layer === undefined ? await tier?.() : [await layer({ files, grep: values.grep })];
  return printTally(name, tallies ?? [], performance.now() - started);
});

/**
 * Everything, in two parts. First what says soon that something is wrong, while the compilers and the downloads that the
 * rest needs are at work. Then everything that runs the product, two files at a time: nothing there measures time.
 */
async function whole(): Promise<Tally[]> {
  const installed = prepare(RealVsCode.install());
  // One of the checks compiles the addon.
  const [checked, plain] = await Promise.all([checks("full"), nodeTests(["plain"], EVERYTHING)]);
  // Packing takes one core for a while, and so do parts of compiling.
  const [core, unpacked] = await Promise.all([runCargoTests({}), prepare(packVsix("dev"))]);
  const unprepared = unpacked ?? (await installed);
  return [checked, plain, core, unprepared ?? (await nodeTests(["host", "clients", "native"], EVERYTHING))];
}

/** The property tests once more, from other seeds. */
async function moreSeeds(): Promise<Tally[]> {
  const tallies: Tally[] = [];
  for (let seed = 1; seed <= MORE_SEEDS; seed += 1) {
    tallies.push(await runCargoTests({ seed }));
  }
  return tallies;
}

/** What keeps tests from being run, as one failure; undefined if nothing does. */
async function prepare(...work: readonly Promise<unknown>[]): Promise<Tally | undefined> {
  try {
    await Promise.all(work);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    say(error.message);
    return { ...emptyTally(), failures: [error.message] };
  }
}

async function checks(scope: CheckScope): Promise<Tally> {
  const { failures } = await runChecks(scope);
  return { ...emptyTally(), failures: failures.map((failure) => `FAIL npm run check: ${failure}`) };
}

async function nodeTests(layers: readonly NodeLayer[], { files, grep }: Selection): Promise<Tally> {
  const folders = layers.flatMap((layer) => FOLDERS[layer]);
  const all = folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root }).sort());
  const picked = all.filter((file) => files.length === 0 || files.some((part) => file.includes(part)));
  const tally = await runNodeTests({ files: picked, grep, concurrency: FILES_AT_ONCE, layerOf });
  const empty = layers.filter((layer) => !picked.some((file) => layerOf(file) === layer));
  return {
    ...tally,
    failures: [...tally.failures, ...empty.map((layer) => `FAIL No test of the layer ${layer} ran.`)],
  };
}

function layerOf(file: string): string {
  const folder = file.split("/")[1] ?? "";
  return Object.entries(FOLDERS).find(([, folders]) => (folders as readonly string[]).includes(folder))?.[0] ?? folder;
}
