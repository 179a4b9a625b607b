import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { Pause } from "../../extension/gateway/pause.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pause-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

test("a pause is there for the next window as soon as it is set, for this workspace only, until it is taken back", async () => {
  const paused = join(folder, "paused");
  assert.equal(await new Pause(paused, "a").read(), false);
  await new Pause(paused, "a").set(true);
  assert.equal(await new Pause(paused, "a").read(), true);
  assert.equal(await new Pause(paused, "b").read(), false);
  await new Pause(paused, "a").set(false);
  assert.equal(await new Pause(paused, "a").read(), false);
});

test("a pause is in force before it is written down, and also if it cannot be", async () => {
  writeFileSync(join(folder, "paused"), "This is no folder.");
  const pause = new Pause(join(folder, "paused"), "a");
  assert.equal(await pause.read(), false);
  // Expected to fail from the start, since it may before the next line has run.
  const failed = assert.rejects(pause.set(true));
  assert.equal(await pause.read(), true);
  await failed;
  assert.equal(await pause.read(), true);
});
