import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FIRST_WORK_MS, type Manner, PHASE_GAP_MS, REST_MS, type Sign, Work } from "../../extension/language/work.ts";
import { FakeClient } from "./fake-client.ts";
import { FakeClock } from "./fake-clock.ts";

const BY_ITSELF: Manner = { beginsByItself: true, loadsBy: (token) => token !== "check" };
const WITH_A_DOCUMENT: Manner = { beginsByItself: false, loadsBy: () => true };

let clock: FakeClock;
let began: number;

beforeEach(() => {
  clock = new FakeClock();
  began = 0;
});

function listen(client: FakeClient, manner = BY_ITSELF): Work {
  return new Work(client, manner, clock, () => {
    began += 1;
  });
}

/** What is shown from now on, each sign with how long it stood. */
async function signs(work: Work, milliseconds: number): Promise<string> {
  const seen: [Sign, number][] = [];
  for (let time = 0; time < milliseconds; time += 10) {
    const last = seen.at(-1);
    if (last !== undefined && last[0] === work.sign) {
      last[1] += 10;
    } else {
      seen.push([work.sign, 10]);
    }
    await clock.pass(10);
  }
  return seen.map(([sign, time]) => `${sign} ${time}`).join(", ");
}

test("the times are those of the design", () => {
  assert.deepEqual([PHASE_GAP_MS, REST_MS, FIRST_WORK_MS], [50, 750, 3_000]);
});

test("a server is ready once its work has ended and none has begun for a while", async () => {
  const client = new FakeClient(false);
  const work = listen(client);
  assert.equal(work.sign, undefined, "It does not run.");
  client.become(true);
  client.begin("a");
  assert.equal(await signs(work, 5_000), "loading 5000");
  client.begin("b");
  client.end("a");
  assert.equal(await signs(work, 5_000), "loading 5000");
  client.end("b");
  assert.equal(await signs(work, 2_000), "loading 50, resting 700, ready 1250");
});

test("a server that has no work under way between two phases is not ready", async () => {
  const client = new FakeClient(false);
  const work = listen(client);
  client.become(true);
  for (const pause of [20, 10, 50]) {
    client.begin(pause);
    await clock.pass(500);
    client.end(pause);
    assert.equal(await signs(work, pause), `loading ${pause}`);
  }
  assert.equal(began, 0);
});

test("a server that was ready is loading again as soon as work begins, and that is told once", async () => {
  const client = new FakeClient(false);
  const work = listen(client);
  client.become(true);
  client.begin("a");
  client.end("a");
  await clock.pass(REST_MS);
  client.begin("a");
  client.begin("b");
  assert.deepEqual([work.sign, began], ["loading", 1]);
});

test("a server that works or ends while it rests was not about to be ready, and that is told", async () => {
  const client = new FakeClient(false);
  const work = listen(client);
  client.become(true);
  client.begin("a");
  client.end("a");
  await clock.pass(PHASE_GAP_MS);
  assert.deepEqual([work.sign, began], ["resting", 0]);
  client.begin("b");
  assert.deepEqual([work.sign, began], ["loading", 1]);
  client.end("b");
  client.become(false);
  assert.deepEqual([work.sign, began], [undefined, 2]);
});

test("work that takes nothing from the answers does not count", async () => {
  const client = new FakeClient(false);
  const work = listen(client);
  client.become(true);
  client.begin("a");
  client.end("a");
  client.begin("check");
  assert.equal(await signs(work, 2_000), "loading 50, resting 700, ready 1250");
  client.end("check");
  assert.equal(work.sign, "ready");
});

test("a server that does not work at first is ready after a while if it would have begun by itself, else it is unknown", async () => {
  for (const [manner, expected] of [
    [BY_ITSELF, "loading 3000, ready 2000"],
    [WITH_A_DOCUMENT, "undefined 5000"],
  ] as const) {
    const client = new FakeClient(false);
    const work = listen(client, manner);
    client.become(true);
    assert.equal(await signs(work, 5_000), expected);
  }
});

test("work that began before anybody listened is waited for", async () => {
  for (const manner of [BY_ITSELF, WITH_A_DOCUMENT]) {
    const client = new FakeClient(true);
    client.begin("before");
    const work = listen(client, manner);
    client.begin("short");
    client.end("short");
    assert.equal(await signs(work, 2_000), "loading 2000");
    client.end("before");
    assert.equal(await signs(work, 2_000), "loading 50, resting 700, ready 1250");
  }
});

test("a client whose work cannot be known shows nothing until its server starts anew", async () => {
  const client = new FakeClient(true);
  client._features = undefined;
  const work = listen(client);
  client.begin("a");
  client.end("a");
  assert.equal(await signs(work, 5_000), "undefined 5000");
  client.become(false);
  client.become(true);
  client.begin("a");
  client.end("a");
  assert.equal(await signs(work, 1_000), "loading 50, resting 700, ready 250");
});

test("a server that has ended shows nothing, and has to show all of it again when it has started anew", async () => {
  const client = new FakeClient(false);
  const work = listen(client);
  client.become(true);
  client.begin("never ended");
  client.become(false);
  assert.equal(work.sign, undefined);
  client.become(true);
  assert.equal(await signs(work, 2_000), "loading 2000");
  client.begin("a");
  client.end("a");
  assert.equal(await signs(work, 1_000), "loading 50, resting 700, ready 250");
});

test("all that the client shows it goes on showing, by the hands of its owner", () => {
  const client = new FakeClient(true);
  const owner: string[] = [];
  client.middleware.handleWorkDoneProgress = (token, params, next) => {
    owner.push(`${params.kind} ${token}`);
    next(token, params);
  };
  listen(client);
  client.begin("a");
  client.end("a");
  assert.deepEqual([owner, client.shown], [client.shown, ["begin a", "end a"]]);
});

test("a client that gives out no middleware of its own shows nothing", () => {
  const client = new FakeClient(true);
  Object.defineProperty(client, "middleware", { get: () => ({}) });
  assert.equal(listen(client).sign, undefined);
});
