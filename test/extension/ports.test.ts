import assert from "node:assert/strict";
import { test } from "node:test";
import { portCandidates } from "../../extension/ports.ts";

test("the wished port comes first, then the one this workspace had last, then the following 20", () => {
  assert.deepEqual(
    portCandidates(40_000, 39_405),
    [
      40_000, 39_405, 40_001, 40_002, 40_003, 40_004, 40_005, 40_006, 40_007, 40_008, 40_009, 40_010, 40_011, 40_012,
    ].concat([40_013, 40_014, 40_015, 40_016, 40_017, 40_018, 40_019, 40_020]),
  );
});

test("no port is tried twice", () => {
  assert.deepEqual(portCandidates(40_000, 40_003).slice(0, 5), [40_000, 40_003, 40_001, 40_002, 40_004]);
  assert.equal(portCandidates(40_000, 40_000).length, 21);
  assert.equal(portCandidates(40_000, undefined).length, 21);
});

test("there is no port past the last one, and a remembered one that is none is left out", () => {
  assert.deepEqual(portCandidates(65_534, undefined), [65_534, 65_535]);
  assert.deepEqual(portCandidates(65_535, 80), [65_535]);
  assert.deepEqual(portCandidates(65_535, 70_000), [65_535]);
  assert.deepEqual(portCandidates(65_535, 4000.5), [65_535]);
});
