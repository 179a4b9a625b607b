import { readFile, stat } from "node:fs/promises";
import * as vscode from "vscode";
import { type Analysis, NO_SIGN_MS } from "./analysis.ts";
import { clock } from "./clock.ts";
import { type DeclaredLanguage, declaredLanguages } from "./declarations.ts";
import { type DocumentHost, type Documents, NotInStep } from "./documents.ts";
import type { Languages } from "./languages.ts";
import type { Answer } from "./native.d.ts";
import {
  type MainDocument,
  noProvider,
  noted,
  notFound,
  packDiagnostics,
  packDocumentSymbols,
  packHovers,
  packLocations,
  packMainDocuments,
  packOpen,
  packReady,
  packTargets,
  packWorkspaceSymbols,
  QUESTION,
} from "./rows.ts";
import { type MomentaryTabs, tabsOf } from "./tabs.ts";

/**
 * VS Code gives extensions no document that is larger. It says so only after it has read the file, which takes longer than
 * any call may, so such a file is not even asked for.
 */
export const LARGEST_FILE = 50 * 1024 * 1024;

/** How VS Code opens documents for `Documents`. */
export const documentHost: DocumentHost<vscode.TextDocument> = {
  ...clock,
  open: async (text) => {
    const uri = vscode.Uri.parse(text, true);
    const found = await stat(uri.fsPath).catch(() => undefined);
    if (found !== undefined && found.size > LARGEST_FILE) {
      throw new Error("The file is too large.");
    }
    return vscode.workspace.openTextDocument(uri);
  },
  textOnDisk: async (document) =>
    vscode.workspace.decode(await readFile(document.uri.fsPath), { encoding: document.encoding }),
  stampOnDisk: async (document) => {
    try {
      const { mtimeNs, size, ino } = await stat(document.uri.fsPath, { bigint: true });
      return `${mtimeNs} ${size} ${ino}`;
    } catch {
      return undefined;
    }
  },
};

export interface Parts {
  readonly documents: Documents<vscode.TextDocument>;
  readonly analysis: Analysis;
  readonly languages: Languages;
  readonly tabs: MomentaryTabs;
  /** All that is published, counted as a change where it has become other diagnostics. */
  published(): [vscode.Uri, vscode.Diagnostic[]][];
  /** Opens a document of each main language of the workspace. */
  mainDocuments(): Promise<readonly MainDocument[]>;
  sessionsEnded(ids: readonly string[]): void;
}

/**
 * Answers the server's questions: opens, asks, packs, and decides nothing. The only caller of VS Code's provider commands.
 *
 * An error that is thrown here reaches the server, which logs it and tells the client no more than that the provider
 * failed.
 */
export class Editor {
  /** Whether a document may be shown in a tab for the sake of its diagnostics. */
  mayOpenTabs = false;
  readonly #parts: Parts;
  #languages: ReadonlyMap<string, DeclaredLanguage> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Answers one question. */
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
        return packDiagnostics(this.#parts.published());
      case QUESTION.documentDiagnostics:
        return this.#documentDiagnostics(JSON.parse(request));
      case QUESTION.ready:
        return this.#ready(JSON.parse(request));
      case QUESTION.mainDocuments:
        return packMainDocuments(await this.#parts.mainDocuments());
      case QUESTION.sessionsEnded:
        this.#parts.sessionsEnded(JSON.parse(request));
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
    const { documents, languages } = this.#parts;
    const uri = vscode.Uri.parse(request.uri, true).toString();
    try {
      return await documents.use(uri, async (document) =>
        packOpen({
          lineCount: document.lineCount,
          lineLength: lengthOfLine(document, request.line),
          language: document.languageId,
          shown: tabsOf(document).length > 0,
          tells: await languages.tells(document.languageId),
          ready: await languages.readyAtOnce(document),
        }),
      );
    } catch (error) {
      if (error instanceof NotInStep) {
        throw error;
      }
      return notFound();
    }
  }

  #ready(request: DocumentRequest): Promise<Answer> {
    const { documents, languages } = this.#parts;
    const uri = vscode.Uri.parse(request.uri, true).toString();
    return documents.useAsItIs(uri, async (document) => packReady(await languages.ready(document)));
  }

  #documentDiagnostics(request: DocumentRequest): Promise<Answer> {
    const { documents, languages, analysis, tabs } = this.#parts;
    const uri = vscode.Uri.parse(request.uri, true).toString();
    return documents.useInStep(uri, async (document) => {
      const now = await languages.diagnostics(document);
      if (now === undefined) {
        const published = async (isShown: boolean, unexpected?: number): Promise<Answer> => {
          await analysis.documentSettled(uri, isShown, unexpected);
          return packDiagnostics(this.#parts.published());
        };
        const isShown = tabsOf(document).length > 0;
        if (isShown || !this.mayOpenTabs || isReported(uri)) {
          return published(isShown);
        }
        return tabs.during(document, () => {
          analysis.shown(uri);
          return published(true, NO_SIGN_MS);
        });
      }
      const others = this.#parts.published().filter(([other]) => other.toString() !== uri);
      return packDiagnostics([...others, [document.uri, now]]);
    });
  }

  #at(place: Place, pack: Pack, command: string): Promise<Answer> {
    return this.#about(place, pack, command, new vscode.Position(place.line, place.character));
  }

  /** Asks the providers of a document's language, with the document held open. */
  async #about(request: DocumentRequest, pack: Pack, command: string, ...more: unknown[]): Promise<Answer> {
    const uri = vscode.Uri.parse(request.uri, true);
    return this.#parts.documents.use(uri.toString(), async (document) => {
      const items = await run(command, uri, ...more);
      if (Array.isArray(items) && items.length === 0 && !this.#isServed(document.languageId)) {
        return noProvider();
      }
      return pack(items);
    });
  }

  /**
   * Whether an extension with code declares the language. VS Code answers an empty list where there is no provider, and
   * this is what it lets us know about who could have answered. It brings the colours of many languages itself, and those
   * extensions answer nothing.
   */
  #isServed(languageId: string): boolean {
    this.#languages ??= declaredLanguages(vscode.extensions.all);
    return this.#languages.get(languageId)?.isServed === true;
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

/** Whether anybody has published diagnostics for the document, be it none. */
function isReported(uri: string): boolean {
  return vscode.languages.getDiagnostics().some(([reported]) => reported.toString() === uri);
}
