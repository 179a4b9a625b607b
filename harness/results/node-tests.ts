// Runs test files under node:test and counts what really ran.

import { relative, resolve } from "node:path";
import { run } from "node:test";
import { root } from "../layout.ts";
import { say } from "../machine/progress.mjs";
import type { Tally } from "./tally.ts";

export interface Selection {
  readonly files: readonly string[];
  /** Only tests whose name, or the name of a suite around them, contains this text. */
  readonly grep?: string | undefined;
  /** How many files run at the same time. */
  readonly concurrency: number;
  /** The layer of a file, by its path from the root. */
  readonly layerOf: (file: string) => string;
}

/** A test that takes longer hangs, and would keep all the others from being run. */
const LONGEST_TEST = 20 * 60_000;

/**
 * Runs the tests and prints one line for each. A test that is skipped without a reason counts as failed, since it proves
 * nothing; one that says what the machine lacks is told of, and counts as neither.
 */
export async function runNodeTests({ files, grep, concurrency, layerOf }: Selection): Promise<Tally> {
  let passes = 0;
  const failures: string[] = [];
  const notRun: string[] = [];
  const times: Tally["times"][number][] = [];
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
    const file = relative(root, isFile ? data.name : (data.file ?? ""));
    const name = isFile ? file : `${data.name} (${file})`;
    const line = `${name} ${Math.round(data.details.duration_ms)} ms`;
    times.push({ name, ms: data.details.duration_ms });
    if (passed) {
      passes += 1;
      say(`ok   ${line}`);
      continue;
    }
    if (typeof data.skip === "string" && data.skip !== "") {
      const missing = `NOT RUN ${line}: ${data.skip}`;
      notRun.push(missing);
      say(missing);
      continue;
    }
    const reason = type === "test:fail" ? messageOf(data.details.error) : "This test was skipped.";
    const alone = aloneCommand(layerOf(file), file, isFile ? undefined : data.name);
    const failure = `FAIL ${line}\n${indent(`alone: ${alone}\n${reason}`)}`;
    failures.push(failure);
    say(failure);
  }
  return { passed: passes, failures, notRun, times };
}

/** The command that runs one test alone, or one file. */
function aloneCommand(layer: string, file: string, test: string | undefined): string {
  const picked = test === undefined ? "" : ` --grep '${test.replaceAll("'", "'\\''")}'`;
  return `npm run test:${layer} -- ${file}${picked}`;
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
