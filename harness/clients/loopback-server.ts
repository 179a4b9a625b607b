import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** An HTTP server on a free port of 127.0.0.1. */
export class LoopbackServer {
  readonly server: Server;
  readonly origin: string;

  private constructor(server: Server) {
    this.server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(listener?: RequestListener): Promise<LoopbackServer> {
    // A client that thinks for longer than Node keeps a connection could ask just as that is closed.
    const server = createServer({ keepAliveTimeout: 0 }, listener);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return new LoopbackServer(server);
  }

  close(): Promise<void> {
    return new Promise((closed) => {
      this.server.close(() => closed());
      this.server.closeAllConnections();
    });
  }
}
