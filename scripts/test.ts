// `npm test`: the checks and every layer. `npm run test:<layer>` runs one. `-- --grep TEXT` picks tests by name.

import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { buildAddon, RUST_MISSING } from "./addon.ts";
import { bundleExtension } from "./bundle.ts";
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

const LAYERS: Readonly<Record<string, Layer>> = {
  core: { prepare: async () => {}, tests: runCargoTests },
  native: {
    prepare: async () => Promise.all([buildAddon(), bundleExtension()]),
    tests: (grep) => runNodeTests({ files: testFiles("native", "extension", "scripts"), grep, concurrency: 2 }),
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
  const total: Tally = { passed: 0, failed: 0 };
  if (name === undefined) {
    total.failed += await failedChecks();
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
      say(`${layer}: ${tally.passed} passed, ${tally.failed} failed`);
    }
    total.passed += tally.passed;
    total.failed += tally.failed;
  }
  process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`);
  return total.failed === 0 ? 0 : 1;
});

/** Whatever keeps a layer from running its tests counts as one failure, and so does a layer without any test. */
async function tallyOf(layer: string, prepare: () => Promise<unknown>, tests: () => Promise<Tally>): Promise<Tally> {
  try {
    await prepare();
    const tally = await tests();
    if (tally.passed + tally.failed === 0) {
      say(`FAIL No test of the layer ${layer} ran.`);
      return { passed: 0, failed: 1 };
    }
    return tally;
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    say(error.message);
    return { passed: 0, failed: 1 };
  }
}

/** Runs `npm run check` and resolves to 1 if it failed. */
function failedChecks(): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["scripts/check.ts"], { cwd: root, stdio: ["ignore", 2, 2] });
    child.on("error", reject);
    child.on("exit", (code) => resolve(code === 0 ? 0 : 1));
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
  const tally: Tally = { passed: 0, failed: 0 };
  for (const [, passed, failed, ignored] of output.matchAll(
    /^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored/gm,
  )) {
    tally.passed += Number(passed);
    tally.failed += Number(failed) + Number(ignored);
  }
  if (code !== 0 && tally.failed === 0) {
    throw new Failure("cargo test failed before its tests could run: mend what it reports above.");
  }
  return tally;
}

function testFiles(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) => globSync(`test/${folder}/**/*.test.ts`, { cwd: root })).sort();
}
