// A session over plain HTTP, for what has to be the same to the byte.

import assert from "node:assert/strict";
import { manifest } from "../layout.ts";

const VERSION = "2025-11-25";

export class RawClient {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  private constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  static async connect(
    { url, token }: { readonly url: string; readonly token: string },
    clientInfo: object = { name: manifest.name, version: manifest.version },
  ): Promise<RawClient> {
    const headers = {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    };
    const first = await new RawClient(url, headers).#post({
      id: 0,
      method: "initialize",
      params: { protocolVersion: VERSION, capabilities: {}, clientInfo },
    });
    const session = first.headers.get("mcp-session-id");
    assert.ok(session !== null, await first.text());
    const client = new RawClient(url, { ...headers, "MCP-Session-Id": session });
    assert.equal((await client.#post({ method: "notifications/initialized" })).status, 202);
    return client;
  }

  /** The whole body of the first response that does not ask for another try. */
  async call(tool: string, input: Readonly<Record<string, unknown>>): Promise<string> {
    const params = { name: tool, arguments: input };
    for (;;) {
      const response = await this.#post({ id: 1, method: "tools/call", params });
      const body = await response.text();
      assert.equal(response.status, 200, body);
      const { result, error } = JSON.parse(body);
      if (result !== undefined) {
        return body;
      }
      assert.equal(error.data?.details?.retryable, true, body);
    }
  }

  #post(message: Readonly<Record<string, unknown>>): Promise<Response> {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return fetch(this.#url, { method: "POST", headers: this.#headers, body });
  }
}
