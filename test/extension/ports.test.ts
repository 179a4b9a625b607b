import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { Ports, portCandidates } from "../../extension/gateway/ports.ts";

const WISH = { port: 40_000, ofWorkspace: false };
/** The wish and the following 20. */
const AROUND = [
  ...[40_000, 40_001, 40_002, 40_003, 40_004, 40_005, 40_006, 40_007, 40_008, 40_009, 40_010],
  ...[40_011, 40_012, 40_013, 40_014, 40_015, 40_016, 40_017, 40_018, 40_019, 40_020],
];

describe("the order in which ports are tried", () => {
  test("without anything remembered it is the wished port, then the following 20", () => {
    assert.deepEqual(portCandidates(WISH), AROUND);
  });

  test("what the workspace had comes first, then the wished port and the following 20", () => {
    assert.deepEqual(portCandidates(WISH, { wished: 40_000, ports: [39_405] }), [39_405, ...AROUND]);
    assert.deepEqual(portCandidates(WISH, { wished: 40_000, ports: [39_405, 39_007] }), [39_405, 39_007, ...AROUND]);
  });

  test("a wish that has changed since comes before what the workspace had", () => {
    assert.deepEqual(portCandidates(WISH, { wished: 39_400, ports: [39_405] }), [...AROUND, 39_405]);
  });

  test("a wish of the workspace's own settings comes before everything, whoever had that port", () => {
    const own = { port: 40_000, ofWorkspace: true };
    assert.deepEqual(
      portCandidates(own, { wished: 40_000, ports: [40_007] }, [40_000]).slice(0, 3),
      [40_000, 40_007, 40_001],
    );
  });

  test("ports that other workspaces had come last, the one of longest ago first, and those elsewhere not at all", () => {
    const others = [40_000, 40_002, 39_999, 40_021];
    const free = AROUND.filter((port) => port !== 40_000 && port !== 40_002);
    assert.deepEqual(portCandidates(WISH, undefined, others), [...free, 40_002, 40_000]);
  });

  test("a port that another workspace had as well is tried first by each that had it last", () => {
    assert.equal(portCandidates(WISH, { wished: 40_000, ports: [40_001] }, [40_001])[0], 40_001);
  });

  test("no port is tried twice", () => {
    assert.deepEqual(
      portCandidates(WISH, { wished: 40_000, ports: [40_003] }).slice(0, 5),
      [40_003, 40_000, 40_001, 40_002, 40_004],
    );
    assert.equal(portCandidates(WISH, { wished: 40_000, ports: [40_000] }, [40_000, 40_000, 40_003]).length, 21);
  });

  test("there is no port past the last one", () => {
    assert.deepEqual(portCandidates({ port: 65_534, ofWorkspace: false }), [65_534, 65_535]);
    assert.deepEqual(portCandidates({ port: 65_535, ofWorkspace: true }), [65_535]);
  });
});

describe("what is remembered of ports", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ports-"));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const first = async (workspace: string, wish = WISH): Promise<number | undefined> =>
    (await new Ports(folder, workspace).find(wish)).candidates[0];

  /** As if the workspace had been open this many days ago. */
  function age(workspace: string, days: number): void {
    const time = Date.now() / 1000 - days * 86_400;
    utimesSync(join(folder, `${workspace}.json`), time, time);
  }

  test("a workspace finds the port that it had, and no other one takes it", async () => {
    await new Ports(folder, "a").keep(WISH, 40_000);
    await new Ports(folder, "b").keep(WISH, 40_001);

    assert.equal(await first("a"), 40_000);
    assert.equal(await first("b"), 40_001);
    assert.equal(await first("new"), 40_002);
    assert.equal((await new Ports(folder, "b").find(WISH)).last, 40_001);
    assert.equal((await new Ports(folder, "new").find(WISH)).last, undefined);
  });

  test("a workspace that gets a port of the same wish keeps the one before as its second", async () => {
    const ports = new Ports(folder, "a");
    await ports.keep(WISH, 40_003);
    await ports.keep(WISH, 40_004);
    assert.deepEqual((await ports.find(WISH)).candidates.slice(0, 3), [40_004, 40_003, 40_000]);
    await ports.keep(WISH, 40_003);
    assert.deepEqual((await ports.find(WISH)).candidates.slice(0, 3), [40_003, 40_004, 40_000]);
    assert.equal(await first("new"), 40_000);
  });

  test("with another wish it forgets those before", async () => {
    const ports = new Ports(folder, "a");
    await ports.keep(WISH, 40_003);
    const next = { port: 41_000, ofWorkspace: false };
    await ports.keep(next, 41_000);

    assert.deepEqual((await ports.find(next)).candidates.slice(0, 2), [41_000, 41_001]);
    assert.equal(await first("a"), 40_000);
  });

  test("windows that start at once are all remembered", async () => {
    const names = Array.from({ length: 21 }, (_, at) => `workspace${at}`);
    await Promise.all(names.map((name, at) => new Ports(folder, name).keep(WISH, 40_000 + at)));
    assert.deepEqual(await Promise.all(names.map((name) => first(name))), AROUND);
  });

  test("when every port belongs to some workspace, a new one gets that of the one that was open longest ago", async () => {
    for (const [at, port] of AROUND.entries()) {
      await new Ports(folder, `workspace${at}`).keep(WISH, port);
      age(`workspace${at}`, at === 7 ? 100 : 1 + at);
    }
    assert.equal(await first("new"), 40_007);
  });

  test("of one workspace four ports are remembered, and 64 workspaces of all, those that were open last", async () => {
    const ports = new Ports(folder, "a");
    for (const port of [40_001, 40_002, 40_003, 40_004, 40_005]) {
      await ports.keep(WISH, port);
    }
    assert.deepEqual((await ports.find(WISH)).candidates.slice(0, 5), [40_005, 40_004, 40_003, 40_002, 40_000]);
    age("a", 1000);
    for (let at = 0; at < 64; at++) {
      await new Ports(folder, `workspace${at}`).keep(WISH, 40_000);
      age(`workspace${at}`, 100 - at);
    }
    assert.equal(readdirSync(folder).length, 64);
    assert.ok(!readdirSync(folder).includes("a.json"));
    await new Ports(folder, "b").keep(WISH, 40_000);
    assert.equal(readdirSync(folder).length, 64);
    assert.ok(!readdirSync(folder).includes("workspace0.json"));
  });

  test("what is none of ours, half written or out of range is as good as not there", async () => {
    writeFileSync(join(folder, "a.json"), '{"wished":40000,"ports":[80,"x",70000,4000.5,40008]}');
    writeFileSync(join(folder, "b.json"), '{"wished":40000,"por');
    writeFileSync(join(folder, "c.json"), '{"wished":"40000","ports":[40000]}');
    writeFileSync(join(folder, "d.json"), "null");
    writeFileSync(join(folder, "e.json.123"), '{"wished":40000,"ports":[40000]}');

    assert.deepEqual((await new Ports(folder, "a").find(WISH)).candidates.slice(0, 2), [40_008, 40_000]);
    for (const name of ["b", "c", "d", "new"]) {
      assert.equal(await first(name), 40_000);
    }
    assert.equal(await first("a/there/is/no/such/folder"), 40_000);
  });
});
