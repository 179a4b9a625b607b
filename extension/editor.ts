import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import type { DocumentHost, Documents } from "./documents.ts";
import type { Answer } from "./native.d.ts";
import {
  noProvider,
  noted,
  notFound,
  packDiagnostics,
  packDocumentSymbols,
  packHovers,
  packLocations,
  packOpen,
  packTargets,
  packWorkspaceSymbols,
  QUESTION,
} from "./rows.ts";

/** How VS Code opens documents for `Documents`. */
export const documentHost: DocumentHost<vscode.TextDocument> = {
  open: (uri) => vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true)),
  textOnDisk: async (document) =>
    vscode.workspace.decode(await readFile(document.uri.fsPath), { encoding: document.encoding }),
  now: () => performance.now(),
};

/**
 * Answers the server's questions: opens, asks, packs, and decides nothing. The only caller of VS Code's provider commands.
 *
 * An error that is thrown here reaches the server, which logs it and tells the client no more than that the provider
 * failed.
 */
export class Editor {
  readonly #documents: Documents<vscode.TextDocument>;
  readonly #sessionsEnded: (ids: readonly string[]) => void;
  #languages: ReadonlySet<string> | undefined;

  constructor(documents: Documents<vscode.TextDocument>, sessionsEnded: (ids: readonly string[]) => void) {
    this.#documents = documents;
    this.#sessionsEnded = sessionsEnded;
  }

  /** The callback that crosses the boundary. It has to be an async function: a bare thenable is refused there. */
  readonly ask = async (kind: number, request: string): Promise<Answer> => {
    switch (kind) {
      case QUESTION.open:
        return this.#open(JSON.parse(request));
      case QUESTION.definition:
        return this.#at(JSON.parse(request), packTargets, "vscode.executeDefinitionProvider");
      case QUESTION.declaration:
        return this.#at(JSON.parse(request), packTargets, "vscode.executeDeclarationProvider");
      case QUESTION.references:
        return this.#at(JSON.parse(request), packLocations, "vscode.executeReferenceProvider");
      case QUESTION.hover:
        return this.#at(JSON.parse(request), packHovers, "vscode.executeHoverProvider");
      case QUESTION.documentSymbols:
        return this.#about(JSON.parse(request), packDocumentSymbols, "vscode.executeDocumentSymbolProvider");
      case QUESTION.workspaceSymbols:
        return packWorkspaceSymbols(await run("vscode.executeWorkspaceSymbolProvider", JSON.parse(request).query));
      case QUESTION.diagnostics:
        return packDiagnostics(vscode.languages.getDiagnostics());
      case QUESTION.sessionsEnded:
        this.#sessionsEnded(JSON.parse(request));
        return noted();
      default:
        return noProvider();
    }
  };

  /** To be called when extensions came or went. */
  forgetLanguages(): void {
    this.#languages = undefined;
  }

  async #open(request: OpenRequest): Promise<Answer> {
    const uri = vscode.Uri.parse(request.uri, true).toString();
    try {
      return await this.#documents.use(uri, (document) =>
        packOpen(document.lineCount, lengthOfLine(document, request.line)),
      );
    } catch {
      return notFound();
    }
  }

  #at(place: Place, pack: Pack, command: string): Promise<Answer> {
    return this.#about(place, pack, command, new vscode.Position(place.line, place.character));
  }

  /** Asks the providers of a document's language, with the document held open. */
  async #about(request: DocumentRequest, pack: Pack, command: string, ...more: unknown[]): Promise<Answer> {
    const uri = vscode.Uri.parse(request.uri, true);
    return this.#documents.use(uri.toString(), async (document) => {
      const items = await run(command, uri, ...more);
      if (Array.isArray(items) && items.length === 0 && !this.#isDeclared(document.languageId)) {
        return noProvider();
      }
      return pack(items);
    });
  }

  /**
   * Whether an installed extension declares the language. VS Code answers an empty list where there is no provider, and
   * this is what it lets us know about who could have answered.
   */
  #isDeclared(languageId: string): boolean {
    this.#languages ??= declaredLanguages();
    return this.#languages.has(languageId);
  }
}

type Pack = (items: unknown) => Answer;

interface DocumentRequest {
  readonly uri: string;
}

interface OpenRequest extends DocumentRequest {
  /** The line whose length is wanted, if any is. */
  readonly line?: number | null;
}

interface Place extends DocumentRequest {
  readonly line: number;
  readonly character: number;
}

/** Some of VS Code's commands answer nothing at all where they found nothing. */
async function run(command: string, ...more: unknown[]): Promise<unknown> {
  return (await vscode.commands.executeCommand(command, ...more)) ?? [];
}

function lengthOfLine(document: vscode.TextDocument, line: number | null | undefined): number | undefined {
  const isThere = line !== undefined && line !== null && line < document.lineCount;
  return isThere ? document.lineAt(line).text.length : undefined;
}

function declaredLanguages(): ReadonlySet<string> {
  const languages = new Set<string>();
  for (const extension of vscode.extensions.all) {
    const declared: unknown = extension.packageJSON?.contributes?.languages;
    for (const language of Array.isArray(declared) ? declared : []) {
      if (typeof language?.id === "string") {
        languages.add(language.id);
      }
    }
  }
  return languages;
}
