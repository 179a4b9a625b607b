// `npm test`: the checks and every layer. `npm run test:<layer>` runs one. `-- --grep TEXT` picks tests by name.

import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildAddon, RUST_MISSING } from "./addon.ts";
import { bundleExtension } from "./bundle.ts";
import { buildFuzzTargets, runFuzzTargets } from "./fuzzing.ts";
import { root } from "./layout.ts";
import { runNodeTests, type Tally } from "./node-tests.ts";
import { succeed } from "./processes.mjs";
import { command, Failure, say } from "./progress.mjs";
import { packVsix } from "./vsix.ts";

interface Layer {
  /** What has to be there first. */
  readonly prepare: () => Promise<unknown>;
  readonly tests: (grep: string | undefined) => Promise<Tally>;
}

/** How long each fuzz target runs here; `npm run fuzz` runs one for as long as wanted. */
const FUZZ_SECONDS = 20;

const LAYERS: Readonly<Record<string, Layer>> = {
  core: { prepare: async () => {}, tests: runCargoTests },
  fuzz: { prepare: buildFuzzTargets, tests: (grep) => runFuzzTargets(FUZZ_SECONDS, grep) },
  native: {
    prepare: async () => Promise.all([buildAddon(), bundleExtension()]),
    tests: (grep) => runNodeTests({ files: testFiles("native", "extension", "view", "scripts"), grep, concurrency: 2 }),
  },
  clients: {
    prepare: buildAddon,
    tests: (grep) => runNodeTests({ files: testFiles("clients"), grep, concurrency: 2 }),
  },
  // One file at a time: each has an editor of its own, and two of them at once on a small machine measure each other.
  host: { prepare: packVsix, tests: (grep) => runNodeTests({ files: testFiles("host"), grep, concurrency: 1 }) },
};

await command(async () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { grep: { type: "string" } } });
  const [name] = positionals;
  const total: Tally = { passed: 0, failures: [], notRun: [] };
  if (name === undefined) {
    total.failures.push(...(await failedChecks()));
  } else if (LAYERS[name] === undefined) {
    throw new Failure(`There is no layer ${JSON.stringify(name)}: use one of ${Object.keys(LAYERS).join(", ")}.`);
  }
  for (const [layer, { prepare, tests }] of Object.entries(LAYERS)) {
    if (name !== undefined && name !== layer) {
      continue;
    }
    say(`\n${layer}`);
    const tally = await tallyOf(layer, prepare, () => tests(values.grep));
    if (name === undefined) {
      say(`${layer}: ${tally.passed} passed, ${tally.failures.length} failed`);
    }
    total.passed += tally.passed;
    total.failures.push(...tally.failures);
    total.notRun.push(...tally.notRun);
  }
  for (const missing of total.notRun) {
    say(missing);
  }
  // Once more, since what failed may stand thousands of lines above.
  for (const failure of total.failures) {
    say(`\n${firstLines(failure)}`);
  }
  process.stdout.write(`${total.passed} passed, ${total.failures.length} failed\n`);
  return total.failures.length === 0 ? 0 : 1;
});

/** As much of a failure as tells what it was about. */
function firstLines(failure: string): string {
  return failure.split("\n").slice(0, 20).join("\n");
}

/** Whatever keeps a layer from running its tests counts as one failure, and so does a layer without any test. */
async function tallyOf(layer: string, prepare: () => Promise<unknown>, tests: () => Promise<Tally>): Promise<Tally> {
  try {
    await prepare();
    const tally = await tests();
    return tally.passed + tally.failures.length === 0 ? failure(`FAIL No test of the layer ${layer} ran.`) : tally;
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    return failure(error.message);
  }
}

function failure(reason: string): Tally {
  say(reason);
  return { passed: 0, failures: [reason], notRun: [] };
}

/** Runs `npm run check` and resolves to what failed, which is one thing at most. */
function failedChecks(): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["scripts/check.ts"], { cwd: root, stdio: ["ignore", 2, 2] });
    child.on("error", reject);
    child.on("exit", (code) => resolve(code === 0 ? [] : ["FAIL npm run check"]));
  });
}

async function runCargoTests(grep: string | undefined): Promise<Tally> {
  await succeed(RUST_MISSING, "cargo", ["--version"], { cwd: root }, RUST_MISSING);
  const args = ["test", "--workspace", "--no-fail-fast", "--locked", ...(grep === undefined ? [] : ["--", grep])];
  const { code, output } = await new Promise<{ code: number; output: string }>((resolve, reject) => {
    const child = spawn("cargo", args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    let collected = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      collected += text;
      process.stderr.write(text);
    });
    child.on("error", reject);
    child.on("close", (exit) => resolve({ code: exit ?? 1, output: collected }));
  });
  const tally: Tally = { passed: 0, failures: [], notRun: [] };
  for (const [, test, outcome] of output.matchAll(/^test (.+) \.\.\. (ok|FAILED|ignored)/gm)) {
    if (outcome === "ok") {
      tally.passed += 1;
    } else {
      tally.failures.push(`FAIL ${test} (cargo test): ${outcome}`);
    }
  }
  if (code !== 0 && tally.failures.length === 0) {
    throw new Failure("cargo test failed before its tests could run: mend what it reports above.");
  }
  return tally;
}

function testFiles(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root })).sort();
}
