import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export type Target = { url: URL; authorization: string };

/**
 * Adds the Authorization header for clients that cannot send one, and passes everything else through as it came, the
 * Host and Origin of a hostile page included. It listens before it knows its target, because the gateway has to be
 * started with the proxy's origin on its list.
 */
export class LoopbackProxy {
  readonly origin: string;
  readonly url: string;
  target: Target | undefined;

  private constructor(port: number) {
    this.origin = `http://127.0.0.1:${port}`;
    this.url = `${this.origin}/mcp`;
  }

  /** Starts a proxy that lives as long as the test `t`. */
  static async start(t: TestContext): Promise<LoopbackProxy> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const proxy = new LoopbackProxy((server.address() as AddressInfo).port);
    server.on("request", (incoming, outgoing) => {
      if (proxy.target === undefined) throw new Error("The proxy was asked before it was given its target.");
      const { url, authorization } = proxy.target;
      const { method, headers } = incoming;
      const options = { port: url.port, path: incoming.url, method, headers: { ...headers, authorization } };
      const onward = request({ host: "127.0.0.1", ...options }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on("error", (error) => outgoing.destroy(error));
      incoming.pipe(onward);
    });
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return proxy;
  }
}
