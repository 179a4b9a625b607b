import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { type DesiredOptions, type DesiredState, Lifecycle, type State } from "../../extension/gateway/lifecycle.ts";
import type { Gateway } from "../../extension/native.d.ts";

const OPTIONS: DesiredOptions = {
  version: "1.0.0",
  roots: ["/w"],
  tokens: ["a"],
  sessionKey: "k",
  workspace: "w",
  endedSessions: [],
  allowedOrigins: [],
  ignore: [],
  catalog: ["v1"],
  protocolFallback: false,
  maxItemsPerPage: 200,
  maxResponseBytes: 524_288,
  requestTimeoutMs: 2000,
  rootsEpoch: 1,
  wish: { port: 40_000, ofWorkspace: false },
  logLevel: "info",
};

/** What happened to gateways, in order. */
let events: string[];
let desired: DesiredState | Error;
let states: State[];
/** The tokens that were in force, one after the other; `undefined` while there is no gateway. */
let inForce: (string | undefined)[];
/** Why the next start fails, and why the next configuration does. */
let startFails: string | undefined;
let configureFails: string | undefined;
/** What the next start could not have. */
let lost: number | undefined;
let lifecycle: Lifecycle;

beforeEach(() => {
  events = [];
  states = [];
  inForce = [];
  desired = OPTIONS;
  startFails = undefined;
  configureFails = undefined;
  lost = undefined;
  let started = 0;
  lifecycle = new Lifecycle({
    desiredState: async () => {
      if (desired instanceof Error) {
        throw desired;
      }
      return desired;
    },
    start: async (options) => {
      if (startFails !== undefined) {
        throw new Error(startFails);
      }
      const name = ++started;
      events.push(`start ${name} ${options.tokens}`);
      const gateway: Gateway = {
        port: options.wish.port,
        configure: async (next) => {
          if (configureFails !== undefined) {
            throw new Error(configureFails);
          }
          events.push(`configure ${name} ${next.tokens}`);
        },
        bump: (epoch) => events.push(`bump ${name} ${epoch}`),
        news: () => ({ seen: 0, slice: 0, json: "" }),
        placeOfCall: async () => ({ uri: "" }),
        editorSaw: async () => {},
        swept: async () => [],
        stop: async () => {
          await undefined;
          events.push(`stop ${name}`);
        },
      };
      return { gateway, lost };
    },
    show: (state) => states.push(state),
    inForce: (options) => inForce.push(options?.tokens.join()),
    error: (message) => events.push(`error ${message}`),
  });
});

test("an update starts the gateway and shows its port", async () => {
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a"]);
  assert.deepEqual(states, [{ kind: "running", port: 40_000, wished: 40_000, lost: undefined }]);
});

test("changed tokens, roots and limits are configured, and nothing is restarted", async () => {
  await lifecycle.update();
  desired = { ...OPTIONS, tokens: ["b"] };
  await lifecycle.update();
  desired = { ...OPTIONS, tokens: ["b"], roots: ["/w", "/v"] };
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a", "configure 1 b", "configure 1 b"]);
});

test("a switch to the fallback is configured, and nothing is restarted", async () => {
  await lifecycle.update();
  desired = { ...OPTIONS, protocolFallback: true };
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a", "configure 1 a"]);
});

test("the endpoint is that of the running gateway with its newest token, and whoever needs it is told", async () => {
  assert.equal(lifecycle.endpoint, undefined);
  await lifecycle.update();
  assert.deepEqual(lifecycle.endpoint, { url: "http://127.0.0.1:40000/mcp", token: "a" });
  desired = { ...OPTIONS, tokens: ["b"] };
  await lifecycle.update();
  assert.deepEqual(lifecycle.endpoint, { url: "http://127.0.0.1:40000/mcp", token: "b" });
  desired = "paused";
  await lifecycle.update();
  assert.equal(lifecycle.endpoint, undefined);
  desired = OPTIONS;
  await lifecycle.update();

  assert.deepEqual(inForce, ["a", "b", undefined, "a"]);
});

test("an update that changes nothing does nothing", async () => {
  await lifecycle.update();
  desired = { ...OPTIONS, rootsEpoch: 2, endedSessions: ["x"] };
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a"]);
  assert.equal(states.length, 1);
});

test("another wished port restarts the gateway", async () => {
  await lifecycle.update();
  desired = { ...OPTIONS, wish: { port: 41_000, ofWorkspace: false } };
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a", "stop 1", "start 2 a"]);
  assert.deepEqual(lifecycle.state, { kind: "running", port: 41_000, wished: 41_000, lost: undefined });
});

test("a port that the workspace's own settings begin to name restarts the gateway, as it comes first then", async () => {
  await lifecycle.update();
  desired = { ...OPTIONS, wish: { port: 40_000, ofWorkspace: true } };
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a", "stop 1", "start 2 a"]);
});

test("the port that the workspace had last and could not have is shown as long as the gateway runs", async () => {
  lost = 39_500;
  await lifecycle.update();
  desired = { ...OPTIONS, tokens: ["b"] };
  await lifecycle.update();

  assert.deepEqual(states, [{ kind: "running", port: 40_000, wished: 40_000, lost: 39_500 }]);
});

test("another session key restarts the gateway", async () => {
  await lifecycle.update();
  desired = { ...OPTIONS, tokens: ["b"], sessionKey: "l" };
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a", "stop 1", "start 2 b"]);
});

for (const kind of ["untrusted", "disabled", "paused", "uninstalled"] as const) {
  test(`no gateway is started, and a running one is stopped, while the desired state is "${kind}"`, async () => {
    desired = kind;
    await lifecycle.update();
    assert.deepEqual(events, []);
    desired = OPTIONS;
    await lifecycle.update();
    desired = kind;
    await lifecycle.update();

    assert.deepEqual(events, ["start 1 a", "stop 1"]);
    assert.deepEqual(lifecycle.state, { kind });
  });
}

test("a failed start shows its reason, and the next update tries again", async () => {
  startFails = "no port is free.";
  await lifecycle.update();
  assert.deepEqual(lifecycle.state, { kind: "failed", reason: "no port is free." });
  startFails = undefined;
  await lifecycle.update();

  assert.equal(lifecycle.state.kind, "running");
});

test("a gateway whose settings can no longer be read is stopped", async () => {
  await lifecycle.update();
  desired = new Error("the token could not be read.");
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a", "stop 1"]);
  assert.deepEqual(lifecycle.state, { kind: "failed", reason: "the token could not be read." });
});

test("a gateway that does not take its new tokens is replaced, as it would let old ones in", async () => {
  await lifecycle.update();
  desired = { ...OPTIONS, tokens: ["b"] };
  configureFails = "broken";
  await lifecycle.update();

  assert.deepEqual(
    events.filter((event) => !event.startsWith("error")),
    ["start 1 a", "stop 1", "start 2 b"],
  );
});

test("changes that come while another is being put in effect are in effect when their update resolves", async () => {
  const first = lifecycle.update();
  desired = { ...OPTIONS, tokens: ["b"] };
  const second = lifecycle.update();
  desired = { ...OPTIONS, tokens: ["c"] };
  await Promise.all([first, second, lifecycle.update()]);

  assert.match(events.at(-1) ?? "", / c$/);
  assert.equal(events.filter((event) => event.startsWith("start")).length, 1);
});

test("a restart replaces the gateway once", async () => {
  await lifecycle.update();
  await lifecycle.restart();
  await lifecycle.update();

  assert.deepEqual(events, ["start 1 a", "stop 1", "start 2 a"]);
});

test("nothing is started after the end, not even by a change that was under way", async () => {
  const update = lifecycle.update();
  const end = lifecycle.end();
  await Promise.all([update, end, lifecycle.update()]);
  await lifecycle.restart();

  const started = events.filter((event) => event.startsWith("start")).length;
  const stopped = events.filter((event) => event.startsWith("stop")).length;
  assert.equal(started, stopped);
});

test("a change of the workspace is counted by the running gateway, and by none otherwise", async () => {
  lifecycle.bump("text");
  await lifecycle.update();
  lifecycle.bump("fs");
  await lifecycle.end();
  lifecycle.bump("text");

  assert.deepEqual(events, ["start 1 a", "bump 1 fs", "stop 1"]);
});
