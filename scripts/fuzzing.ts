// Builds the fuzz targets of native/fuzz with libFuzzer, and runs them.

import { spawn } from "node:child_process";
import { globSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { RUST_MISSING } from "../harness/build/addon.ts";
import { root } from "../harness/layout.ts";
import { succeed } from "../harness/machine/processes.mjs";
import { Failure, say, step } from "../harness/machine/progress.mjs";
import { ensureCppCompiler } from "../harness/machine/system-packages.ts";
import { emptyTally, type Tally } from "../harness/results/tally.ts";

const TARGETS = join(root, "native", "fuzz");
const CRATE = join(TARGETS, "libfuzzer");
/** What is built and found lies here, outside git. */
const BUILT = join(root, "target", "fuzz");

/** The targets, by the names of their files. */
export const FUZZ_TARGETS: readonly string[] = globSync("fuzz_targets/*.rs", { cwd: CRATE })
  .map((file) => basename(file, ".rs"))
  .sort();

/**
 * Coverage as libFuzzer counts it. These flags work with a stable compiler, which has LLVM's pass but no option of its own
 * for it. No sanitizer is linked: core and server have no `unsafe`, so what is looked for is panics and broken invariants.
 */
const RUSTFLAGS = [
  "--cfg=fuzzing",
  "-Cpasses=sancov-module",
  "-Cllvm-args=-sanitizer-coverage-level=4",
  "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
  "-Cllvm-args=-sanitizer-coverage-pc-table",
  "-Cllvm-args=-sanitizer-coverage-trace-compares",
].join(" ");

/** What one run did, as libFuzzer counts. */
export interface FuzzRun {
  readonly executions: number;
  readonly coverage: number;
  readonly features: number;
}

/** Builds all targets. Cargo does nothing where nothing has changed. */
export async function buildFuzzTargets(): Promise<void> {
  await ensureCppCompiler();
  await step("Compiling the fuzz targets", async () => {
    await succeed(RUST_MISSING, "cargo", ["--version"], { cwd: root }, RUST_MISSING);
    await succeed(
      "Compiling the fuzz targets failed: mend what the compiler reports above.",
      "cargo",
      // The host is named so that the flags hold for what runs under libFuzzer and not for build scripts.
      ["build", "--release", "--locked", "--target", await hostTriple(), "--target-dir", BUILT],
      { cwd: CRATE, env: { ...process.env, RUSTFLAGS } },
    );
  });
}

/** Builds one target if need be and runs it; fails if it finds something. `told` gets libFuzzer's own lines. */
export async function fuzz(target: string, seconds: number, told: (line: string) => void): Promise<FuzzRun> {
  await buildFuzzTargets();
  return run(target, seconds, told);
}

/** Runs the targets, each for so many seconds and two at a time; each counts as one test. */
export async function runFuzzTargets(seconds: number): Promise<Tally> {
  let passed = 0;
  const failures: string[] = [];
  const waiting = [...FUZZ_TARGETS];
  const runOneAfterAnother = async () => {
    for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
      try {
        const { executions, coverage, features } = await run(target, seconds, () => {});
        say(`ok   fuzz: ${target}: ${executions} executions in ${seconds} s, cov ${coverage}, ft ${features}`);
        passed += 1;
      } catch (error) {
        if (!(error instanceof Failure)) {
          throw error;
        }
        const failure = `FAIL fuzz: ${target}\n       alone: npm run fuzz -- ${target} --seconds ${seconds}\n${error.message}`;
        say(failure);
        failures.push(failure);
      }
    }
  };
  await Promise.all([runOneAfterAnother(), runOneAfterAnother()]);
  return { ...emptyTally(), passed, failures };
}

async function run(target: string, seconds: number, told: (line: string) => void): Promise<FuzzRun> {
  const found = join(BUILT, "found", target);
  const corpus = join(BUILT, "corpus", target);
  for (const folder of [found, corpus]) {
    mkdirSync(folder, { recursive: true });
  }
  const committed = globSync(`corpus/${target}`, { cwd: TARGETS }).map((folder) => join(TARGETS, folder));
  const dictionary = globSync(`dictionaries/${target}.dict`, { cwd: TARGETS }).map((file) => join(TARGETS, file));
  const program = join(BUILT, await hostTriple(), "release", target);
  const args = [
    `-max_total_time=${seconds}`,
    "-print_final_stats=1",
    // An input that takes so long is a finding: it would hold up everybody else.
    "-timeout=20",
    "-rss_limit_mb=2048",
    // Whole sequences from the start, instead of ones that grow with time.
    "-len_control=0",
    `-artifact_prefix=${found}/`,
    ...dictionary.map((file) => `-dict=${file}`),
    corpus,
    ...committed,
  ];
  const { code, output } = await new Promise<{ code: number; output: string }>((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
    let collected = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      collected = (collected + text).slice(-40_000);
      text.split("\n").filter(Boolean).forEach(told);
    });
    child.on("error", reject);
    child.on("close", (exit) => resolve({ code: exit ?? 1, output: collected }));
  });
  if (code !== 0) {
    const tail = output.trimEnd().split("\n").slice(-40).join("\n");
    throw new Failure(
      `${tail}\nThe input that broke ${target} lies in ${found}: run ${program} with it to see it again.`,
    );
  }
  const [, coverage, features] = /cov: (\d+) ft: (\d+)(?![\s\S]*cov: )/.exec(output) ?? [];
  const [, executions] = /stat::number_of_executed_units: (\d+)/.exec(output) ?? [];
  if (!(Number(executions) > 0 && Number(coverage) > 0)) {
    throw new Failure(`${output}\n${target} did not run: libFuzzer reports no executions, or none that were observed.`);
  }
  return { executions: Number(executions), coverage: Number(coverage), features: Number(features) };
}

async function hostTriple(): Promise<string> {
  const { stdout } = await succeed(RUST_MISSING, "rustc", ["-vV"], { cwd: root }, RUST_MISSING);
  const [, host] = /^host: (.+)$/m.exec(stdout) ?? [];
  if (host === undefined) {
    throw new Failure("rustc -vV names no host: install Rust by rustup and try again.");
  }
  return host;
}
