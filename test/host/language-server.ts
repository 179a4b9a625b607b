// The TypeScript language server, asked without an editor: what the gateway's answers are compared with.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import { codeServer } from "../../scripts/code-server.ts";
import type { Location, Position } from "../../scripts/gateway-client.ts";
import { packageBinary } from "../../scripts/layout.ts";

type Link = { readonly targetUri: string; readonly targetSelectionRange: Location["range"] };

/** One server on one folder, with the TypeScript that the editor uses. */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #connection: MessageConnection;
  readonly #folderUri: string;
  readonly #open = new Set<string>();

  private constructor(process: ChildProcess, connection: MessageConnection, folderUri: string) {
    this.#process = process;
    this.#connection = connection;
    this.#folderUri = folderUri;
  }

  static async start(folder: string): Promise<LanguageServer> {
    const { tsserver } = await codeServer();
    const child = spawn(packageBinary("typescript-language-server"), ["--stdio"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    const connection = createMessageConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    connection.onRequest(() => null);
    connection.listen();
    const folderUri = pathToFileURL(folder).href;
    await connection.sendRequest("initialize", {
      processId: process.pid,
      rootUri: folderUri,
      workspaceFolders: [{ uri: folderUri, name: "rxjs" }],
      capabilities: { textDocument: { definition: { linkSupport: true } } },
      // The semantic server alone, so that no answer comes from one that has not read the project yet.
      initializationOptions: { tsserver: { path: tsserver, useSyntaxServer: "never" } },
    });
    await connection.sendNotification("initialized", {});
    return new LanguageServer(child, connection, folderUri);
  }

  /** Where the symbol is defined, as far as that lies in the folder. */
  async definition(uri: string, position: Position): Promise<Location[]> {
    await this.#opened(uri);
    const found = await this.#connection.sendRequest<readonly (Link | Location)[] | null>("textDocument/definition", {
      textDocument: { uri },
      position,
    });
    return this.#inFolder(
      (found ?? []).map((item) =>
        "targetUri" in item ? { uri: item.targetUri, range: item.targetSelectionRange } : item,
      ),
    );
  }

  /** Every reference in the folder, declarations included. */
  async references(uri: string, position: Position): Promise<Location[]> {
    await this.#opened(uri);
    const found = await this.#connection.sendRequest<readonly Location[] | null>("textDocument/references", {
      textDocument: { uri },
      position,
      context: { includeDeclaration: true },
    });
    return this.#inFolder(found ?? []);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    await this.#connection.sendRequest("shutdown");
    await this.#connection.sendNotification("exit");
    await ended;
    this.#connection.dispose();
  }

  async #opened(uri: string): Promise<void> {
    if (!this.#open.has(uri)) {
      this.#open.add(uri);
      const text = readFileSync(fileURLToPath(uri), "utf8");
      await this.#connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId: "typescript", version: 1, text },
      });
    }
  }

  /** In the contract's order and without duplicates, so that the two can be compared item by item. */
  #inFolder(locations: readonly Location[]): Location[] {
    const sorted = locations
      .filter(({ uri }) => uri.startsWith(`${this.#folderUri}/`))
      .map(({ uri, range: { start, end } }) => ({
        uri,
        range: {
          start: { line: start.line, character: start.character },
          end: { line: end.line, character: end.character },
        },
      }))
      .sort(
        (a, b) =>
          (a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0) ||
          a.range.start.line - b.range.start.line ||
          a.range.start.character - b.range.start.character ||
          a.range.end.line - b.range.end.line ||
          a.range.end.character - b.range.end.character,
      );
    return sorted.filter((item, index) => JSON.stringify(item) !== JSON.stringify(sorted[index - 1]));
  }
}
