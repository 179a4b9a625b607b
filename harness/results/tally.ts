// What came of tests, and how it is told.

import { say } from "../machine/progress.mjs";

export interface Tally {
  readonly passed: number;
  /** What failed: the name of each, the command that runs it alone, and what it reported. */
  readonly failures: readonly string[];
  /** What this machine cannot run, and why. */
  readonly notRun: readonly string[];
  /** How long each took, in milliseconds. */
  readonly times: readonly { readonly name: string; readonly ms: number }[];
}

const SLOWEST = 10;
/** As much of a failure as tells what it was about. */
const FAILURE_LINES = 20;

export function emptyTally(): Tally {
  return { passed: 0, failures: [], notRun: [], times: [] };
}

/** Tells what came of everything that was run, and returns the exit code. No test at all is a failure, too. */
export function printTally(name: string, tallies: readonly Tally[], ms: number): 0 | 1 {
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failures = tallies.flatMap((tally) => tally.failures);
  if (passed + failures.length === 0) {
    failures.push("FAIL No test ran: look at what was asked for.");
  }
  const slowest = tallies.flatMap(({ times }) => times).sort((one, other) => other.ms - one.ms);
  say(`\nThe slowest of ${name}, which took ${(ms / 1000).toFixed(0)} s:`);
  for (const { name, ms } of slowest.slice(0, SLOWEST)) {
    say(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`);
  }
  for (const missing of tallies.flatMap(({ notRun }) => notRun)) {
    say(missing);
  }
  // Once more, since what failed may stand thousands of lines above.
  for (const failure of failures) {
    say(`\n${failure.split("\n").slice(0, FAILURE_LINES).join("\n")}`);
  }
  process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
  return failures.length === 0 ? 0 : 1;
}
