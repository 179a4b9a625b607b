// Runs test files under node:test and counts what really ran.

import { relative, resolve } from "node:path";
import { run } from "node:test";
import { root } from "./layout.ts";
import { say } from "./progress.mjs";

export interface Tally {
  passed: number;
  /** What failed: the name of each, and what it reported. */
  readonly failures: string[];
  /** What this machine cannot run, and why. */
  readonly notRun: string[];
}

export interface Selection {
  readonly files: readonly string[];
  /** Only tests whose name, or the name of a suite around them, contains this text. */
  readonly grep: string | undefined;
  /** How many files run at the same time. */
  readonly concurrency: number;
}

/** A test that takes longer hangs, and would keep all the others from being run. */
const LONGEST_TEST = 20 * 60_000;

/**
 * Runs the tests and prints one line for each. A test that is skipped without a reason counts as failed, since it proves
 * nothing; one that says what the machine lacks is told of, and counts as neither.
 */
export async function runNodeTests({ files, grep, concurrency }: Selection): Promise<Tally> {
  const tally: Tally = { passed: 0, failures: [], notRun: [] };
  const wholeFiles = new Set(files.map((file) => resolve(root, file)));
  const pattern = grep === undefined ? {} : { testNamePatterns: [new RegExp(grep.replaceAll(/[^\w\s]/g, "\\$&"))] };
  const stream = run({ files: [...wholeFiles], concurrency, timeout: LONGEST_TEST, ...pattern });
  for await (const { type, data } of stream) {
    if (type === "test:stdout" || type === "test:stderr") {
      process.stderr.write(data.message);
    }
    // What a test has to report. The counts at the end of a file come the same way, and from no file.
    if (type === "test:diagnostic" && data.file !== undefined) {
      say(indent(data.message));
    }
    if (type !== "test:pass" && type !== "test:fail") {
      continue;
    }
    // Each file is reported as if it were a test, and so is each suite. A file counts only if it broke as a whole.
    const isFile = wholeFiles.has(resolve(root, data.name));
    const passed = type === "test:pass" && data.skip === undefined && data.todo === undefined;
    const isContainer = data.details.type === "suite" || isFile;
    if (isContainer && (passed || onlyTestsInsideFailed(data.details))) {
      continue;
    }
    const where = data.file === undefined ? "" : ` (${relative(root, data.file)})`;
    const time = `${Math.round(data.details.duration_ms)} ms`;
    const line = `${isFile ? relative(root, data.name) : data.name}${where} ${time}`;
    if (passed) {
      tally.passed += 1;
      say(`ok   ${line}`);
      continue;
    }
    if (typeof data.skip === "string" && data.skip !== "") {
      const missing = `NOT RUN ${line}: ${data.skip}`;
      tally.notRun.push(missing);
      say(missing);
      continue;
    }
    const reason = type === "test:fail" ? messageOf(data.details.error) : "This test was skipped.";
    const failure = `FAIL ${line}\n${indent(reason)}`;
    tally.failures.push(failure);
    say(failure);
  }
  return tally;
}

/** A suite whose tests failed fails as well, with nothing of its own to tell. */
function onlyTestsInsideFailed(details: object): boolean {
  return (
    "error" in details &&
    details.error instanceof Error &&
    "failureType" in details.error &&
    details.error.failureType === "subtestsFailed"
  );
}

function messageOf(error: Error): string {
  const cause = error.cause;
  if (cause instanceof Error) {
    return cause.stack ?? cause.message;
  }
  return cause === undefined ? error.message : String(cause);
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "       ");
}
