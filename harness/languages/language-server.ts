// A language server, asked without an editor: what the gateway's answers are compared with.

import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Location, Position } from "../clients/gateway-client.ts";
import { JsonRpcProcess } from "../clients/json-rpc-process.ts";
import { codeServer } from "../editor/code-server.ts";
import type { Server } from "../editor/extensions/languages/extension.ts";
import { packageCommand } from "../layout.ts";

interface Link {
  readonly targetUri: string;
  readonly targetRange: Location["range"];
  readonly targetSelectionRange: Location["range"];
}

interface NamedSymbol {
  readonly name: string;
  readonly location: { readonly uri: string };
}

/** A symbol of a file, as LSP has it. */
export interface DocumentSymbol {
  readonly name: string;
  readonly kind: number;
  readonly range: Location["range"];
  readonly selectionRange: Location["range"];
  readonly children?: readonly DocumentSymbol[];
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

/** A server that asks is told nothing, and of what is set the same for each part. */
function nothing(method: string, params: { readonly items: readonly unknown[] }): null | null[] {
  return method === "workspace/configuration" ? params.items.map(() => null) : null;
}

/** By what a server of each kind shows that it has loaded the project. */
interface Signs {
  readonly indexed: Promise<void>;
  readonly quiescent: Promise<void>;
  readonly counted: Promise<void>;
}

/** One server on one folder. */
export class LanguageServer {
  readonly #process: JsonRpcProcess;
  readonly #language: string;
  readonly #folderUri: string;
  readonly #open = new Set<string>();
  readonly #offered: Readonly<Record<string, unknown>>;
  readonly #signs: Signs;

  private constructor(
    process: JsonRpcProcess,
    language: string,
    folderUri: string,
    offered: Readonly<Record<string, unknown>>,
    signs: Signs,
  ) {
    this.#process = process;
    this.#language = language;
    this.#folderUri = folderUri;
    this.#offered = offered;
    this.#signs = signs;
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
    capabilities: object = CAPABILITIES,
  ): Promise<LanguageServer> {
    const server = new JsonRpcProcess({ program: command, args, framing: "lengths", asked: nothing, cwd: folder });
    const signs: Signs = {
      indexed: server.notified(
        "$/progress",
        ({ token, value }) => token === "backgroundIndexProgress" && value.kind === "end",
      ),
      quiescent: server.notified("experimental/serverStatus", ({ quiescent }) => quiescent),
      counted: server.notified("window/logMessage", ({ message }) => /^Found \d+ source files?/.test(message)),
    };
    const folderUri = pathToFileURL(folder).href;
    const { capabilities: offered } = (await server.request("initialize", {
      processId: process.pid,
      rootUri: folderUri,
      workspaceFolders: [{ uri: folderUri, name: "project" }],
      capabilities,
      initializationOptions,
    })) as { capabilities: Record<string, unknown> };
    server.notify("initialized", {});
    return new LanguageServer(server, language, folderUri, offered, signs);
  }

  /** Has the server read this file, and resolves when it tells that its index of the whole folder is complete. */
  async indexedFrom(uri: string): Promise<void> {
    this.#opened(uri);
    await this.#signs.indexed;
  }

  /** Has the server read this file, and resolves when it has told, as rust-analyzer does, that it has loaded the project. */
  async quiescentFrom(uri: string): Promise<void> {
    this.#opened(uri);
    await this.#signs.quiescent;
  }

  /** Has the server read this file, and resolves when it has told, as pyright does, how many files the project has. */
  async countedFrom(uri: string): Promise<void> {
    this.#opened(uri);
    await this.#signs.counted;
  }

  /** Has the server read these files, and resolves when it has told what is wrong with each, which may be nothing. */
  async checked(uris: readonly string[]): Promise<void> {
    const waiting = new Set(uris);
    const all = this.#process.notified("textDocument/publishDiagnostics", ({ uri }) => {
      waiting.delete(uri);
      return waiting.size === 0;
    });
    for (const uri of uris) {
      this.#opened(uri);
    }
    await all;
  }

  /** Where the symbol is defined, as far as that lies in the folder. */
  async definition(uri: string, position: Position): Promise<Location[]> {
    return this.places("definition", uri, position);
  }

  /** Every reference in the folder: all of them, or those that the server gives when it is told to leave declarations out. */
  async references(uri: string, position: Position, includeDeclaration = true): Promise<Location[]> {
    const found = await this.#ask("references", uri, position, { context: { includeDeclaration } });
    return this.#inFolder(found as Location[]);
  }

  /** Whether it says that it can be asked this about a document. */
  offers(question: string): boolean {
    return Boolean(this.#offered[`${question}Provider`]);
  }

  /** The outline of a file, as the server gives it. */
  async outline(uri: string): Promise<readonly DocumentSymbol[]> {
    this.#opened(uri);
    const found = await this.#process.request("textDocument/documentSymbol", { textDocument: { uri } });
    return (found ?? []) as readonly DocumentSymbol[];
  }

  /** The files in which it finds something of just this name. */
  async filesWith(name: string): Promise<readonly string[]> {
    const found = (await this.#process.request("workspace/symbol", { query: name })) as readonly NamedSymbol[] | null;
    const named = (found ?? []).filter((symbol) => symbol.name === name);
    return [...new Set(named.map(({ location: { uri } }) => uri))];
  }

  /** What it answers to another question about a place: a location, or several. */
  async places(question: string, uri: string, position: Position): Promise<Location[]> {
    const found = await this.#ask(question, uri, position);
    return this.#inFolder(
      found.map((item) => ("targetUri" in item ? { uri: item.targetUri, range: item.targetSelectionRange } : item)),
    );
  }

  /** Every place that the server gives as a definition or a declaration of what is here, with all the ranges it gives. */
  async declared(uri: string, position: Position): Promise<Location[]> {
    const found = await this.#ask("definition", uri, position);
    if (this.offers("declaration")) {
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
    await this.#process.request("shutdown");
    this.#process.notify("exit");
    await this.#process.end();
  }

  async #ask(
    question: string,
    uri: string,
    position: Position,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<(Location | Link)[]> {
    this.#opened(uri);
    const params = { textDocument: { uri }, position, ...more };
    const found = (await this.#process.request(`textDocument/${question}`, params)) as Found;
    return found === null ? [] : [found].flat();
  }

  #opened(uri: string): void {
    if (!this.#open.has(uri)) {
      this.#open.add(uri);
      const text = readFileSync(fileURLToPath(uri), "utf8");
      this.#process.notify("textDocument/didOpen", {
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
