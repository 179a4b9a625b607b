import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isMet, median, medianRatio, type Row, slope, table, written } from "../../harness/results/table.ts";

const FAST: Row = { name: "throughput", value: 0.9, bar: 0.85, sense: "at least" };
const LARGE: Row = { name: "memory of a set", value: 4.25, bar: 4, sense: "at most", unit: "MB" };

describe("the table of the benchmark", () => {
  test("the median is the middle one, or the mean of the two in the middle", () => {
    assert.equal(median([9, 1, 5]), 5);
    assert.equal(median([10, 9, 1, 2]), 5.5);
    assert.ok(Number.isNaN(median([])));
  });

  test("a ratio is taken within each round, so that a slow round counts for both sides", () => {
    assert.equal(medianRatio([1, 100, 3], [2, 200, 6]), 0.5);
    assert.ok(Number.isNaN(medianRatio([1, 2], [])));
  });

  test("the slope is that of the line that fits best", () => {
    assert.equal(slope([5, 8, 11, 14]), 3);
    assert.equal(slope([1, 0, 1, 0, 1]), 0);
  });

  test("a bar is met on its good side and at the bar itself, and never by what is no number", () => {
    assert.ok(isMet(FAST) && !isMet({ ...FAST, value: 0.84 }) && isMet({ ...FAST, value: 0.85 }));
    assert.ok(!isMet(LARGE) && isMet({ ...LARGE, value: 4 }));
    assert.ok(!isMet({ ...FAST, value: Number.NaN }) && !isMet({ ...LARGE, value: Number.NaN }));
  });

  test("rows are written with their name, value, bar and whether it is met", () => {
    assert.deepEqual(written([FAST, LARGE]), [
      { name: "throughput", value: 0.9, bar: 0.85, met: true },
      { name: "memory of a set", value: 4.25, bar: 4, met: false },
    ]);
  });

  test("the table is aligned and says which bars are missed", () => {
    assert.equal(
      table([FAST, LARGE, { ...FAST, name: "tiny", value: 0.0123 }]),
      [
        "| what            | value   | bar           | met |",
        "| --------------- | ------- | ------------- | --- |",
        "| throughput      | 0.90    | at least 0.85 | yes |",
        "| memory of a set | 4.25 MB | at most 4 MB  | NO  |",
        "| tiny            | 0.0123  | at least 0.85 | NO  |",
      ].join("\n"),
    );
  });
});
