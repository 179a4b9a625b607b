// A client of an MCP server that it starts itself, on stdin and stdout.

import { manifest } from "../layout.ts";
import { Failure } from "../machine/progress.mjs";
import { ToolFailure } from "./gateway-client.ts";
import { type Command, JsonRpcProcess, RpcError } from "./json-rpc-process.ts";

const REVISION = "2025-11-25";

export class StdioClient {
  readonly #process: JsonRpcProcess;

  private constructor(process: JsonRpcProcess) {
    this.#process = process;
  }

  /** Starts the server and begins the session. */
  static async start(command: Omit<Command, "framing">): Promise<StdioClient> {
    const process = new JsonRpcProcess({ ...command, framing: "lines" });
    const { protocolVersion } = (await process.request("initialize", {
      protocolVersion: REVISION,
      capabilities: {},
      clientInfo: { name: `${manifest.name}-scripts`, version: manifest.version },
    })) as { readonly protocolVersion: string };
    if (protocolVersion !== REVISION) {
      throw new Failure(`The server speaks revision ${protocolVersion} of MCP, and not ${REVISION}.`);
    }
    process.notify("notifications/initialized");
    return new StdioClient(process);
  }

  /** The tool's payload. Rejects with the tool's error as a `ToolFailure`, also with one that asks for another try. */
  async callOnce<Payload>(name: string, input: object): Promise<Payload> {
    try {
      const result = await this.#process.request("tools/call", { name, arguments: input });
      return (result as { readonly structuredContent: Payload }).structuredContent;
    } catch (error) {
      throw error instanceof RpcError ? new ToolFailure(error) : error;
    }
  }

  /** Kills the server, which has no time to end anything. */
  kill(): void {
    this.#process.kill();
  }

  /** Ends the session and the server. */
  close(): Promise<void> {
    return this.#process.end();
  }
}
