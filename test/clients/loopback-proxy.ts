import { request } from "node:http";
import type { TestContext } from "node:test";
import { LoopbackServer } from "../../harness/clients/loopback-server.ts";

/** Where requests go on to, and what is added to them for clients that cannot send an Authorization header. */
export type Target = { url: URL; authorization?: string };

/** What a client did, and what it got for it. */
export type Exchange = { method: string | undefined; status: number | undefined };

/** What a client said of itself when it began a session, or the method of any other message. */
export type Heard = { method: string; client?: string; revision?: string };

/**
 * Stands between a client and the gateway and passes everything through as it came, the Host and Origin of a hostile page
 * included. It listens before it knows its target, because the gateway has to be started with the proxy's origin on its
 * list.
 */
export class LoopbackProxy {
  readonly origin: string;
  readonly url: string;
  /** In the order in which they were answered. */
  readonly seen: Exchange[] = [];
  /** The messages, in the order in which they came. */
  readonly heard: Heard[] = [];
  target: Target | undefined;

  private constructor(origin: string) {
    this.origin = origin;
    this.url = `${this.origin}/mcp`;
  }

  /** Starts a proxy that lives as long as the test `t`. */
  static async start(t: TestContext): Promise<LoopbackProxy> {
    const listening = await LoopbackServer.start();
    t.after(() => listening.close());
    const proxy = new LoopbackProxy(listening.origin);
    listening.server.on("request", (incoming, outgoing) => {
      if (proxy.target === undefined) throw new Error("The proxy was asked before it was given its target.");
      const { url, ...added } = proxy.target;
      const { method, headers } = incoming;
      const options = { port: url.port, path: incoming.url, method, headers: { ...headers, ...added } };
      const onward = request({ host: "127.0.0.1", ...options }, (answer) => {
        proxy.seen.push({ method, status: answer.statusCode });
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on("error", (error) => outgoing.destroy(error));
      incoming.pipe(onward);
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => proxy.heard.push(...messageIn(Buffer.concat(chunks).toString())));
    });
    return proxy;
  }
}

function messageIn(body: string): Heard[] {
  if (body === "") return [];
  const { method, params } = JSON.parse(body);
  if (method !== "initialize") return [{ method }];
  return [{ method, client: params.clientInfo.name, revision: params.protocolVersion }];
}
