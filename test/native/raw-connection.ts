// Connections that say exactly the bytes that a test wants, however wrong.

import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** A response; its headers' names in lower case. */
export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** One connection to a gateway. */
export class RawConnection {
  readonly socket: Socket;
  #received = "";
  #ended = false;
  #wake = (): void => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      this.#received += text;
      this.#wake();
    });
    socket.on("end", () => this.#wake());
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  static async open(t: TestContext, port: number, { reads = true } = {}): Promise<RawConnection> {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    t.after(() => socket.destroy());
    const connection = new RawConnection(socket);
    await once(socket, "connect");
    if (!reads) {
      socket.pause();
    }
    return connection;
  }

  write(text: string): void {
    if (this.socket.writable) {
      this.socket.write(text, "latin1");
    }
  }

  /** Whether the other side has closed the connection, or reset it. */
  get closed(): boolean {
    return this.#ended || this.socket.readableEnded || this.socket.destroyed;
  }

  /** The next response; nothing if the connection ends without one. */
  async response(): Promise<RawResponse | undefined> {
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      const [first = "", ...lines] = this.#received.slice(0, Math.max(end, 0)).split("\r\n");
      const headers = new Map(
        lines.map((line): [string, string] => {
          const [name = "", value = ""] = line.split(/: (.*)/, 2);
          return [name.toLowerCase(), value];
        }),
      );
      const after = end + 4 + Number(headers.get("content-length") ?? 0);
      if (end >= 0 && this.#received.length >= after) {
        const body = this.#received.slice(end + 4, after);
        this.#received = this.#received.slice(after);
        return { status: Number(first.split(" ")[1]), headers, body };
      }
      if (this.closed) {
        return undefined;
      }
      await this.#more();
    }
  }

  /** Resolves once the other side has closed the connection. */
  async end(): Promise<void> {
    while (!this.closed) {
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** A request that may come in, as bytes. */
export function requestOf(
  token: string,
  session: string | undefined,
  body: string,
  more: readonly string[] = [],
): string {
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    ...(session === undefined ? [] : [`MCP-Session-Id: ${session}`]),
    ...(more.length > 0 ? more : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}
