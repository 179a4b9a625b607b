import assert from "node:assert/strict";
import { test } from "node:test";
import { Activity, type Call, type News, unpackNews } from "../../view/activity.ts";
import { chartOf, sliceAt } from "../../view/chart.ts";
import { about, clientName, duration, result, spokenCall, spokenSlice, timeOfDay } from "../../view/wording.ts";

const ROOTS = [{ label: "~/harbour", path: "/home/me/harbour" }];
const CALL: Call = {
  number: 1,
  at: new Date(2026, 10, 21, 9, 5, 7).getTime(),
  client: ["codex", "1.2"],
  tool: "vscode.lsp.hover",
  uri: "file:///home/me/harbour/src/ship.ts",
  position: { line: 13, character: 60 },
  outcome: "answered",
  open: true,
  items: 1,
  bytes: 300,
  micros: 4_200,
};

function news(calls: readonly number[], slices: readonly number[] = [], slice = 0): News {
  return {
    slice,
    calls: calls.map((number) => ({ ...CALL, number })),
    clients: [],
    counts: [],
    slices: slices.map((index) => ({ index, calls: 1, failed: 0, p50: 1_000, p95: 1_000 })),
  };
}

test("news are read as the server packs them", () => {
  const packed = {
    slice: 4,
    texts: ["file:///w/src/ship.ts", "codex", "1.2", "vscode.lsp.hover", "answered", "convoy", "CAP_EXCEEDED"],
    calls: [
      [1, 1_700_000_000_000, 1, 2, 3, 0, null, 13, 61, 4, 1, 4, 300, 2_500],
      [2, 1_700_000_000_001, 1, 2, 3, null, 5, null, null, 6, 0, 0, 301, 2_501],
    ],
    clients: [],
    counts: [["vscode.lsp.hover", "answered", 1]],
    slices: [],
  };
  const client = ["codex", "1.2"];
  assert.deepEqual(unpackNews(JSON.stringify(packed)), {
    slice: 4,
    calls: [
      {
        ...{ number: 1, at: 1_700_000_000_000, client, tool: "vscode.lsp.hover", uri: "file:///w/src/ship.ts" },
        ...{
          position: { line: 13, character: 61 },
          outcome: "answered",
          open: true,
          items: 4,
          bytes: 300,
          micros: 2_500,
        },
      },
      {
        ...{ number: 2, at: 1_700_000_000_001, client, tool: "vscode.lsp.hover", query: "convoy" },
        ...{ outcome: "CAP_EXCEEDED", open: false, items: 0, bytes: 301, micros: 2_501 },
      },
    ],
    clients: [],
    counts: [["vscode.lsp.hover", "answered", 1]],
    slices: [],
  });
});

test("calls stand newest first, and no more than 200 of them", () => {
  const activity = new Activity();
  activity.take(news([1, 2, 3]), true);
  activity.take(news([4, 5]), false);
  assert.deepEqual(
    activity.calls.map(({ number }) => number),
    [5, 4, 3, 2, 1],
  );
  activity.take(news(Array.from({ length: 199 }, (_, at) => at + 6)), false);
  assert.equal(activity.calls.length, 200);
  assert.equal(activity.calls.at(-1)?.number, 5);
});

test("news that begin anew take the place of what was there", () => {
  const activity = new Activity();
  activity.take(news([1, 2, 3], [4], 4), true);
  activity.take(news([1]), true);
  assert.equal(activity.calls.length, 1);
  assert.deepEqual(activity.slices, []);
});

test("a slice that was not over is replaced, and those of more than ten minutes ago go", () => {
  const activity = new Activity();
  activity.take(news([], [0, 1, 118], 118), true);
  activity.take({ ...news([], [118, 120], 120), slices: [{ index: 118, calls: 9, failed: 1, p50: 1, p95: 2 }] }, false);
  assert.deepEqual(
    activity.slices.map(({ index, calls }) => [index, calls]),
    [
      [1, 1],
      [118, 9],
    ],
  );
});

test("what a call asked about is said from its root on, counted from 1", () => {
  assert.deepEqual(about(CALL, ROOTS), { name: "ship.ts:14:61", folder: "src" });
  const { position, ...whole } = CALL;
  assert.deepEqual(about({ ...whole, uri: "file:///home/me/harbour/a%20b.ts" }, ROOTS), { name: "a b.ts", folder: "" });
  const two = [...ROOTS, { label: "/other", path: "/other" }];
  assert.deepEqual(about({ ...whole, uri: "file:///other/x/y.ts" }, two), { name: "y.ts", folder: "other/x" });
  assert.deepEqual(about({ ...whole, uri: "file:///C:/w/a.ts" }, [{ label: "", path: "/c:/w" }]), {
    name: "a.ts",
    folder: "",
  });
  assert.deepEqual(about({ ...whole, uri: "file:///home/me/harbour2/a.ts" }, ROOTS), {
    name: "a.ts",
    folder: "/home/me/harbour2",
  });
  const { uri, ...nowhere } = whole;
  assert.deepEqual(about(nowhere, ROOTS), { name: "", folder: "" });
  assert.deepEqual(about({ ...nowhere, query: "convoy" }, ROOTS), { name: "“convoy”", folder: "" });
});

test("a text of a client that would break the line or turn the text around shows what it is", () => {
  const { position, ...whole } = CALL;
  assert.deepEqual(about({ ...whole, uri: "\u202e<img src=x>\n/\u0000b" }, ROOTS), {
    name: "\u{fffd}b",
    folder: "\u{fffd}<img src=x>\u{fffd}",
  });
  assert.deepEqual(about({ ...whole, uri: "file:///%E0%A4%A" }, ROOTS), { name: "%E0%A4%A", folder: "file://" });
});

test("times have two or three digits", () => {
  const said = [0, 350, 994, 996, 4_200, 9_949, 9_951, 38_400, 999_400, 999_600, 1_300_000].map(duration);
  assert.deepEqual(said, [
    "0.00 ms",
    "0.35 ms",
    "0.99 ms",
    "1.0 ms",
    "4.2 ms",
    "9.9 ms",
    "10 ms",
    "38 ms",
    "999 ms",
    "1.0 s",
    "1.3 s",
  ]);
  assert.equal(timeOfDay(CALL.at), "09:05:07");
});

test("a call and a slice are said in one sentence", () => {
  assert.equal(spokenCall(CALL, ROOTS), "hover src/ship.ts:14:61: 1 item in 4.2 ms, codex 1.2, 09:05:07");
  assert.equal(result({ ...CALL, outcome: "CURSOR_STALE", items: 0 }), "CURSOR_STALE");
  assert.equal(clientName(["", ""]), "unknown client");
  const slice = { index: 3, calls: 1_200, failed: 2, p50: 1_000, p95: 250_000 };
  assert.equal(spokenSlice(slice), "1,200 calls, median 1.0 ms, p95 250 ms, 2 failed");
});

test("each power of ten of a time has the same height, and the slice of now is at the right", () => {
  const slices = [
    { index: 10, calls: 4, failed: 0, p50: 1_000, p95: 10_000 },
    { index: 129, calls: 4, failed: 1, p50: 10_000, p95: 100_000 },
  ];
  const chart = chartOf(slices, 129);
  assert.equal(chart.half, "M2.5 100V66.7M597.5 100V33.3");
  assert.equal(chart.most, "M2.5 66.7V33.3M597.5 33.3V0.0");
  assert.equal(chart.failed, "M597.5 95V100");
  assert.deepEqual(
    chart.lines.map(({ micros }) => micros),
    [1_000, 10_000],
  );
  assert.equal(chartOf(slices, 130).half, "M592.5 100V33.3");
});

test("where there was no call, the slice before is meant", () => {
  const slices = news([], [10, 50, 129]).slices;
  assert.deepEqual(
    [0, 0.3, 0.5, 1].map((part) => sliceAt(slices, 129, part)?.index),
    [10, 10, 50, 129],
  );
  assert.equal(sliceAt([], 129, 0.5), undefined);
});
