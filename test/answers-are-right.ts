import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { OwnWrites } from "../harness/languages/own-writes.ts";

/** Writes and asks `count` times, and tells of each trial. */
export async function answersAreRight(
  t: TestContext,
  client: Parameters<OwnWrites["next"]>[0],
  trials: OwnWrites,
  count: number,
): Promise<void> {
  const outcomes = [];
  for (let trial = 0; trial < count; trial++) {
    outcomes.push(await trials.next(client));
  }
  for (const { write, question, outcome, calls, ms, answer = "" } of outcomes) {
    t.diagnostic(`${write}, ${question}: ${outcome}, ${calls} calls, ${Math.round(ms)} ms ${answer}`);
  }
  assert.deepEqual(
    outcomes.filter(({ outcome }) => outcome !== "right"),
    [],
  );
}
