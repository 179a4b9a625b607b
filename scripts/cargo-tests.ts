// Runs the tests of the Rust workspace and counts what really ran.

import { spawn } from "node:child_process";
import { RUST_MISSING } from "../harness/build/addon.ts";
import { root } from "../harness/layout.ts";
import { succeed } from "../harness/machine/processes.mjs";
import { say, step } from "../harness/machine/progress.mjs";
import { emptyTally, type Tally } from "../harness/results/tally.ts";

export interface Options {
  /** Only tests whose name contains this text. */
  readonly grep?: string | undefined;
  /** How many cases each property is tried on. */
  readonly cases?: number;
  /** Where the cases come from; if it is not given, from the seed in .cargo/config.toml. */
  readonly seed?: number;
}

const CARGO_TEST = ["test", "--workspace", "--locked"];

export async function runCargoTests({ grep, cases, seed }: Options): Promise<Tally> {
  await succeed(RUST_MISSING, "cargo", ["--version"], { cwd: root }, RUST_MISSING);
  const proptest = {
    ...(cases === undefined ? {} : { PROPTEST_CASES: String(cases) }),
    ...(seed === undefined ? {} : { PROPTEST_RNG_SEED: String(seed) }),
  };
  const environment = Object.entries(proptest).map(([name, value]) => `${name}=${value} `);
  const { code, stdout, stderr } = await step(`${environment.join("")}cargo test`, () =>
    runCargo([...CARGO_TEST, "--no-fail-fast", ...(grep === undefined ? [] : ["--", grep])], proptest),
  );
  const outcomes = [...stdout.matchAll(/^test (.+) \.\.\. (ok|FAILED|ignored)/gm)];
  const broken = outcomes.filter(([, , outcome]) => outcome !== "ok");
  const failures = broken.map(([, test = "", outcome]) => {
    const alone = `${environment.join("")}cargo test --workspace -- --exact '${test}'`;
    return `FAIL ${test} (cargo test): ${outcome}\n       alone: ${alone}\n${reported(stdout, test)}`;
  });
  if (code !== 0 && failures.length === 0) {
    failures.push(`FAIL cargo test, before its tests could run\n${stderr.trimEnd()}`);
  }
  if (outcomes.length === 0 && failures.length === 0) {
    failures.push("FAIL No test of the layer core ran.");
  }
  failures.forEach(say);
  return { ...emptyTally(), passed: outcomes.length - broken.length, failures, times: times(stdout, stderr) };
}

/** What a failed test printed. */
function reported(stdout: string, test: string): string {
  const start = stdout.indexOf(`---- ${test} stdout ----`);
  return start === -1
    ? ""
    : (stdout
        .slice(start)
        .split(/\n---- |\nfailures:/, 1)[0]
        ?.trimEnd() ?? "");
}

/** The time of each test program: Rust's test runner tells none of single tests. The two streams tell of them in one order. */
function times(stdout: string, stderr: string): Tally["times"] {
  const programs = [...stderr.matchAll(/^ +(?:Running (?:unittests )?|Doc-tests )(\S+)(?: \(.*\/(\w+)-\w+\))?$/gm)];
  const seconds = [...stdout.matchAll(/^test result: .* finished in ([\d.]+)s$/gm)];
  return programs.map(([, path, program], index) => ({
    name: `all of ${path} (cargo test, ${program ?? "documentation"})`,
    ms: Number(seconds[index]?.[1] ?? 0) * 1000,
  }));
}

function runCargo(
  args: readonly string[],
  more: NodeJS.ProcessEnv,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("cargo", args, {
      cwd: root,
      env: { ...process.env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const collected = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      collected.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      collected.stderr += text;
    });
    child.on("error", reject);
    child.on("close", (exit) => resolve({ code: exit ?? 1, ...collected }));
  });
}
