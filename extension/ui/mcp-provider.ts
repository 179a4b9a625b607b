import * as vscode from "vscode";
import type { Endpoint } from "../gateway/lifecycle.ts";

/** As the manifest declares it. */
const PROVIDER = "mcpLspGateway.server";

export interface Parts {
  readonly version: string;
  /** Where the gateway listens now, if it does. */
  endpoint(): Endpoint | undefined;
}

/**
 * Makes the gateway known to the editor's own agent, which needs no configuration then. The token is told only when the
 * editor starts the server, and not to whoever may list the definitions.
 */
export class McpProvider implements vscode.McpServerDefinitionProvider<vscode.McpHttpServerDefinition> {
  readonly #parts: Parts;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.#changed.event;
  #told: Endpoint | undefined;
  #token: string | undefined;
  /** Moves on with each token, since a connection that was made with an old one has to be made anew. */
  #tokens = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Registers the provider where the editor has agents. */
  register(): vscode.Disposable {
    // An editor that is built without them has no `lm`, or one without this function.
    const lm: Partial<typeof vscode.lm> | undefined = vscode.lm;
    const registration = lm?.registerMcpServerDefinitionProvider?.(PROVIDER, this);
    return vscode.Disposable.from(this.#changed, ...(registration === undefined ? [] : [registration]));
  }

  /** To be called when the endpoint may have changed. */
  update(): void {
    const endpoint = this.#parts.endpoint();
    if (endpoint?.url === this.#told?.url && endpoint?.token === this.#told?.token) {
      return;
    }
    if (endpoint !== undefined && endpoint.token !== this.#token) {
      this.#token = endpoint.token;
      this.#tokens += 1;
    }
    this.#told = endpoint;
    this.#changed.fire();
  }

  provideMcpServerDefinitions(): vscode.McpHttpServerDefinition[] {
    const endpoint = this.#parts.endpoint();
    if (endpoint === undefined) {
      return [];
    }
    const version = `${this.#parts.version}+${this.#tokens}`;
    return [new vscode.McpHttpServerDefinition("MCP LSP Gateway", vscode.Uri.parse(endpoint.url), {}, version)];
  }

  resolveMcpServerDefinition(definition: vscode.McpHttpServerDefinition): vscode.McpHttpServerDefinition | undefined {
    const endpoint = this.#parts.endpoint();
    if (endpoint === undefined) {
      return undefined;
    }
    definition.uri = vscode.Uri.parse(endpoint.url);
    definition.headers = { Authorization: `Bearer ${endpoint.token}` };
    return definition;
  }
}
