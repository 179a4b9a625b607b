import type * as vscode from "vscode";
import type { Analysis } from "./analysis.ts";
import type { Clock } from "./clock.ts";

/** What takes longer to show that it is ready is waited for by itself, so that whoever asked knows what takes so long. */
const AT_ONCE_MS = 50;

/** What is known about the extension of a family of languages. */
export interface LanguageAdapter {
  /** The editor's ids of its languages. */
  readonly languages: ReadonlySet<string>;
  /** Whether its extension is installed and works. */
  isUsable(): Promise<boolean>;
  /** Whether the extension shows, asked once, that it knows the project of this open document. */
  isReady(document: vscode.TextDocument): Promise<boolean>;
  /** Waits until the extension shows that it knows the project of this open document; false if it does not show it. */
  ready(document: vscode.TextDocument): Promise<boolean>;
  /** The document's diagnostics as they are now; undefined where only those count that are published. */
  diagnostics(document: vscode.TextDocument): Promise<readonly vscode.Diagnostic[] | undefined>;
}

/** Tells when languages are ready (D28): by their adapter where there is one, else by what is published for them. */
export class Languages {
  readonly #analysis: Analysis;
  readonly #adapters: readonly LanguageAdapter[];
  readonly #clock: Clock;
  readonly #usable = new Map<LanguageAdapter, Promise<boolean>>();
  /** URI -> the question whether the language of this document is ready, while it is under way. */
  readonly #showing = new Map<string, Promise<boolean>>();

  constructor(analysis: Analysis, adapters: readonly LanguageAdapter[], clock: Clock) {
    this.#analysis = analysis;
    this.#adapters = adapters;
    this.#clock = clock;
  }

  /** To be called when extensions came or went. */
  extensionsChanged(): void {
    this.#usable.clear();
    this.#analysis.extensionsChanged();
  }

  /** Whether the extension of the language can be asked if it is ready. Starts it to find out. */
  async tells(language: string): Promise<boolean> {
    return (await this.#adapter(language)) !== undefined;
  }

  /** Whether the extension of the language of an open document shows at once that it is ready. */
  async readyAtOnce(document: vscode.TextDocument): Promise<boolean> {
    const adapter = await this.#adapter(document.languageId);
    if (adapter === undefined) {
      return false;
    }
    const showing = this.#showing.get(document.uri.toString()) ?? this.#show(adapter, document);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(AT_ONCE_MS, () => resolve(false));
      void showing.then((isReady) => {
        cancel();
        resolve(isReady);
      });
    });
  }

  /** Asks, and remembers that it does: a server that is busy loading is not to find more and more questions then. */
  #show(adapter: LanguageAdapter, document: vscode.TextDocument): Promise<boolean> {
    const uri = document.uri.toString();
    const showing = adapter
      .isReady(document)
      .catch(() => false)
      .finally(() => this.#showing.delete(uri));
    this.#showing.set(uri, showing);
    return showing;
  }

  /** Waits until the language of an open document is ready. False if that is only to be believed, for lack of a sign. */
  async ready(document: vscode.TextDocument): Promise<boolean> {
    const adapter = await this.#adapter(document.languageId);
    return adapter === undefined ? this.#analysis.languageSettled(document.languageId) : adapter.ready(document);
  }

  /** The diagnostics of an open document as they are now; undefined where only those count that are published. */
  async diagnostics(document: vscode.TextDocument): Promise<readonly vscode.Diagnostic[] | undefined> {
    const adapter = await this.#adapter(document.languageId);
    return adapter?.diagnostics(document);
  }

  async #adapter(language: string): Promise<LanguageAdapter | undefined> {
    for (const adapter of this.#adapters) {
      if (adapter.languages.has(language) && (await this.#isUsable(adapter))) {
        return adapter;
      }
    }
    return undefined;
  }

  #isUsable(adapter: LanguageAdapter): Promise<boolean> {
    const known = this.#usable.get(adapter);
    if (known !== undefined) {
      return known;
    }
    const usable = adapter.isUsable().catch(() => false);
    this.#usable.set(adapter, usable);
    return usable;
  }
}
