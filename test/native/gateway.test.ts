import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { AddonProcess, temporaryFolder, urlOf } from "./addon-process.ts";
import { Client, inTime, type Outcome } from "./client.ts";
import type { Behaviour } from "./host.ts";
import { ANSWERS, FAULTY_CALLBACKS, JUNK, ODD_CALLBACKS } from "./junk.ts";

/** Far longer than anything here takes, far shorter than the time limit of a call that nothing ends. */
const PROMPTLY_MS = 1_500;

function reference(uri: string, line: number): object {
  return { uri, range: { start: { line, character: 0 }, end: { line, character: 5 } } };
}

function codeOf(outcome: Outcome): string | undefined {
  return outcome.error?.data.code;
}

test("what a provider returned is answered in the contract's order", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { items: [reference(addon.place.uri, 9), reference(addon.place.uri, 2)] });

  const { payload } = await client.references(addon.place);

  assert.deepEqual(payload, {
    items: [reference(addon.place.uri, 2), reference(addon.place.uri, 9)],
    nextCursor: null,
    summary: "Returned 2 references.",
  });
});

test("twenty thousand references cross whole", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const items = Array.from({ length: 20_000 }, (_, index) => reference(addon.place.uri, 19_999 - index));
  await addon.command("behave", { items });

  const { payload } = await client.references(addon.place, { pageSize: 2 });

  assert.deepEqual(payload.items, [reference(addon.place.uri, 0), reference(addon.place.uri, 1)]);
});

test("a text that is not in ASCII crosses unharmed", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const [root = ""] = addon.options.roots;
  await writeFile(join(root, "größe-😀.ts"), "");
  await writeFile(join(root, "z.ts"), "");
  const encoded = `${pathToFileURL(root).href}/gr%C3%B6%C3%9Fe-%F0%9F%98%80.ts`;
  const z = `${pathToFileURL(root).href}/z.ts`;
  await addon.command("behave", {
    items: [reference(`file://${root}/größe-😀.ts`, 1), reference(z, 2), reference(encoded, 3)],
  });

  const { payload } = await client.references(addon.place);

  assert.deepEqual(payload.items, [reference(encoded, 1), reference(encoded, 3), reference(z, 2)]);
});

test("no provider and no document are answers of their own", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);

  await addon.command("behave", { says: "no provider" });
  assert.equal(codeOf(await client.references(addon.place)), "MCP_LSP_GATEWAY/PROVIDER_UNAVAILABLE");
  await addon.command("behave", { says: "not found" });
  assert.equal(codeOf(await client.references(addon.place)), "MCP_LSP_GATEWAY/NOT_FOUND");
});

test("whatever the callback does instead of answering is a clean error, and the next call is answered", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { uri } = addon.place;

  const faults = [
    ...Object.keys(JUNK).map((junk) => ({ junk })),
    ...Object.keys(FAULTY_CALLBACKS).map((callback) => ({ callback })),
  ];
  for (const [line, fault] of faults.entries()) {
    await t.test(Object.values(fault).join(), async () => {
      // No two ask the same, so that none waits for the answer that another never gets.
      const place = { uri, position: { line, character: 0 } };
      await addon.command("behave", fault);
      const outcome = await client.references(place);
      assert.equal(codeOf(outcome), "MCP_LSP_GATEWAY/INTERNAL");
      assert.match(outcome.error?.message ?? "", /^A language extension in the editor failed to answer; /);

      await addon.command("behave", { items: [reference(uri, 1)] });
      assert.equal((await client.references(place)).payload?.items.length, 1);
    });
  }

  assert.deepEqual((await addon.report()).uncaught, []);
});

test("an answer is an answer however it is given, and the first one counts", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  // What is not in the workspace is left out, and told.
  const summary = (await answerTo({ junk: "returns no promise" })).payload?.summary;
  assert.match(summary, /outside/);

  const ways = [
    ...Object.keys(ANSWERS).map((junk) => ({ junk })),
    ...Object.keys(ODD_CALLBACKS).map((callback) => ({ callback })),
  ];
  for (const way of ways) {
    await t.test(Object.values(way).join(), async () => {
      assert.equal((await answerTo(way)).payload?.summary, summary);
    });
  }

  assert.deepEqual((await addon.report()).uncaught, []);

  async function answerTo(way: Behaviour): Promise<Outcome> {
    await addon.command("behave", way);
    return client.references(addon.place);
  }
});

test("an answer to a gateway that has stopped goes nowhere, and the next gateway is answered", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const answered = join(await temporaryFolder(t), "answered");
  await addon.command("behave", { until: answered, items: [reference(addon.place.uri, 1)] });
  const call = assert.rejects(client.references(addon.place));
  await addon.asked();
  await addon.command("stop", {});
  await call;
  const next = await addon.client(await addon.start());

  await writeFile(answered, "");
  await addon.command("behave", { items: [reference(addon.place.uri, 2)] });
  assert.deepEqual((await next.references(addon.place)).payload?.items, [reference(addon.place.uri, 2)]);

  assert.deepEqual((await addon.report()).uncaught, []);
});

test("what a provider says when it fails is logged, and told to nobody", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { fails: "the marmot is asleep" });

  const { error } = await client.references(addon.place);

  assert.doesNotMatch(JSON.stringify(error), /marmot/);
  await addon.logged((line, level) => level === 2 && line.includes("the marmot is asleep"));
});

test("a provider that hangs costs the time limit and no more, and the error says to try again", async (t) => {
  const [addon, client] = await AddonProcess.serve(t, { requestTimeoutMs: 300 });
  await addon.command("behave", { hangs: true });

  const begun = performance.now();
  const { error } = await client.references(addon.place);
  const took = performance.now() - begun;

  assert.equal(error?.data.code, "MCP_LSP_GATEWAY/CAP_EXCEEDED");
  assert.deepEqual(error?.data.details, { reason: "timeout", retryable: true });
  assert.ok(took >= 299 && took < 300 + PROMPTLY_MS, `it took ${took} ms`);
});

test("a blocked JavaScript thread keeps nobody from the timeout, however many ask", async (t) => {
  const [addon, client] = await AddonProcess.serve(t, { requestTimeoutMs: 200 });
  const { uri } = addon.place;
  await addon.command("behave", { items: [reference(uri, 1)] });
  const unblock = join(await temporaryFolder(t), "unblock");
  await addon.command("blockUntil", { file: unblock });

  // More than the queue of questions holds, and no two of them the same question.
  const asked = Array.from({ length: 100 }, (_, line) => client.references({ uri, position: { line, character: 0 } }));
  const details = (await Promise.all(asked)).map(({ error }) => error?.data.details);
  await writeFile(unblock, "");

  assert.deepEqual(details, Array(100).fill({ reason: "timeout", retryable: true }));
  assert.equal((await inTime(() => client.references(addon.place))).payload?.items.length, 1);
});

test("stopping while a call hangs takes a moment and ends the call", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { hangs: true });
  const call = client.references(addon.place).then(
    ({ error }) => error?.data.code,
    () => "the connection ended",
  );
  await addon.asked();

  const begun = performance.now();
  await addon.command("stop", {});
  const took = performance.now() - begun;

  assert.ok(took < PROMPTLY_MS, `it took ${took} ms`);
  assert.equal(await call, "the connection ended");
  await assert.rejects(client.ping());
});

test("stopping again, at the same time or later, changes nothing", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);

  await addon.command("stopTwice", {});
  await addon.command("stop", {});

  await assert.rejects(client.ping());
});

test("a stopped gateway can be followed by another on the same port", async (t) => {
  const addon = await AddonProcess.spawn(t);
  const port = await addon.start();
  await addon.command("stop", {});

  assert.equal(await addon.start({ ports: [port] }), port);

  assert.equal(await (await addon.client(port)).ping(), 200);
  await addon.logged((line) => line.startsWith("listening"), 2);
});

test("the process exits by itself after a stop", async (t) => {
  const [addon] = await AddonProcess.serve(t);
  await addon.command("stop", {});

  assert.equal(await addon.exit(), 0);
});

test("the process exits by itself without a stop, even while a call hangs", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { hangs: true });
  const call = assert.rejects(client.references(addon.place));
  await addon.asked();

  assert.equal(await addon.exit(), 0);
  await call;
});

test("a taken port is passed over for the next candidate", async (t) => {
  const taken = await takePort(t);
  const free = await takePort(t);
  free.server.close();
  await once(free.server, "close");
  const addon = await AddonProcess.spawn(t);

  assert.equal(await addon.start({ ports: [taken.port, free.port] }), free.port);
});

test("with every candidate taken the start is refused in one sentence, and can be repeated", async (t) => {
  const taken = [await takePort(t), await takePort(t)];
  const addon = await AddonProcess.spawn(t);

  await assert.rejects(addon.start({ ports: taken.map(({ port }) => port) }), {
    message:
      /^None of the wished ports could be opened on 127\.0\.0\.1 .*; free one, or set `mcpLspGateway\.port` .*\.$/,
  });

  assert.ok((await addon.start({ ports: [0] })) > 0);
});

test("options that make no sense are refused by their names", async (t) => {
  const addon = await AddonProcess.spawn(t);
  const { sessionKey } = addon.options;

  await assert.rejects(addon.start({ ports: [] }), { message: /ports/ });
  await assert.rejects(addon.start({ ports: [65_536] }), {
    message: "The option ports is not numbers from 0 to 65535.",
  });
  await assert.rejects(addon.start({ ports: [0], sessionKey: "c2hvcnQ" }), { message: /sessionKey/ });
  await assert.rejects(addon.start({ sessionKey, logLevel: "loud" }), { message: /logLevel/ });
  await assert.rejects(addon.start({ logLevel: "info", rootsEpoch: -1 }), { message: /rootsEpoch/ });
});

test("other tokens are in force with the next request", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const token = randomBytes(32).toString("base64url");

  await addon.configure({ tokens: [token] });

  assert.equal(await client.ping(), 401);
  const other = new Client(client.url, token);
  other.session = client.session;
  assert.equal(await other.ping(), 200);

  await addon.configure({ tokens: [] });
  assert.equal(await other.ping(), 401);
});

test("other roots are in force with the next request, and make cursors stale", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const [root = ""] = addon.options.roots;
  const elsewhere = join(root, "..", "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "other.ts"), "");
  const other = { ...addon.place, uri: pathToFileURL(join(elsewhere, "other.ts")).href };
  await addon.command("behave", { items: [reference(addon.place.uri, 1), reference(addon.place.uri, 2)] });
  assert.equal(codeOf(await client.references(other)), "MCP_LSP_GATEWAY/WORKSPACE_DENIED");
  const cursor = (await client.references(addon.place, { pageSize: 1 })).payload?.nextCursor;

  await addon.configure({ roots: [root, elsewhere] });

  assert.equal(codeOf(await client.references(other)), undefined);
  const stale = await client.references(addon.place, { pageSize: 1, cursor });
  assert.equal(codeOf(stale), "MCP_LSP_GATEWAY/CURSOR_STALE");
  assert.deepEqual(stale.error?.data.details, { changed: ["roots"] });

  await addon.configure({ roots: [] });
  assert.equal(codeOf(await client.references(addon.place)), "MCP_LSP_GATEWAY/WORKSPACE_DENIED");
});

test("other caps are in force with the next request", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { items: [1, 2, 3].map((line) => reference(addon.place.uri, line)) });
  assert.equal((await client.references(addon.place)).payload?.items.length, 3);

  await addon.configure({ maxItemsPerPage: 2 });
  assert.equal((await client.references(addon.place)).payload?.items.length, 2);

  await addon.command("behave", { hangs: true });
  await addon.configure({ requestTimeoutMs: 100 });
  const begun = performance.now();
  assert.equal(codeOf(await client.references(addon.place)), "MCP_LSP_GATEWAY/CAP_EXCEEDED");
  assert.ok(performance.now() - begun < PROMPTLY_MS);
});

test("caps beyond the contract's are not put in force", async (t) => {
  const loose = { maxItemsPerPage: 1_000, maxResponseBytes: 2 ** 30, requestTimeoutMs: 60_000 };
  const [addon, client] = await AddonProcess.serve(t, loose);
  const { uri } = addon.place;
  const name = "n".repeat(3_000);
  const location = { uri, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 5 } } };
  const symbol = (number: number) => ({ name: `${name}${number}`, kind: 11, location });
  await addon.command("behave", { items: Array.from({ length: 400 }, (_, number) => symbol(number)) });
  const search = (pageSize: number) => client.call("vscode.lsp.workspaceSymbols", { query: "n", pageSize });

  const { details } = (await search(1_000)).error?.data ?? {};
  assert.equal(details?.["maxResponseBytes"], 524_288);
  assert.ok(Number(details?.["responseBytes"]) < 200 * 3_500, "the page that did not fit had 200 items");
  assert.equal((await search(100)).payload?.items.length, 100);

  await addon.command("behave", { hangs: true });
  const { error } = await client.references(addon.place);
  assert.match(error?.message ?? "", /^No complete answer within 2000 ms;/);
});

test("a configuration that cannot be used changes nothing", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const sessionKey = randomBytes(32).toString("base64url");

  await assert.rejects(addon.configure({ tokens: [], logLevel: "loud" }), { message: /logLevel/ });
  await assert.rejects(addon.configure({ tokens: [], sessionKey }), { message: /start a new one/ });
  await assert.rejects(addon.configure({ tokens: [], workspace: "other" }), { message: /start a new one/ });

  assert.equal(await client.ping(), 200);
});

test("a bump makes a cursor stale and the error names what moved", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { items: [reference(addon.place.uri, 1), reference(addon.place.uri, 2)] });
  const page = (cursor: string | null) => client.references(addon.place, { pageSize: 1, cursor });

  for (const kind of ["text", "fs", "roots"]) {
    const cursor = (await page(null)).payload?.nextCursor;
    await addon.command("bump", { kind });
    const stale = await page(cursor);
    assert.equal(codeOf(stale), "MCP_LSP_GATEWAY/CURSOR_STALE");
    assert.deepEqual(stale.error?.data.details, { changed: [kind] });
  }

  // References do not depend on diagnostics.
  const cursor = (await page(null)).payload?.nextCursor;
  await addon.command("bump", { kind: "diagnostics" });
  assert.deepEqual((await page(cursor)).payload?.items, [reference(addon.place.uri, 2)]);
});

test("a bump of something unknown is refused and harms nothing", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);

  await assert.rejects(addon.command("bump", { kind: "mood" }), { message: /roots, text, fs or diagnostics/ });

  assert.equal(await client.ping(), 200);
});

test("an ended session is told of, and stays ended in the next gateway", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  assert.equal(await client.end(), 204);
  assert.equal(await client.ping(), 404);

  const { ended, uncaught } = await addon.report(({ ended }) => ended.length > 0);
  assert.deepEqual(ended, [[client.session]]);
  assert.deepEqual(uncaught, [], "that the editor failed to keep it is nobody's exception");

  await addon.command("stop", {});
  const reloaded = new Client(urlOf(await addon.start({ endedSessions: [...(ended[0] ?? [])] })), client.token);
  reloaded.session = client.session;
  assert.equal(await reloaded.ping(), 404);
});

test("a session goes on in the next gateway of the same workspace, and in no other", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  const { workspace } = addon.options;
  const next = async (change: object) => {
    await addon.command("stop", {});
    const reloaded = new Client(urlOf(await addon.start(change)), client.token);
    reloaded.session = client.session;
    return reloaded.ping();
  };

  assert.equal(await next({}), 200);
  assert.equal(await next({ workspace: "another" }), 404);
  assert.equal(await next({ workspace }), 200);
});

test("the log names no token, no session and no path outside the roots", async (t) => {
  const [addon, client] = await AddonProcess.serve(t, { logLevel: "trace" });
  const [token = ""] = addon.options.tokens;
  const [root = ""] = addon.options.roots;
  await addon.command("behave", {
    fails: `no ${root}/main.ts, no /home/somebody/secret plan.txt\nand a line of my own, with ${token}`,
  });
  await client.references(addon.place);
  await client.references({ ...addon.place, uri: "file:///etc/passwd" });
  await new Client(client.url, "wrong-token-of-somebody").ping();
  await client.end();

  const { log } = await addon.logged((line) => line.startsWith("a client ended its session"));
  const text = log.map(({ line }) => line).join("\n");
  assert.match(text, /references/, "something was logged");
  assert.ok(text.includes(`${root}/main.ts`), "a path inside the roots may be named");
  assert.doesNotMatch(text, /somebody|passwd/);
  assert.ok(!text.includes(token));
  assert.ok(!text.includes(client.session ?? token));
  assert.ok(log.every(({ line }) => !line.includes("\n")));
});

test("another token is redacted from the moment it is in force", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.configure({ tokens: ["short", addon.options.tokens[0] ?? ""] });
  await addon.command("behave", { fails: "the word is short" });

  await client.references(addon.place);

  await addon.logged((line) => line.includes("the word is [redacted]"));
});

test("the log level holds from the start, and another with the next line", async (t) => {
  const [addon, client] = await AddonProcess.serve(t, { logLevel: "off" });
  await addon.command("behave", { fails: "first" });
  await client.references(addon.place);
  assert.deepEqual((await addon.report()).log, []);

  await addon.configure({ logLevel: "warn" });
  await addon.command("behave", { fails: "second" });
  await client.references(addon.place);

  // Lines come in the order in which they were written.
  const { log } = await addon.logged((line) => line.includes("second"));
  assert.deepEqual(
    log.map(({ level }) => level),
    [2],
  );
  assert.match(log[0]?.line ?? "", /second/);
});

test("a line without end is cut", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("behave", { fails: "long ".repeat(20_000) });

  await client.references(addon.place);

  const { log } = await addon.logged((line) => line.includes("long long"));
  assert.ok(log.every(({ line }) => line.length <= 4_096));
});

test("lines that a blocked thread cannot take are dropped, and counted once it can", async (t) => {
  const [addon, client] = await AddonProcess.serve(t, { requestTimeoutMs: 100, logLevel: "info" });
  const unblock = join(await temporaryFolder(t), "unblock");
  await addon.command("blockUntil", { file: unblock });

  // Each of these is one line, and together they are more than may wait.
  for (let hundred = 0; hundred < 12; hundred++) {
    await Promise.all(Array.from({ length: 100 }, () => client.call("vscode.lsp.hover", addon.place)));
  }
  await writeFile(unblock, "");
  // As many as may wait. There is room again when they have crossed.
  await addon.logged((line) => line.startsWith("call "), 256);
  await client.call("vscode.lsp.hover", addon.place);

  const { log } = await addon.logged((line) => line.includes("(lines lost before this one: "));
  const calls = log.filter(({ line }) => line.startsWith("call "));
  const [, lost] = / \(lines lost before this one: (\d+)\)$/.exec(calls.at(-1)?.line ?? "") ?? [];
  assert.ok(Number(lost) > 0);
  assert.equal(calls.length + Number(lost), 1201);
});

test("a log that throws is nobody's exception", async (t) => {
  const [addon, client] = await AddonProcess.serve(t);
  await addon.command("throwFromLog", {});
  await addon.command("behave", { fails: "once" });

  await client.references(addon.place);

  const { uncaught } = await addon.logged((line) => line.includes("once"));
  assert.deepEqual(uncaught, []);
});

/** A port of 127.0.0.1 on which somebody else listens until the test ends. */
async function takePort(t: TestContext): Promise<{ server: Server; port: number }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}
