import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Endpoint } from "../gateway/lifecycle.ts";

/** Longer than any call may take. */
const PATIENCE_MS = 10_000;

/** How one call ended, as a client sees it. */
export type Outcome =
  | { readonly kind: "answered"; readonly payload: Readonly<Record<string, unknown>> }
  | {
      readonly kind: "refused";
      /** The last part of the contract's code, such as `CAP_EXCEEDED`; empty if there is none. */
      readonly code: string;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    };

export interface OfferedTool {
  readonly name: string;
  /** The names of the arguments that it cannot do without. */
  readonly required: readonly string[];
}

/** A client of our own gateway, over HTTP like any other, for the check of the workspace. */
export class OwnClient {
  readonly #endpoint: Endpoint;
  readonly #agent = new Agent({ keepAlive: true });
  #session: string | undefined;
  #id = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Begins a session. Resolves to the revision that it is spoken in. */
  async begin(version: string): Promise<string> {
    const clientInfo = { name: "mcp-lsp-gateway-check", version };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const { result } = await this.#ask("initialize", params);
    await this.#post({ jsonrpc: "2.0", method: "notifications/initialized" });
    return String(result?.["protocolVersion"]);
  }

  /** The tools that the catalog lists, each with the arguments that it cannot do without. */
  async tools(): Promise<OfferedTool[]> {
    const { result } = await this.#ask("tools/list", {});
    const tools = result?.["tools"];
    return Array.isArray(tools)
      ? tools.map(({ name, inputSchema }) => ({ name: String(name), required: inputSchema?.required ?? [] }))
      : [];
  }

  async call(name: string, given: object): Promise<Outcome> {
    const { result, error } = await this.#ask("tools/call", { name, arguments: given });
    if (error !== undefined) {
      const { code, details } = (error["data"] ?? {}) as { code?: string; details?: Record<string, unknown> };
      const message = String(error["message"]).replace(/ \[MCP_LSP_GATEWAY\/\w+\]$/, "");
      return { kind: "refused", code: (code ?? "").replace("MCP_LSP_GATEWAY/", ""), message, details: details ?? {} };
    }
    return { kind: "answered", payload: (result?.["structuredContent"] ?? {}) as Record<string, unknown> };
  }

  /** Ends the session and lets go of the connection. */
  async end(): Promise<void> {
    try {
      await this.#send("DELETE", "");
    } finally {
      this.#agent.destroy();
    }
  }

  async #ask(method: string, params: object): Promise<Answer> {
    this.#id += 1;
    return JSON.parse(await this.#post({ jsonrpc: "2.0", id: this.#id, method, params }));
  }

  #post(message: object): Promise<string> {
    return this.#send("POST", JSON.stringify(message));
  }

  #send(method: "POST" | "DELETE", body: string): Promise<string> {
    const headers = {
      Authorization: `Bearer ${this.#endpoint.token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(this.#session === undefined ? {} : { "MCP-Session-Id": this.#session }),
    };
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.#agent, signal: AbortSignal.timeout(PATIENCE_MS) };
      const outgoing = request(this.#endpoint.url, options, (response) => {
        const { statusCode = 0 } = response;
        const session = response.headers["mcp-session-id"];
        this.#session ??= typeof session === "string" ? session : undefined;
        text(response).then((answer) => {
          if (statusCode >= 400) {
            reject(new Error(`The gateway answered with HTTP status ${statusCode}.`));
          } else {
            resolve(answer);
          }
        }, reject);
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }
}

interface Answer {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: Readonly<Record<string, unknown>>;
}
