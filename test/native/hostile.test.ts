// Clients that want to keep others out, or the editor's process busy. Each test has an honest client beside them, which
// has to be served in the meantime.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../harness/machine/eventually.ts";
import { AddonProcess, urlOf } from "./addon-process.ts";
import { Client } from "./client.ts";
import { RawConnection, requestOf } from "./raw-connection.ts";

/** How long an honest client waits at most while others misbehave, on a machine that does other things as well. */
const SERVED_WITHIN_MS = 5_000;
/** What the process may grow by: connections, calls and what is remembered are bounded, and so is this. */
const MAX_GROWTH = 192 * 1024 * 1024;
const MAX_GROWTH_OF_THE_DEAREST = 640 * 1024 * 1024;
/** `MAX_CONNECTIONS`, and what else a process has open. */
const MAX_FILES_MORE = 256 + 16;

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** A running gateway, a client in it, and how to see that it is served. */
async function attacked(t: Parameters<typeof AddonProcess.serve>[0]) {
  const addon = await AddonProcess.spawn(t);
  const port = await addon.start({ logLevel: "warn" });
  const client = await addon.client(port);
  await addon.command("behave", { items: [{ contents: ["text"] }] });
  const before = addon.usage();
  const token = addon.options.tokens[0] ?? "";
  const params = { name: "vscode.lsp.hover", arguments: addon.place };
  const hover = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  /**
   * The honest client asks on a connection of its own, as one does that has just been started: one that has waited may be
   * closed just as it is used again, which HTTP leaves to the client.
   */
  const honest = async () => {
    const begun = performance.now();
    const fresh = await RawConnection.open(t, port);
    fresh.write(requestOf(token, client.session, hover));
    const { status, body } = (await fresh.response()) ?? {};
    fresh.socket.destroy();
    assert.equal(status, 200);
    assert.deepEqual(JSON.parse(body ?? "").result.structuredContent.contents, [{ kind: "markdown", value: "text" }]);
    const took = performance.now() - begun;
    assert.ok(took < SERVED_WITHIN_MS, `it took ${took} ms`);
  };
  const bounded = async (growth = MAX_GROWTH) => {
    const files = await filesAtMost(addon, before.files + MAX_FILES_MORE);
    assert.ok(files - before.files <= MAX_FILES_MORE, `${files - before.files} more files are open`);
    const { bytes } = addon.usage();
    assert.ok(bytes - before.bytes <= growth, `${bytes - before.bytes} bytes more`);
  };
  await honest();
  return { addon, port, client, token, honest, bounded };
}

/** How many files are open, once they are no more than so many: one that has to go is closed a moment later. */
function filesAtMost(addon: AddonProcess, most: number): Promise<number> {
  return eventually(
    async () => addon.usage().files,
    (files) => files <= most,
    SERVED_WITHIN_MS,
  );
}

function many<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

test("a thousand connections that say nothing keep nobody out", async (t) => {
  const { port, honest, bounded, token, client } = await attacked(t);
  const known = await RawConnection.open(t, port);
  known.write(requestOf(token, client.session, PING));
  assert.equal((await known.response())?.status, 200);
  const silent = await many(1_000, () => RawConnection.open(t, port));
  await honest();
  await bounded();
  // There is room for 256, those that are served among them.
  await new Promise<void>((resolve) => {
    let closed = 0;
    for (const connection of silent) {
      void connection.end().then(() => {
        closed += 1;
        if (closed === 1_000 - 256) {
          resolve();
        }
      });
    }
  });
  assert.ok(silent.filter(({ closed }) => !closed).length >= 200, "no more are closed than has to be");
  known.write(requestOf(token, client.session, PING));
  assert.equal((await known.response())?.status, 200, "who has shown a token stays");
  await honest();
});

test("a thousand heads that never end keep nobody out", async (t) => {
  const { port, honest, bounded, token } = await attacked(t);
  const slow = await many(1_000, () => RawConnection.open(t, port));
  for (const character of requestOf(token, undefined, PING).slice(0, 60)) {
    for (const connection of slow) {
      connection.write(character);
    }
    await new Promise(setImmediate);
  }
  await honest();
  await bounded();
});

test("bodies that come slowly, or never end, keep nobody out", async (t) => {
  const { port, honest, bounded, token, client } = await attacked(t);
  const unfinished = requestOf(token, client.session, PING).slice(0, -1);
  await many(300, async () => (await RawConnection.open(t, port)).write(unfinished));
  await honest();
  const endless = await many(20, async () => {
    const connection = await RawConnection.open(t, port);
    connection.write(requestOf(token, client.session, "", ["Transfer-Encoding: chunked"]));
    return connection;
  });
  const piece = `8000\r\n${"x".repeat(0x8000)}\r\n`;
  const refused = endless.map(async (connection) => {
    const answered = connection.response();
    for (let pieces = 0; pieces < 300 && !connection.closed; pieces++) {
      connection.write(piece);
      await new Promise(setImmediate);
    }
    return (await answered)?.status;
  });
  await honest();
  // Whoever is reset over what was still on its way may not get to see the answer.
  assert.ok((await Promise.all(refused)).every((status) => status === 413 || status === undefined));
  await honest();
  await bounded();
});

test("a body that is announced too large is refused before it comes", async (t) => {
  const { port, honest, token, client } = await attacked(t);
  const connection = await RawConnection.open(t, port);
  connection.write(requestOf(token, client.session, "", ["Content-Length: 99999999999"]));
  assert.equal((await connection.response())?.status, 413);
  await honest();
});

test("a thousand requests on one connection are answered in turn, and nobody has to read the answers", async (t) => {
  const { port, honest, bounded, token, client } = await attacked(t);
  const one = requestOf(token, client.session, PING);
  const pipelined = await RawConnection.open(t, port);
  pipelined.write(one.repeat(1_000));
  for (let answers = 0; answers < 1_000; answers++) {
    assert.equal((await pipelined.response())?.status, 200);
  }
  const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const greedy = requestOf(token, client.session, list).repeat(1_000);
  await many(300, async () => (await RawConnection.open(t, port, { reads: false })).write(greedy));
  await honest();
  await bounded();
});

test("half a connection that is closed costs the other half and no more", async (t) => {
  const { addon, port, honest, token, client } = await attacked(t);
  const { files } = addon.usage();
  const halves = await many(200, async (index) => {
    const connection = await RawConnection.open(t, port);
    connection.write(requestOf(token, client.session, PING).slice(0, index));
    connection.socket.end();
    return connection;
  });
  await Promise.all(halves.map((half) => half.end()));
  await honest();
  assert.ok((await filesAtMost(addon, files + 2)) <= files + 2, "what is closed is gone");
});

test("a flood of wrong tokens is refused and keeps nobody out", async (t) => {
  const { port, honest, bounded } = await attacked(t);
  const wrong = requestOf("x".repeat(43), undefined, PING);
  let refused = 0;
  const flood = many(50, async () => {
    for (let attempts = 0; attempts < 60; attempts++) {
      const connection = await RawConnection.open(t, port);
      connection.write(wrong);
      const status = (await connection.response())?.status;
      assert.ok(status === 401 || status === undefined, `${status}`);
      refused += status === 401 ? 1 : 0;
      connection.socket.destroy();
    }
  });
  await honest();
  await flood;
  await honest();
  assert.ok(refused > 1_000, `${refused} were told why`);
  await bounded();
});

test("a client that opens sessions for ever, and one that ends them for ever, take nothing from another's", async (t) => {
  const { addon, port, client, token, honest, bounded } = await attacked(t);
  const url = urlOf(port);
  const initialize = JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "0" } },
  });
  await many(20, async () => {
    const connection = await RawConnection.open(t, port);
    for (let sessions = 0; sessions < 250; sessions++) {
      connection.write(requestOf(token, undefined, initialize));
      const answered = await connection.response();
      assert.equal(answered?.status, 200);
      const session = answered.headers.get("mcp-session-id");
      if (sessions % 10 === 0) {
        connection.write(requestOf(token, session, "").replace("POST", "DELETE"));
        assert.equal((await connection.response())?.status, 204);
      }
    }
  });
  await honest();
  assert.equal(await (await Client.connect(url, token)).ping(), 200);
  assert.equal(await client.ping(), 200, "an old session goes on");
  await bounded();
  assert.deepEqual((await addon.report()).uncaught, []);
});

test("calls beyond what is served at once are told so, by session and by all, and others are served after", async (t) => {
  const addon = await AddonProcess.spawn(t);
  const port = await addon.start({ requestTimeoutMs: 2_000, logLevel: "warn" });
  const [one, two] = [await addon.client(port), await addon.client(port)];
  const unanswered = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "vscode.lsp.hover", arguments: addon.place },
  });
  await addon.command("behave", { late: 600_000 });
  const connect = async () => {
    const connection = await RawConnection.open(t, port);
    // Whoever has shown no token may have to go when so many come.
    connection.write(requestOf(one.token, one.session, PING));
    assert.equal((await connection.response())?.status, 200);
    return connection;
  };
  const call = async (connection: RawConnection, session: string | undefined) => {
    connection.write(requestOf(one.token, session, unanswered));
    const head = await connection.response();
    connection.socket.destroy();
    return head;
  };
  const statuses = async (session: string | undefined, connections: readonly RawConnection[]) => {
    const answered = await Promise.all(connections.map((connection) => call(connection, session)));
    for (const head of answered.filter((head) => head?.status !== 200)) {
      assert.equal(head?.headers.get("retry-after"), "1");
    }
    return answered.map((head) => head?.status).sort();
  };
  // Connected beforehand, so that the calls come at once.
  const first = statuses(one.session, await many(129, connect));
  assert.equal(await two.ping(), 200, "nothing but calls is counted");
  assert.deepEqual(await first, [...Array(128).fill(200), 429]);
  const [ofOne, ofTwo] = [await many(127, connect), await many(70, connect)];
  const both = [statuses(one.session, ofOne), statuses(two.session, ofTwo)];
  const all = (await Promise.all(both)).flat().sort();
  assert.deepEqual(all, [...Array(192).fill(200), ...Array(5).fill(503)]);
  await addon.command("behave", { items: [] });
  assert.equal((await call(await connect(), two.session))?.status, 200);
});

test("sixty-four clients with the dearest question leave the others theirs, and cost no more the second time", async (t) => {
  const { addon, port, honest, bounded, token } = await attacked(t);
  const { uri } = addon.place;
  const range = (line: number) => ({ start: { line, character: 0 }, end: { line, character: 9 } });
  const items = Array.from({ length: 20_000 }, (_, line) => ({ uri, range: range(line) }));
  const clients = await many(64, () => Client.connect(urlOf(port), token));
  for (let round = 0; round < 3; round++) {
    await addon.command("behave", { items });
    const dearest = clients.map(async (client, number) => {
      const position = { line: 64 * round + number, character: 0 };
      const { payload, error } = await client.references({ uri, position }, { pageSize: 200 });
      const code = error?.data.code;
      assert.ok(payload?.items.length === 200 || code === "MCP_LSP_GATEWAY/CAP_EXCEEDED", error?.message);
      return payload !== undefined;
    });
    assert.equal(await (await Client.connect(urlOf(port), token)).ping(), 200);
    assert.ok((await Promise.all(dearest)).some(Boolean), "some are answered");
    await addon.command("behave", { items: [{ contents: ["text"] }] });
    await honest();
    // Sixty-four answers of 20,000 items at once, and those that are held for paging.
    await bounded(MAX_GROWTH_OF_THE_DEAREST);
  }
});
