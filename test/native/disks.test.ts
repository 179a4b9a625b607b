// Disks that answer late, not at all, or are gone, under one of the roots of a running gateway.

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { AddonProcess } from "./addon-process.ts";
import type { Outcome } from "./client.ts";
import { StoppableDisk, whyNoStoppableDisk } from "./stoppable-disk.ts";

const skip = whyNoStoppableDisk() ?? false;

const SILENT = { reason: "timeout", retryable: true };
/** More calls than there are threads that may wait for a disk. */
const MANY = 40;
/** Threads that may wait for a disk (`MAX_BLOCKING_THREADS`). */
const MAX_THREADS = 24;

/** Looks at one root at a time (`MAX_LOOKS`). */
const MAX_LOOKS = 2;

const at = (line: number) => ({ start: { line, character: 0 }, end: { line, character: 1 } });

/** A gateway with a root of its own disk, and one on a disk that can be stopped: the disk itself, or a folder there. */
async function onTwoDisks(t: TestContext, root: "project" | ".") {
  const disk = await StoppableDisk.mount(t, ["project/main.ts"]);
  const addon = await AddonProcess.spawn(t);
  const port = await addon.start({ requestTimeoutMs: 2_000, roots: [...addon.options.roots, join(disk.folder, root)] });
  const client = await addon.client(port);
  const here = addon.place.uri;
  const there = pathToFileURL(join(disk.folder, "project/main.ts")).href;
  const find = (...uris: string[]) =>
    addon.command("behave", { items: uris.map((uri, line) => ({ uri, range: at(line) })) });
  const ask = (uri: string, line = 0, more: object = {}) =>
    client.references({ uri, position: { line, character: 0 } }, more);
  return { addon, client, disk, here, there, find, ask };
}

function assertSilent({ error }: Outcome): void {
  assert.equal(error?.data.code, "MCP_LSP_GATEWAY/CAP_EXCEEDED");
  assert.deepEqual(error.data.details, SILENT);
}

/** The first answer that is one, of calls that say until then that the disk does not answer. */
async function answered(call: () => Promise<Outcome>): Promise<Outcome> {
  for (;;) {
    const outcome = await call();
    if (outcome.error === undefined) {
      return outcome;
    }
    assertSilent(outcome);
  }
}

test("a root whose disk does not answer costs the calls about it, and no others, until it answers again", {
  skip,
}, async (t) => {
  const { addon, client, disk, here, there, find, ask } = await onTwoDisks(t, "project");
  await find(here);
  assert.equal((await ask(there)).payload.items.length, 1);
  const threads = addon.usage().threads;
  disk.stop();

  for (const outcome of await Promise.all(Array.from({ length: MANY }, (_, line) => ask(there, line)))) {
    assertSilent(outcome);
  }
  assert.ok(disk.waiting <= MAX_LOOKS, `${disk.waiting} wait for the disk`);
  assertSilent(await client.call("vscode.lsp.workspaceSymbols", { query: "a" }));
  assertSilent(await client.call("vscode.lsp.diagnostics.workspace", {}));
  assert.equal(await client.ping(), 200);
  for (let line = 0; line < MANY; line++) {
    assert.equal((await ask(here, line)).payload?.items.length, 1);
  }
  assert.ok(addon.usage().threads - threads <= MAX_THREADS);

  // What can only be answered in part is not.
  await find(here, there);
  assertSilent(await ask(here));
  // Pages go on meanwhile.
  await find(here, here);
  const first = await ask(here, 0, { pageSize: 1 });
  const second = await ask(here, 0, { pageSize: 1, cursor: first.payload?.nextCursor });
  assert.deepEqual([second.payload?.items[0].range, second.payload?.nextCursor], [at(1), null]);

  disk.goOn();
  await find(here, there);
  assert.equal((await answered(() => ask(there))).payload.items.length, 2);
  assert.equal((await ask(here)).payload?.items.length, 2);
  // It counts as a root that went and came back.
  const stale = await ask(here, 0, { pageSize: 1, cursor: first.payload?.nextCursor });
  assert.deepEqual(stale.error?.data.details, { changed: ["roots"] });
  assert.deepEqual((await addon.report()).uncaught, []);
});

test("files that cannot be looked up leave the other root its threads, and are answered once they can", {
  skip,
}, async (t) => {
  // The folder where a disk is mounted is known without asking the disk: the root itself seems to be well.
  const { addon, client, disk, here, there, find, ask } = await onTwoDisks(t, ".");
  await find(here);
  assert.equal((await ask(there)).payload.items.length, 1);
  const threads = addon.usage().threads;
  disk.stop();

  for (let round = 0; round < 3; round++) {
    const asked = Array.from({ length: MANY }, (_, line) => ask(there, MANY * round + line));
    for (const outcome of await Promise.all(asked)) {
      assertSilent(outcome);
    }
  }
  assert.ok(disk.waiting > 0, "some wait for the disk");
  assert.equal(await client.ping(), 200);
  for (let line = 0; line < MANY; line++) {
    assert.equal((await ask(here, line)).payload?.items.length, 1);
  }
  assert.ok(addon.usage().threads - threads <= MAX_THREADS);

  disk.goOn();
  assert.equal((await answered(() => ask(there))).payload.items.length, 1);
});

test("a disk that is gone takes its root with it, and brings it back", { skip }, async (t) => {
  const { client, disk, here, there, find, ask } = await onTwoDisks(t, "project");
  await find(here, there);
  assert.equal((await ask(there)).payload.items.length, 2);

  await disk.unmount();
  assert.equal((await ask(there)).error?.data.code, "MCP_LSP_GATEWAY/WORKSPACE_DENIED");
  const { payload } = await ask(here);
  assert.equal(payload.items.length, 1);
  assert.equal(payload.summary, "Returned 1 reference; 1 outside the allowed roots was left out.");
  assert.equal(await client.ping(), 200);

  disk.mount();
  assert.equal((await ask(there)).payload.items.length, 2);
});

test("a disk that goes while it does not answer ends nobody's wait for ever", { skip }, async (t) => {
  const { client, disk, here, there, find, ask } = await onTwoDisks(t, "project");
  await find(here);
  assert.equal((await ask(there)).payload.items.length, 1);
  disk.stop();
  assertSilent(await ask(there));
  await disk.unmount();
  let outcome = await ask(there);
  while (outcome.error?.data.code === "MCP_LSP_GATEWAY/CAP_EXCEEDED") {
    outcome = await ask(there);
  }
  assert.equal(outcome.error?.data.code, "MCP_LSP_GATEWAY/WORKSPACE_DENIED");
  assert.equal((await ask(here)).payload?.items.length, 1);
  assert.equal(await client.ping(), 200);
});
