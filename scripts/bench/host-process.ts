// The parent's side of host.ts: a gateway in a process of its own, and requests to it as they go over the wire.

import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { GatewayOptions } from "../../extension/native.d.ts";
import { Failure } from "../../harness/machine/progress.mjs";
import type { Commands } from "./host.ts";
import type { Project } from "./project.ts";

const HOST = fileURLToPath(new URL("host.ts", import.meta.url));
const REVISION = "2025-11-25";

/** The document that questions about a position are about. */
export interface Place {
  readonly uri: string;
  readonly position: { readonly line: number; readonly character: number };
}

// biome-ignore lint/suspicious/noExplicitAny: each caller looks into the payload of its own tool.
export type Payload = any;

/** A process in which nothing is started yet. It ends with this one. */
export class HostProcess {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (done: unknown) => void; reject: (error: Error) => void }>();
  #id = 0;

  constructor() {
    this.#process = fork(HOST, { execArgv: ["--expose-gc"], serialization: "advanced" });
    this.#process.on("message", ({ id, done, failed }: { id: number; done?: unknown; failed?: string }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failed === undefined) {
        waiting?.resolve(done);
      } else {
        waiting?.reject(new Failure(`The process with the addon failed: ${failed}`));
      }
    });
    this.#process.on("exit", () => {
      for (const { reject } of this.#waiting.values()) {
        reject(new Failure("The process with the addon has ended; what it wrote last stands above."));
      }
    });
  }

  /** Has the process do something, and resolves to what it answers once it is done. */
  command<C extends keyof Commands>(name: C, argument: Commands[C]): Promise<unknown> {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.send({ id, name, argument });
    });
  }

  async resident(): Promise<number> {
    return Number(await this.command("resident", null));
  }

  /** Starts a gateway over the project, with a client in a session. */
  async serve(project: Project): Promise<ServedGateway> {
    const token = randomBytes(32).toString("base64url");
    const options: GatewayOptions = {
      version: "0.0.0",
      roots: [project.root],
      ignore: [],
      catalog: ["v1"],
      tokens: [token],
      sessionKey: randomBytes(32).toString("base64url"),
      workspace: project.root,
      endedSessions: [],
      allowedOrigins: [],
      protocolFallback: false,
      maxItemsPerPage: 200,
      maxResponseBytes: 524_288,
      requestTimeoutMs: 2_000,
      rootsEpoch: Date.now(),
      ports: [0],
      logLevel: "info",
    };
    const port = Number(await this.command("start", options));
    return ServedGateway.connect(port, token, pathToFileURL(project.files[0] ?? "").href);
  }

  end(): void {
    this.#process.kill();
  }
}

export class ServedGateway {
  readonly port: number;
  readonly token: string;
  readonly #document: string;
  #session = "";

  private constructor(port: number, token: string, document: string) {
    this.port = port;
    this.token = token;
    this.#document = document;
  }

  static async connect(port: number, token: string, document: string): Promise<ServedGateway> {
    const gateway = new ServedGateway(port, token, document);
    const clientInfo = { name: "bench", version: "0" };
    const params = { protocolVersion: REVISION, capabilities: {}, clientInfo };
    const answer = await gateway.#post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
    gateway.#session = answer.headers.get("mcp-session-id") ?? "";
    await answer.text();
    await gateway.#post('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return gateway;
  }

  /** A position for each line. */
  place(line: number): Place {
    return { uri: this.#document, position: { line, character: 4 } };
  }

  /** The payload of a call, and how many bytes its whole body has. An error is a failure of the benchmark. */
  async call(tool: string, args: object): Promise<{ payload: Payload; bytes: number }> {
    const answer = await this.#post(body(tool, args));
    const text = await answer.text();
    const payload = JSON.parse(text).result?.structuredContent;
    if (payload === undefined) {
      throw new Failure(`${tool} was answered with ${text}`);
    }
    return { payload, bytes: Buffer.byteLength(text) };
  }

  /** A call as it goes over the wire. */
  request(tool: string, args: object): string {
    const content = body(tool, args);
    const lines = [
      "POST /mcp HTTP/1.1",
      `host: 127.0.0.1:${this.port}`,
      ...Object.entries(this.#headers()).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${Buffer.byteLength(content)}`,
    ];
    return `${lines.join("\r\n")}\r\n\r\n${content}`;
  }

  #post(content: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}/mcp`, { method: "POST", headers: this.#headers(), body: content });
  }

  #headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(this.#session === "" ? {} : { "mcp-session-id": this.#session, "mcp-protocol-version": REVISION }),
    };
  }
}

/** The id never changes, so that equal calls are answered by as many bytes. */
function body(tool: string, args: object): string {
  const params = { name: `vscode.lsp.${tool}`, arguments: args };
  return JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
}
