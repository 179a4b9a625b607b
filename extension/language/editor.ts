import { readFile, stat } from "node:fs/promises";
import * as vscode from "vscode";
import { PACK, type Provider, providerOf, STATUS, UNSAVED_TEXTS } from "../boundary/providers.ts";
import type { Host } from "../boundary/questions.ts";
import {
  type AskRequest,
  type LanguageStatus,
  type MainDocument,
  noProvider,
  noted,
  notFound,
  type OpenRequest,
  packDiagnostics,
  packMainDocuments,
  packOpen,
  packReady,
  packStatus,
  packTexts,
  type ReadyRequest,
} from "../boundary/rows.ts";
import { clock } from "../clock.ts";
import type { Answer } from "../native.d.ts";
import { type Analysis, NO_SIGN_MS } from "./analysis.ts";
import { type DocumentHost, type Documents, NotInStep } from "./documents.ts";
import { type ContributedLanguage, contributedLanguages } from "./language-contributions.ts";
import type { Languages } from "./languages.ts";
import { isShown, type MomentaryTabs } from "./tabs.ts";

/**
 * VS Code gives extensions no document that is larger. It says so only after it has read the file, which takes longer than
 * any call may, so such a file is not even asked for.
 */
export const LARGEST_FILE = 50 * 1024 * 1024;

/** The longest text that is handed over to be shown in parts, in UTF-16 code units. */
const LONGEST_TEXT = 16 * 1024 * 1024;

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
  isShown,
  setLanguage: (document, language) => vscode.languages.setTextDocumentLanguage(document, language),
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
  /** Nothing in the editor could have answered a question for this language, of which this is the name. */
  unserved(language: string): void;
}

/**
 * Answers the server's questions: opens, asks, packs, and decides nothing. The only caller of VS Code's provider commands.
 *
 * An error that is thrown here reaches the server, which logs it and tells the client no more than that the provider
 * failed.
 */
export class Editor implements Host {
  /** Whether a document may be shown in a tab for the sake of its diagnostics. */
  mayOpenTabs = false;
  readonly #parts: Parts;
  #languages: ReadonlyMap<string, ContributedLanguage> | undefined;
  /** The ids of the languages for which something was found. */
  readonly #answering = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** To be called when extensions came or went. */
  forgetLanguages(): void {
    this.#languages = undefined;
    this.#answering.clear();
  }

  async open(request: OpenRequest): Promise<Answer> {
    const uri = vscode.Uri.parse(request.uri, true).toString();
    try {
      return await this.#parts.documents.use(uri, (document) => this.#opened(document, request));
    } catch (error) {
      if (error instanceof NotInStep) {
        throw error;
      }
      return notFound();
    }
  }

  async #opened(document: vscode.TextDocument, { line }: OpenRequest): Promise<Answer> {
    const sign = await this.#parts.languages.sign(document);
    return packOpen({
      lineCount: document.lineCount,
      lineLength: lengthOfLine(document, line),
      language: document.languageId,
      hasReadinessProbe: sign !== undefined,
      ready: sign === "ready",
      inTab: isShown(document),
    });
  }

  ready({ uri: asked, orResting }: ReadyRequest): Promise<Answer> {
    const { documents, languages } = this.#parts;
    const uri = vscode.Uri.parse(asked, true).toString();
    return documents.useAsItIs(uri, async (document) => packReady(await languages.ready(document, orResting)));
  }

  async mainDocuments(): Promise<Answer> {
    return packMainDocuments(await this.#parts.mainDocuments());
  }

  async sessionsEnded(ids: readonly string[]): Promise<Answer> {
    this.#parts.sessionsEnded(ids);
    return noted();
  }

  async ask(request: AskRequest): Promise<Answer> {
    const { method, uri } = request;
    switch (method) {
      case "textDocument/diagnostic":
        return this.#documentDiagnostics(uri ?? "", request.knownForMs);
      case "workspace/diagnostic":
        return this.#diagnostics(request.knownForMs);
      case STATUS:
        return this.#status();
      case UNSAVED_TEXTS:
        return unsavedTexts();
    }
    const provider = providerOf(method);
    if (provider === undefined) {
      return noProvider();
    }
    return uri === undefined ? this.#search(request, provider) : this.#about(uri, request, provider);
  }

  /** What shows how far the languages of the workspace have come. */
  async #status(): Promise<Answer> {
    const { documents, languages } = this.#parts;
    const status = async ({ uri, language }: MainDocument): Promise<LanguageStatus> => {
      const sign = await documents.useAsItIs(uri, (document) => languages.sign(document));
      // One that rests may yet begin to work.
      return { language, stage: sign === "resting" ? "loading" : (sign ?? "unknown") };
    };
    return packStatus(await Promise.all((await this.#parts.mainDocuments()).map(status)));
  }

  async #diagnostics(knownForMs: number | undefined): Promise<Answer> {
    await this.#parts.analysis.allSettled(knownForMs);
    return packDiagnostics(this.#parts.published());
  }

  #documentDiagnostics(asked: string, knownForMs: number | undefined): Promise<Answer> {
    const { documents, languages, analysis, tabs } = this.#parts;
    const uri = vscode.Uri.parse(asked, true).toString();
    return documents.useInStep(uri, async (document) => {
      const now = await languages.diagnostics(document);
      if (now === undefined) {
        const published = async (inTab: boolean, unexpected?: number): Promise<Answer> => {
          await analysis.documentSettled(uri, inTab, knownForMs, unexpected);
          return packDiagnostics(this.#parts.published());
        };
        const inTab = isShown(document);
        if (inTab || !this.mayOpenTabs || isReported(uri)) {
          return published(inTab);
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

  /** Asks the providers of a document's language, with the document held open. */
  #about(asked: string, { line, character }: AskRequest, { command, shape }: Provider): Promise<Answer> {
    const uri = vscode.Uri.parse(asked, true).toString();
    return this.#parts.documents.use(uri, async (document) => {
      const at = line === undefined ? [] : [new vscode.Position(line, character ?? 0)];
      const ask = () => run(command, document.uri, ...at);
      const items = await this.#parts.analysis.during(document.languageId, ask);
      if (Array.isArray(items) && items.length > 0) {
        this.#answering.add(document.languageId);
      } else if (Array.isArray(items)) {
        const { name, isServed } = this.#language(document.languageId);
        // An extension may answer for a language that it does not declare. It is there even when it finds nothing.
        if (!isServed && !this.#answering.has(document.languageId)) {
          this.#parts.unserved(name);
          return noProvider();
        }
      }
      return PACK[shape](items);
    });
  }

  /** Asks the providers of the workspace. */
  async #search({ query }: AskRequest, { command, shape }: Provider): Promise<Answer> {
    return PACK[shape](await this.#parts.analysis.during(undefined, () => run(command, query)));
  }

  /**
   * What people call the language, and whether an extension with code declares it. VS Code answers an empty list where there
   * is no provider, and this is what it lets us know about who could have answered. It brings the colours of many languages
   * itself, and those extensions answer nothing.
   */
  #language(id: string): Pick<ContributedLanguage, "name" | "isServed"> {
    this.#languages ??= contributedLanguages(vscode.extensions.all);
    return this.#languages.get(id) ?? { name: id, isServed: false };
  }
}

function unsavedTexts(): Answer {
  const unsaved = vscode.workspace.textDocuments.filter(({ isDirty, uri }) => isDirty && uri.scheme === "file");
  return packTexts(
    unsaved.map((document) => {
      const text = document.getText();
      return { uri: document.uri, text: text.length > LONGEST_TEXT ? undefined : text };
    }),
  );
}

/** Some of VS Code's commands answer nothing at all where they found nothing. */
async function run(command: string, ...more: unknown[]): Promise<unknown> {
  return (await vscode.commands.executeCommand(command, ...more)) ?? [];
}

function lengthOfLine(document: vscode.TextDocument, line: number | undefined): number | undefined {
  const isThere = line !== undefined && line < document.lineCount;
  return isThere ? document.lineAt(line).text.length : undefined;
}

/** Whether anybody has published diagnostics for the document, be it none. */
function isReported(uri: string): boolean {
  return vscode.languages.getDiagnostics().some(([reported]) => reported.toString() === uri);
}
