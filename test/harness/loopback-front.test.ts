import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { LoopbackFront } from "../../harness/editor/loopback-front.ts";

interface Served {
  readonly front: LoopbackFront;
  readonly port: number;
  /** What came through, as method, target and Host. */
  readonly arrived: string[];
}

/** A server that lets everybody in: it tells requests their body, and upgraded connections what they send. */
async function served(t: TestContext): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "gateway-front-"));
  const socket = join(folder, "server.socket");
  const arrived: string[] = [];
  const server = createServer((incoming, outgoing) => {
    arrived.push(`${incoming.method} ${incoming.url} ${incoming.headers.host}`);
    void text(incoming).then((body) => outgoing.writeHead(201, { "Set-Cookie": ["a=1", "b=2"] }).end(`told ${body}`));
  });
  server.on("upgrade", (incoming, connection) => {
    arrived.push(`UPGRADE ${incoming.url} ${incoming.headers.host}`);
    if (incoming.url === "/refused") {
      connection.end("HTTP/1.1 404 Not Found\r\n\r\n");
      return;
    }
    connection.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello ");
    connection.pipe(connection);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const front = await LoopbackFront.start(socket);
  t.after(async () => {
    await front.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return { front, port: Number(new URL(front.url).port), arrived };
}

/** Sends these bytes and resolves to all that comes back until the other side ends. */
function raw(port: number, lines: readonly string[], body = ""): Promise<string> {
  const connection = connect(port, "127.0.0.1");
  connection.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  return text(connection);
}

const UPGRADE = ["Connection: Upgrade", "Upgrade: echo"];

test("requests of this machine's programs and of the server's own pages get through as they are", async (t) => {
  const { port, arrived, front } = await served(t);
  for (const name of ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"]) {
    const host = `${name}:${port}`;
    for (const origin of [[], [`Origin: http://${host}`]]) {
      const head = ["POST /a?b=c HTTP/1.1", `Host: ${host}`, ...origin, "Content-Length: 4", "Connection: close"];
      const answer = await raw(port, head, "body");
      assert.match(answer, /^HTTP\/1\.1 201 Created\r\n/);
      assert.match(answer, /\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
      assert.match(answer, /told body/);
      assert.equal(arrived.pop(), `POST /a?b=c ${host}`);
    }
  }
  assert.equal(await (await fetch(front.url)).text(), "told ");
});

test("a request or an upgrade under any other name, or from any other page, is refused and does not get through", async (t) => {
  const { port, arrived } = await served(t);
  const own = `Host: 127.0.0.1:${port}`;
  const foreign = [
    [`Host: evil.example:${port}`],
    ["Host: 127.0.0.1"],
    [`Host: 127.0.0.1:${port + 1}`],
    [`Host: 127.0.0.1.evil.example:${port}`],
    [`Host: 127.0.0.2:${port}`],
    [`Host: localhost.:${port}`],
    ["Host:"],
    [own, `Host: evil.example:${port}`],
    [own, "Origin: null"],
    [own, "Origin:"],
    [own, `Origin: http://evil.example:${port}`],
    [own, `Origin: http://127.0.0.1:${port + 1}`],
    [own, `Origin: https://127.0.0.1:${port}`],
    [own, `Origin: http://localhost:${port}`],
  ];
  for (const head of foreign) {
    assert.match(await raw(port, ["GET / HTTP/1.1", ...head]), /^HTTP\/1\.1 403 Forbidden\r\n/, head.join());
    assert.match(
      await raw(port, ["GET / HTTP/1.1", ...head, ...UPGRADE]),
      /^HTTP\/1\.1 403 Forbidden\r\n/,
      head.join(),
    );
  }
  assert.deepEqual(arrived, []);
});

test("an upgraded connection carries bytes both ways, and ends with either side", async (t) => {
  const { port, front } = await served(t);
  const head = ["GET /talk HTTP/1.1", `Host: localhost:${port}`, `Origin: http://localhost:${port}`, ...UPGRADE];
  const connection = connect(port, "127.0.0.1");
  connection.write(`${head.join("\r\n")}\r\n\r\n`);
  let received = "";
  connection.setEncoding("utf8").on("data", (chunk) => {
    received += chunk;
    if (received.endsWith("hello ")) {
      connection.write("world");
    } else if (received.endsWith("world")) {
      void front.close();
    }
  });
  await new Promise((resolve) => connection.on("close", resolve));
  assert.match(received, /^HTTP\/1\.1 101 Switching Protocols\r\n(?:.+\r\n)*Upgrade: echo\r\n\r\nhello world$/);
});

test("after an upgrade that the server refused, nothing more is taken from the connection", async (t) => {
  const { port, arrived } = await served(t);
  const head = ["GET /refused HTTP/1.1", `Host: localhost:${port}`, ...UPGRADE];
  const answer = await raw(port, head, `GET /second HTTP/1.1\r\nHost: evil.example:${port}\r\n\r\n`);
  assert.match(answer, /^HTTP\/1\.1 404 Not Found\r\n/);
  assert.deepEqual(arrived, [`UPGRADE /refused localhost:${port}`]);
});
