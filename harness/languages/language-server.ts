// A language server, asked without an editor: what the gateway's answers are compared with.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import {
  createMessageConnection,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-jsonrpc/node";
import type { Location, Position } from "../clients/gateway-client.ts";
import { codeServer } from "../editor/code-server.ts";
import type { Server } from "../editor/extensions/languages/extension.ts";
import { packageCommand } from "../layout.ts";

interface Link {
  readonly targetUri: string;
  readonly targetRange: Location["range"];
  readonly targetSelectionRange: Location["range"];
}

type Found = Location | Link | readonly (Location | Link)[] | null;

/** What VS Code's own client for language servers tells them of itself, as far as it changes what they answer here. */
const CAPABILITIES = {
  textDocument: {
    definition: { linkSupport: true },
    declaration: { linkSupport: true },
  },
  window: { workDoneProgress: true },
  experimental: { serverStatusNotification: true },
};

/** One server on one folder. */
export class LanguageServer {
  readonly #process: ChildProcess;
  readonly #connection: MessageConnection;
  readonly #language: string;
  readonly #folderUri: string;
  readonly #open = new Set<string>();
  readonly #declares: boolean;
  readonly #indexed: Promise<void>;
  readonly #quiescent: Promise<void>;

  private constructor(
    process: ChildProcess,
    connection: MessageConnection,
    language: string,
    folderUri: string,
    declares: boolean,
    indexed: Promise<void>,
    quiescent: Promise<void>,
  ) {
    this.#process = process;
    this.#connection = connection;
    this.#language = language;
    this.#folderUri = folderUri;
    this.#declares = declares;
    this.#indexed = indexed;
    this.#quiescent = quiescent;
  }

  /** TypeScript's, with the TypeScript that the editor uses. */
  static async start(folder: string): Promise<LanguageServer> {
    const { tsserver } = await codeServer();
    const [command, script] = packageCommand("typescript-language-server", "typescript-language-server");
    // The semantic server alone, so that no answer comes from one that has not read the project yet.
    return LanguageServer.of({ language: "typescript", command, args: [script, "--stdio"] }, folder, {
      tsserver: { path: tsserver, useSyntaxServer: "never" },
    });
  }

  /** Any other, started as the editor starts it. */
  static async of(
    { language, command, args }: Server,
    folder: string,
    initializationOptions?: unknown,
  ): Promise<LanguageServer> {
    const child = spawn(command, [...args], { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
    const connection = createMessageConnection(
      new StreamMessageReader(child.stdout),
      new StreamMessageWriter(child.stdin),
    );
    connection.onRequest(() => null);
    const indexed = new Promise<void>((resolve) => {
      connection.onNotification("$/progress", ({ token, value }: { token: unknown; value: { kind: string } }) => {
        if (token === "backgroundIndexProgress" && value.kind === "end") {
          resolve();
        }
      });
    });
    const quiescent = new Promise<void>((resolve) => {
      connection.onNotification("experimental/serverStatus", ({ quiescent }: { quiescent: boolean }) => {
        if (quiescent) {
          resolve();
        }
      });
    });
    connection.listen();
    const folderUri = pathToFileURL(folder).href;
    const { capabilities } = await connection.sendRequest<{ capabilities: Record<string, unknown> }>("initialize", {
      processId: process.pid,
      rootUri: folderUri,
      workspaceFolders: [{ uri: folderUri, name: "project" }],
      capabilities: CAPABILITIES,
      initializationOptions,
    });
    await connection.sendNotification("initialized", {});
    const declares = Boolean(capabilities["declarationProvider"]);
    return new LanguageServer(child, connection, language, folderUri, declares, indexed, quiescent);
  }

  /** Has the server read this file, and resolves when it tells that its index of the whole folder is complete. */
  async indexedFrom(uri: string): Promise<void> {
    await this.#opened(uri);
    await this.#indexed;
  }

  /** Has the server read this file, and resolves when it has told, as rust-analyzer does, that it has loaded the project. */
  async quiescentFrom(uri: string): Promise<void> {
    await this.#opened(uri);
    await this.#quiescent;
  }

  /** Has the server read these files, and resolves when it has told what is wrong with each, which may be nothing. */
  async checked(uris: readonly string[]): Promise<void> {
    const waiting = new Set(uris);
    const all = new Promise<void>((resolve) => {
      this.#connection.onNotification("textDocument/publishDiagnostics", ({ uri }: { uri: string }) => {
        waiting.delete(uri);
        if (waiting.size === 0) {
          resolve();
        }
      });
    });
    await Promise.all(uris.map((uri) => this.#opened(uri)));
    await all;
  }

  /** Where the symbol is defined, as far as that lies in the folder. */
  async definition(uri: string, position: Position): Promise<Location[]> {
    const found = await this.#ask("definition", uri, position);
    return this.#inFolder(
      found.map((item) => ("targetUri" in item ? { uri: item.targetUri, range: item.targetSelectionRange } : item)),
    );
  }

  /** Every reference in the folder: all of them, or those that the server gives when it is told to leave declarations out. */
  async references(uri: string, position: Position, includeDeclaration = true): Promise<Location[]> {
    const found = await this.#ask("references", uri, position, { context: { includeDeclaration } });
    return this.#inFolder(found as Location[]);
  }

  /** Every place that the server gives as a definition or a declaration of what is here, with all the ranges it gives. */
  async declared(uri: string, position: Position): Promise<Location[]> {
    const found = await this.#ask("definition", uri, position);
    if (this.#declares) {
      found.push(...(await this.#ask("declaration", uri, position)));
    }
    return this.#inFolder(
      found.flatMap((item) =>
        "targetUri" in item
          ? [item.targetRange, item.targetSelectionRange].map((range) => ({ uri: item.targetUri, range }))
          : [item],
      ),
    );
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    await this.#connection.sendRequest("shutdown");
    await this.#connection.sendNotification("exit");
    await ended;
    this.#connection.dispose();
  }

  async #ask(
    question: string,
    uri: string,
    position: Position,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<(Location | Link)[]> {
    await this.#opened(uri);
    const found = await this.#connection.sendRequest<Found>(`textDocument/${question}`, {
      textDocument: { uri },
      position,
      ...more,
    });
    return found === null ? [] : [found].flat();
  }

  async #opened(uri: string): Promise<void> {
    if (!this.#open.has(uri)) {
      this.#open.add(uri);
      const text = readFileSync(fileURLToPath(uri), "utf8");
      await this.#connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId: this.#language, version: 1, text },
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
