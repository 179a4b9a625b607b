// Faults of everything around the gateway, put into the process that has the built addon loaded.

import assert from "node:assert/strict";
import { rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { AddonProcess, temporaryFolder } from "./addon-process.ts";
import { Client, inTime, type Outcome } from "./client.ts";
import { FAULTY_CALLBACKS, JUNK, JUNK_BY_TOOL } from "./junk.ts";
import { RawConnection, requestOf } from "./raw-connection.ts";

const CAP_EXCEEDED = "MCP_LSP_GATEWAY/CAP_EXCEEDED";
const INTERNAL = "MCP_LSP_GATEWAY/INTERNAL";
const DENIED = "MCP_LSP_GATEWAY/WORKSPACE_DENIED";

/** Keeps V8 and malloc from holding on to tens of megabytes of what they once had, which differs from run to run. */
const THRIFTY = { NODE_OPTIONS: "--max-semi-space-size=1", MALLOC_ARENA_MAX: "1" };

/** What may be left after ten thousand faulty calls: each of them leaving two kilobytes would be more. */
const MAX_LEFT = 4 * 1024 * 1024;

/** Threads that may look at disks (`MAX_BLOCKING_THREADS`). */
const MAX_THREADS = 24;

const reference = (uri: string, line: number) => ({
  uri,
  range: { start: { line, character: 0 }, end: { line, character: 1 } },
});

test("ten thousand calls that go wrong leave no memory, no file and no connection behind", async (t) => {
  const addon = await AddonProcess.spawn(t, { env: THRIFTY });
  const client = await addon.client(await addon.start({ requestTimeoutMs: 100, logLevel: "off" }));
  const { uri } = addon.place;
  const faults = [
    ...Object.keys(JUNK).map((junk) => ({ junk })),
    ...Object.keys(FAULTY_CALLBACKS).map((callback) => ({ callback })),
    { fails: "as the test wants it" },
    { says: "no provider" } as const,
    { says: "not found" } as const,
    // Far longer than the time limit, so that each of these answers comes when nobody waits for it any more.
    { late: 600, items: [reference(uri, 1)] },
  ];
  // No two calls ask the same, so that no late answer of one serves another.
  let asked = 0;
  const next = () => {
    asked += 1;
    return client.references({ uri, position: { line: asked % 1_000, character: Math.floor(asked / 1_000) } });
  };
  const round = async (calls: number) => {
    const each = Math.ceil(calls / faults.length / 25);
    for (const fault of faults) {
      await addon.command("behave", fault);
      for (let batch = 0; batch < each; batch++) {
        for (const { error } of await Promise.all(Array.from({ length: 25 }, next))) {
          assert.ok(error !== undefined, "each of these goes wrong");
        }
      }
    }
    return each * 25 * faults.length;
  };
  // What is made once and kept, such as threads and compiled code, is there before it is counted.
  await round(8_000);
  await addon.command("collect", {});
  const before = addon.usage();
  const calls = await round(10_000);
  await addon.command("behave", { items: [reference(uri, 1)] });
  assert.equal((await inTime(() => client.references(addon.place))).payload?.items.length, 1);
  await addon.command("collect", {});
  const after = addon.usage();

  const left = after.bytes - before.bytes;
  t.diagnostic(`${calls} faulty calls left ${left} bytes and ${after.files - before.files} files`);
  assert.ok(left < MAX_LEFT, `${left} bytes are left of ${calls} calls`);
  // The client's own connections are kept for the next call.
  assert.ok(after.files - before.files <= 25, `${after.files - before.files} more files are open`);
  // Those that look at disks come and go.
  assert.ok(after.threads - before.threads <= MAX_THREADS, `${after.threads - before.threads} more threads run`);
  assert.deepEqual((await addon.report()).uncaught, []);
});

test("a JavaScript thread that is blocked for five seconds costs the calls meanwhile, and none after", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;
  await addon.command("behave", { items: [reference(uri, 1)] });
  const unblock = join(await temporaryFolder(t), "unblock");
  await addon.command("blockUntil", { file: unblock });
  const begun = performance.now();
  let timeouts = 0;
  while (performance.now() - begun < 5_000) {
    assert.equal(await client.ping(), 200, "what needs no JavaScript is answered");
    const { error } = await client.references({ uri, position: { line: timeouts, character: 0 } });
    assert.deepEqual(error?.data.details, { reason: "timeout", retryable: true });
    timeouts += 1;
  }
  await writeFile(unblock, "");

  assert.equal((await client.references(addon.place)).payload?.items.length, 1);
  assert.ok(timeouts >= 2);
  assert.deepEqual((await addon.report()).uncaught, []);
});

test("an answer that comes late serves the next call", async (t) => {
  const [addon, client] = await AddonProcess.serve(t, { requestTimeoutMs: 200 });
  const answered = join(await temporaryFolder(t), "answered");
  await addon.command("behave", { until: answered, items: [reference(addon.place.uri, 7)] });
  assert.equal((await client.references(addon.place)).error?.data.code, CAP_EXCEEDED);
  // Whoever is asked from now on never answers, so what is answered is the late answer.
  await addon.command("behave", { hangs: true });
  await writeFile(answered, "");
  let answer = await client.references(addon.place);
  while (answer.error?.data.code === CAP_EXCEEDED) {
    answer = await client.references(addon.place);
  }
  assert.deepEqual(answer.payload?.items, [reference(addon.place.uri, 7)]);
});

test("a process that runs out of files goes on once there are some again, and serves others meanwhile", async (t) => {
  const addon = await AddonProcess.spawn(t, { mostFiles: 80 });
  const port = await addon.start({ logLevel: "info" });
  const client = await addon.client(port);
  const silent = await Promise.all(Array.from({ length: 200 }, () => RawConnection.open(t, port)));
  const fresh = await RawConnection.open(t, port);
  fresh.write(requestOf(client.token, client.session, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })));
  assert.equal((await fresh.response())?.status, 200);
  for (const { socket } of silent) {
    socket.destroy();
  }
  assert.equal(await client.ping(), 200);
  const { log, uncaught } = await addon.logged((line) => line.startsWith("a connection could not be accepted"));
  assert.ok(log.length < 100, "whoever brings this about does not fill the log");
  assert.deepEqual(uncaught, []);
});

test("a process that is killed is followed by another that takes its port and its sessions over", async (t) => {
  const [first, client] = await AddonProcess.serve(t);
  await first.command("behave", { hangs: true });
  const lost = client.references(first.place).then(
    () => "answered",
    () => "the connection ended",
  );
  await first.asked();
  await first.kill();
  assert.equal(await lost, "the connection ended");

  const second = await AddonProcess.spawn(t);
  const port = Number(new URL(client.url).port);
  await second.start({ ...first.options, ports: [port] });
  assert.equal(await client.ping(), 200, "the same session, on the same port");
  await second.command("behave", { items: [reference(first.place.uri, 1)] });
  assert.equal((await client.references(first.place)).payload?.items.length, 1);
});

/** A call that has been asked and waits for its answer, and how to let that come. */
async function callUnderWay(
  t: TestContext,
): Promise<{ addon: AddonProcess; client: Client; answer: () => Promise<Outcome> }> {
  const [addon, client] = await AddonProcess.serve(t);
  const answered = join(await temporaryFolder(t), "answered");
  await addon.command("behave", { until: answered, items: [reference(addon.place.uri, 1)] });
  const under = client.references(addon.place);
  await addon.asked();
  const answer = async () => {
    await writeFile(answered, "");
    return under;
  };
  return { addon, client, answer };
}

test("a token that is rotated in the middle of a call lets nobody in any more, and the call ends", async (t) => {
  const { addon, client, answer } = await callUnderWay(t);
  const token = "another-token-that-is-long-enough-to-be-one";
  await addon.configure({ tokens: [token] });
  assert.equal(await client.ping(), 401);
  assert.equal((await answer()).payload?.items.length, 1, "it was let in before");
  assert.equal(await client.ping(), 401);
  assert.equal(await (await Client.connect(client.url, token)).ping(), 200);
});

test("a folder that is taken off the roots in the middle of a call takes its answer with it", async (t) => {
  const { addon, answer } = await callUnderWay(t);
  await addon.configure({ roots: [await temporaryFolder(t)] });
  assert.equal((await answer()).error?.data.code, DENIED);
});

test("a folder that is gone from the disk in the middle of a call takes its answer with it, until it is back", async (t) => {
  const { addon, client, answer } = await callUnderWay(t);
  const root = addon.options.roots[0] ?? "";
  await rename(root, `${root}-away`);
  assert.equal((await answer()).error?.data.code, "MCP_LSP_GATEWAY/URI_INVALID");
  assert.equal((await client.references(addon.place)).error?.data.code, DENIED);
  await rename(`${root}-away`, root);
  assert.equal((await client.references(addon.place)).payload?.items.length, 1);
});

test("a root that leads nowhere, to itself or to nothing of the kind is refused and does not stop the others", async (t) => {
  const folder = await temporaryFolder(t);
  await symlink("ring", join(folder, "ring"));
  await writeFile(join(folder, "file"), "");
  const [addon, client] = await AddonProcess.serve(t);
  await addon.configure({ roots: [join(folder, "ring"), join(folder, "gone"), "", ...addon.options.roots] });
  await addon.command("behave", { items: [reference(addon.place.uri, 1)] });
  assert.equal((await client.references(addon.place)).payload?.items.length, 1);
  await rm(addon.options.roots[0] ?? "", { recursive: true });
  assert.equal((await client.references(addon.place)).error?.data.code, DENIED);
});

test("what only one tool's rows can have wrong does not outlive its call, a thousand times over", async (t) => {
  const [addon, client] = await AddonProcess.serve(t, { logLevel: "off" });
  for (const [tool, junk] of Object.entries(JUNK_BY_TOOL)) {
    for (const name of Object.keys(junk)) {
      await addon.command("behave", { junk: name });
      const args =
        tool === "vscode.lsp.workspaceSymbols"
          ? { query: "a" }
          : tool.includes("hover")
            ? addon.place
            : { uri: addon.place.uri };
      const asked = Array.from({ length: 50 }, () => client.call(tool, args));
      for (const { error } of await Promise.all(asked)) {
        assert.equal(error?.data.code, INTERNAL, `${tool}: ${name}`);
      }
    }
  }
  await addon.command("behave", { items: [reference(addon.place.uri, 1)] });
  assert.equal((await client.references(addon.place)).payload?.items.length, 1);
  assert.deepEqual((await addon.report()).uncaught, []);
});
