// The official TypeScript SDK's client, connected to a gateway.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { manifest } from "../layout.ts";
import { eventually } from "../machine/eventually.ts";

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Location {
  readonly uri: string;
  readonly range: { readonly start: Position; readonly end: Position };
}

export interface DefinitionPayload {
  readonly locations: readonly Location[];
  readonly summary?: string;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
  readonly summary?: string;
}

/** A tool's error, as it came over the wire. */
export class ToolFailure extends Error {
  /** The last part of the contract's code, such as `CURSOR_STALE`. */
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor({ message, data: told }: { readonly message: string; readonly data?: unknown }) {
    super(message);
    const data = (told ?? {}) as { code?: string; details?: Record<string, unknown> };
    this.code = (data.code ?? "").replace("MCP_LSP_GATEWAY/", "");
    this.details = data.details ?? {};
  }

  get retryable(): boolean {
    return this.details["retryable"] === true;
  }
}

/** One session with a gateway. */
export class GatewayClient {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async connect({ url, token }: { readonly url: string; readonly token: string }): Promise<GatewayClient> {
    const headers = { Authorization: `Bearer ${token}` };
    return GatewayClient.#over(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  }

  /** Starts a gateway that speaks on stdin and stdout. What it writes to stderr is shown. */
  static async start(command: {
    readonly command: string;
    readonly args: string[];
    readonly env: NodeJS.ProcessEnv;
  }): Promise<GatewayClient> {
    const env = command.env as Record<string, string>;
    return GatewayClient.#over(new StdioClientTransport({ ...command, env }));
  }

  /** The SDK's transports were not written for exactOptionalPropertyTypes, hence the wider type. */
  static async #over(transport: object): Promise<GatewayClient> {
    const client = new Client({ name: `${manifest.name}-scripts`, version: manifest.version });
    await client.connect(transport as Parameters<Client["connect"]>[0]);
    // With the catalog known, the SDK checks every answer against the tool's output schema.
    await client.listTools();
    return new GatewayClient(client);
  }

  /** The catalog, as `tools/list` tells it. */
  async tools() {
    return (await this.#client.listTools()).tools;
  }

  async toolNames(): Promise<string[]> {
    return (await this.tools()).map(({ name }) => name);
  }

  /**
   * The tool's payload. A retryable error is retried for three minutes; any other one, and the last retryable one, rejects
   * as a `ToolFailure`.
   */
  async call<Payload>(name: string, input: Record<string, unknown>): Promise<Payload> {
    const outcome = await eventually(
      () =>
        this.callOnce<Payload>(name, input).then(
          (payload) => ({ payload }),
          (error: unknown) => ({ error }),
        ),
      (outcome) => !("error" in outcome && outcome.error instanceof ToolFailure && outcome.error.retryable),
    );
    if ("error" in outcome) {
      throw outcome.error;
    }
    return outcome.payload;
  }

  /** The tool's payload. Rejects with the tool's error as a `ToolFailure`, also with one that asks for another try. */
  async callOnce<Payload>(name: string, input: Record<string, unknown>): Promise<Payload> {
    try {
      const { structuredContent } = await this.#client.callTool({ name, arguments: input });
      return structuredContent as Payload;
    } catch (error) {
      throw error instanceof McpError ? new ToolFailure(error) : error;
    }
  }

  definition(uri: string, position: Position): Promise<DefinitionPayload> {
    return this.call("vscode.lsp.definition", { uri, position });
  }

  /** Every page of a paged tool, from a fresh first one to the last. */
  async *pages<Item>(name: string, input: Record<string, unknown>): AsyncGenerator<Page<Item>, void, void> {
    let cursor: string | null = null;
    do {
      const page: Page<Item> = await this.call(name, { ...input, cursor });
      yield page;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** All references, paged to the end. */
  async references(uri: string, position: Position, includeDeclaration = true): Promise<Location[]> {
    const input = { uri, position, includeDeclaration, pageSize: 200 };
    const items: Location[] = [];
    for await (const page of this.pages<Location>("vscode.lsp.references", input)) {
      items.push(...page.items);
    }
    return items;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
