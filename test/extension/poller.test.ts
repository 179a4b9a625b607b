import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Poller, type Source } from "../../extension/ui/poller.ts";
import { FakeClock } from "./fake-clock.ts";

let clock: FakeClock;
let asked: [seen: number, slice: number][];
let told: [json: string, fresh: boolean][];
let source: Source | undefined;
let poller: Poller;

/** A gateway at which so many calls have ended. */
function gatewayWith(calls: { count: number }): Source {
  return {
    news: (seen, slice) => {
      asked.push([seen, slice]);
      return { seen: calls.count, slice: 7, json: `${calls.count - seen} new` };
    },
  };
}

beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  told = [];
  source = undefined;
  poller = new Poller({ clock, source: () => source, tell: (json, fresh) => told.push([json, fresh]) });
});

test("until somebody wants news, and once nobody does any more, no timer runs and the gateway is not asked", async () => {
  source = gatewayWith({ count: 1 });
  await clock.pass(60_000);
  assert.deepEqual([clock.timers, asked], [0, []]);
  poller.start();
  assert.equal(clock.timers, 1);
  poller.stop();
  await clock.pass(60_000);
  assert.deepEqual([clock.timers, asked], [0, [[0, 0]]]);
});

test("once a second it is asked for what is new since, and told only if that differs", async () => {
  const calls = { count: 3 };
  source = gatewayWith(calls);
  poller.start();
  assert.deepEqual(told, [["3 new", true]]);
  await clock.pass(1_000);
  await clock.pass(1_000);
  calls.count = 5;
  await clock.pass(1_000);
  assert.deepEqual(asked, [
    [0, 0],
    [3, 7],
    [3, 7],
    [3, 7],
  ]);
  assert.deepEqual(told, [
    ["3 new", true],
    ["0 new", false],
    ["2 new", false],
  ]);
});

test("where more is new than anybody can read, it polls less often, until there is less", async () => {
  const calls = { count: 200 };
  source = gatewayWith(calls);
  poller.start();
  calls.count = 250;
  await clock.pass(1_000);
  assert.deepEqual(asked, [
    [0, 0],
    [200, 7],
  ]);
  await clock.pass(4_999);
  assert.equal(asked.length, 2);
  await clock.pass(1);
  assert.equal(asked.length, 3);
  await clock.pass(1_000);
  assert.equal(asked.length, 4);
});

test("another gateway's news begin anew, and so do those of whoever starts again", async () => {
  source = gatewayWith({ count: 3 });
  poller.start();
  source = undefined;
  await clock.pass(1_000);
  source = gatewayWith({ count: 1 });
  await clock.pass(1_000);
  poller.start();
  assert.deepEqual(told, [
    ["3 new", true],
    ["1 new", true],
    ["1 new", true],
  ]);
  assert.equal(clock.timers, 1);
});
