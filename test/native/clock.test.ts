// The time of day is set while the gateway runs, as it is when a machine wakes up, or somebody corrects it.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { AddonProcess, temporaryFolder } from "./addon-process.ts";
import { ShiftedClock, whyNoShiftedClock, YEAR } from "./shifted-clock.ts";

const skip = whyNoShiftedClock() ?? false;

const HOUR = 3_600;
const JUMPS = [HOUR, -HOUR, 10 * YEAR, -10 * YEAR, 0];

const reference = (uri: string, line: number) => ({
  uri,
  range: { start: { line, character: 0 }, end: { line, character: 1 } },
});

/** A gateway in a process whose clock can be set, with a client. */
async function underAClock(t: TestContext) {
  const clock = await ShiftedClock.make(t);
  const addon = await AddonProcess.spawn(t, { env: clock.env });
  const client = await addon.client(await addon.start({ requestTimeoutMs: 1_000 }));
  return { clock, addon, client, uri: addon.place.uri };
}

test("sessions, tokens and what is held for paging outlive any change of the clock", { skip }, async (t) => {
  const { clock, addon, client, uri } = await underAClock(t);
  await addon.command("behave", { items: [reference(uri, 1), reference(uri, 2)] });
  const first = await client.references(addon.place, { pageSize: 1 });
  for (const jump of JUMPS) {
    clock.set(jump);
    const off = (await addon.report()).clock - Date.now();
    assert.ok(Math.abs(off - jump * 1_000) < 60_000, "the process has the other time");
    assert.equal(await client.ping(), 200);
    const second = await client.references(addon.place, { pageSize: 1, cursor: first.payload?.nextCursor });
    assert.deepEqual(second.payload?.items, [reference(uri, 2)]);
    assert.equal((await addon.client(Number(new URL(client.url).port))).session?.length, client.session?.length);
  }
  assert.deepEqual((await addon.report()).uncaught, []);
});

test("a call ends neither early nor late because the clock is set in the middle of it", { skip }, async (t) => {
  const { clock, addon, client, uri } = await underAClock(t);
  for (const [index, jump] of JUMPS.entries()) {
    const place = { uri, position: { line: index, character: 0 } };
    const answered = join(await temporaryFolder(t), "answered");
    await addon.command("behave", { until: answered, items: [reference(uri, 1)] });
    const under = client.references(place);
    await addon.asked();
    clock.set(jump);
    await writeFile(answered, "");
    assert.deepEqual((await under).payload?.items, [reference(uri, 1)]);

    await addon.command("behave", { hangs: true });
    const hanging = client.references({ uri, position: { line: index, character: 1 } });
    await addon.asked();
    clock.set(-jump);
    assert.deepEqual((await hanging).error?.data.details, { reason: "timeout", retryable: true });
  }
});

test("an answer that comes late serves the next call, whatever the clock says by then", { skip }, async (t) => {
  const { clock, addon, client, uri } = await underAClock(t);
  for (const [index, jump] of JUMPS.entries()) {
    const place = { uri, position: { line: index, character: 0 } };
    const answered = join(await temporaryFolder(t), "answered");
    await addon.command("behave", { until: answered, items: [reference(uri, index)] });
    assert.notEqual((await client.references(place)).error, undefined);
    await addon.asked();
    // Whoever is asked from now on never answers, so what is answered is the late answer.
    await addon.command("behave", { hangs: true });
    clock.set(jump);
    await writeFile(answered, "");
    let answer = await client.references(place);
    while (answer.error?.data.code === "MCP_LSP_GATEWAY/CAP_EXCEEDED") {
      answer = await client.references(place);
    }
    assert.deepEqual(answer.payload?.items, [reference(uri, index)]);
  }
});

test("a gateway that starts with its clock set back gives no page for a cursor from before", { skip }, async (t) => {
  const { clock, addon, client, uri } = await underAClock(t);
  await addon.command("behave", { items: [reference(uri, 1), reference(uri, 2)] });
  const first = await client.references(addon.place, { pageSize: 1 });
  await addon.kill();

  clock.set(-HOUR);
  const later = await AddonProcess.spawn(t, { env: clock.env });
  const rootsEpoch = addon.options.rootsEpoch - HOUR * 1_000;
  await later.start({ ...addon.options, rootsEpoch, ports: [Number(new URL(client.url).port)] });
  await later.command("behave", { items: [reference(uri, 3), reference(uri, 4)] });
  assert.equal((await client.references(addon.place, { pageSize: 1 })).payload?.items.length, 1);
  const second = await client.references(addon.place, { pageSize: 1, cursor: first.payload?.nextCursor });
  assert.equal(second.error?.data.code, "MCP_LSP_GATEWAY/CURSOR_STALE");
});
