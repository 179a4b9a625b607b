import assert from "node:assert/strict";
import { eventually } from "../../harness/machine/eventually.ts";

/** An error as a tool call gets it. */
export interface ToolError {
  readonly code: number;
  readonly message: string;
  readonly data: { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> };
}

/** What came back for a tool call: one of the two. */
export interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: each test looks into the payload of its own tool.
  readonly payload?: any;
  readonly error?: ToolError;
}

/** The first answer that does not come too late for its own call: then the question goes on, and a later call has it. */
export function inTime(call: () => Promise<Outcome>): Promise<Outcome> {
  return eventually(call, ({ error }) => error?.data.details?.["reason"] !== "timeout");
}

/** A client that speaks plain HTTP, so that nothing of an SDK hides what the gateway says. */
export class Client {
  readonly url: string;
  readonly token: string;
  session: string | undefined;
  #id = 0;

  constructor(url: string, token: string) {
    this.url = url;
    this.token = token;
  }

  /** A client in a session of its own. */
  static async connect(url: string, token: string): Promise<Client> {
    const client = new Client(url, token);
    await client.initialize();
    return client;
  }

  async initialize(): Promise<void> {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test/native", version: "0" },
    };
    const response = await this.post({ jsonrpc: "2.0", id: this.#nextId(), method: "initialize", params });
    assert.equal(response.status, 200);
    await response.text();
    this.session = response.headers.get("mcp-session-id") ?? undefined;
    assert.ok(this.session);
    const ready = await this.post({ jsonrpc: "2.0", method: "notifications/initialized" });
    assert.equal(ready.status, 202);
  }

  post(message: object): Promise<Response> {
    return fetch(this.url, { method: "POST", headers: this.#headers(), body: JSON.stringify(message) });
  }

  /** Ends the session and resolves to the status. */
  async end(): Promise<number> {
    const response = await fetch(this.url, { method: "DELETE", headers: this.#headers() });
    await response.text();
    return response.status;
  }

  /** The status that a ping is answered with. */
  async ping(): Promise<number> {
    const response = await this.post({ jsonrpc: "2.0", id: this.#nextId(), method: "ping" });
    await response.text();
    return response.status;
  }

  async call(name: string, args: object): Promise<Outcome> {
    const params = { name, arguments: args };
    const response = await this.post({ jsonrpc: "2.0", id: this.#nextId(), method: "tools/call", params });
    assert.equal(response.status, 200);
    // biome-ignore lint/suspicious/noExplicitAny: the envelope is JSON-RPC's, and is what is looked at here.
    const message: any = await response.json();
    return "error" in message ? { error: message.error } : { payload: message.result.structuredContent };
  }

  /** Calls `vscode.lsp.references`. */
  references(place: object, more: object = {}): Promise<Outcome> {
    return this.call("vscode.lsp.references", { includeDeclaration: true, ...place, ...more });
  }

  #headers(): Record<string, string> {
    return {
      authorization: `Bearer ${this.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(this.session === undefined ? {} : { "mcp-session-id": this.session }),
    };
  }

  #nextId(): number {
    this.#id += 1;
    return this.#id;
  }
}
