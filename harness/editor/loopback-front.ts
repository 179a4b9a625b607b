// A port of 127.0.0.1 in front of a server that listens on a Unix socket and lets everybody in. A web page can make a
// browser send requests to any local port, across origins or under a name of its own (DNS rebinding), so what does not
// come from the server's own pages or from no page at all is refused here.

import { createServer, type IncomingMessage, type RequestOptions, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

/** What a browser calls the loopback interface. */
const NAMES = ["127.0.0.1", "localhost", "[::1]"];

const REFUSAL = "This address is for programs and pages of this machine.\n";

export class LoopbackFront {
  readonly url: string;
  readonly #server: Server;
  readonly #hosts: ReadonlySet<string>;
  readonly #socket: string;
  /** Connections that were upgraded, which the server no longer knows. */
  readonly #upgraded = new Set<Duplex>();

  private constructor(server: Server, socket: string) {
    const { port } = server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
    this.#server = server;
    this.#socket = socket;
    this.#hosts = new Set(NAMES.map((name) => `${name}:${port}`));
    server.on("request", (incoming, outgoing) => {
      if (!this.#lets(incoming)) {
        outgoing.writeHead(403, { "Content-Type": "text/plain", Connection: "close" }).end(REFUSAL);
        return;
      }
      const onward = request(this.#onward(incoming), (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(outgoing);
        answer.on("error", () => outgoing.destroy());
      });
      onward.on("error", () => outgoing.destroy());
      outgoing.on("close", () => onward.destroy());
      incoming.pipe(onward);
    });
    server.on("upgrade", (incoming, client, head) => this.#upgrade(incoming, client, head));
  }

  /** Listens on a free port, and hands everything that is let in to the server on the Unix socket. */
  static async start(socket: string): Promise<LoopbackFront> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    return new LoopbackFront(server, socket);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    for (const connection of this.#upgraded) {
      connection.destroy();
    }
    await closed;
  }

  #lets({ headers, headersDistinct }: IncomingMessage): boolean {
    const { host = "", origin } = headers;
    const named = headersDistinct["host"]?.length === 1 && this.#hosts.has(host.toLowerCase());
    return named && (origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`);
  }

  #onward({ method = "GET", url = "/", headers }: IncomingMessage): RequestOptions {
    return { socketPath: this.#socket, method, path: url, headers };
  }

  #upgrade(incoming: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on("error", () => client.destroy());
    this.#upgraded.add(client);
    client.on("close", () => this.#upgraded.delete(client));
    if (!this.#lets(incoming)) {
      client.end(`HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`);
      return;
    }
    const onward = request({ ...this.#onward(incoming), agent: false });
    onward.on("error", () => client.destroy());
    // Without an upgrade the connection ends: whatever else came over it would not be checked.
    onward.on("response", (answer) => {
      answer.resume();
      client.end(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\nConnection: close\r\n\r\n`);
    });
    onward.on("upgrade", (answer, server, first) => {
      client.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(answer)}\r\n`);
      client.write(first);
      server.write(head);
      client.pipe(server).pipe(client);
      client.on("close", () => server.destroy());
      server.on("error", () => client.destroy()).on("close", () => client.destroy());
    });
    onward.end();
  }
}

function headerLines({ rawHeaders }: IncomingMessage): string {
  let lines = "";
  for (let at = 0; at < rawHeaders.length; at += 2) {
    lines += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  }
  return lines;
}
