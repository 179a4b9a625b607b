import type * as vscode from "vscode";
import type { Readiness } from "../boundary/rows.ts";
import { AT_ONCE_MS, type Clock, within } from "../clock.ts";
import type { Analysis } from "./analysis.ts";
import type { Signs } from "./signs.ts";
import type { Sign } from "./work.ts";

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

/** Tells when languages are ready (D28): by their adapter where there is one, else by what their extensions show. */
export class Languages {
  readonly #analysis: Analysis;
  readonly #adapters: readonly LanguageAdapter[];
  readonly #signs: Signs;
  readonly #clock: Clock;
  readonly #usable = new Map<LanguageAdapter, Promise<boolean>>();
  /** URI -> the question whether the language of this document is ready, while it is under way. */
  readonly #showing = new Map<string, Promise<boolean>>();

  constructor(analysis: Analysis, adapters: readonly LanguageAdapter[], signs: Signs, clock: Clock) {
    this.#analysis = analysis;
    this.#adapters = adapters;
    this.#signs = signs;
    this.#clock = clock;
  }

  /** To be called when extensions came or went. */
  extensionsChanged(): void {
    this.#usable.clear();
    this.#signs.extensionsChanged();
    this.#analysis.extensionsChanged();
  }

  /** Whether anything shows when the language of an open document is ready. Starts its extension to find out. */
  async hasReadinessProbe(document: vscode.TextDocument): Promise<boolean> {
    return (await this.#adapter(document.languageId)) !== undefined || (await this.#signs.sign(document)) !== undefined;
  }

  /** What the language of an open document shows at once. */
  async sign(document: vscode.TextDocument): Promise<Sign> {
    const adapter = await this.#adapter(document.languageId);
    if (adapter === undefined) {
      return this.#signs.sign(document);
    }
    const showing = this.#showing.get(document.uri.toString()) ?? this.#show(adapter, document);
    return (await within(this.#clock, AT_ONCE_MS, showing, false)) ? "ready" : "loading";
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

  /**
   * Waits until the language of an open document is ready; where nothing shows that, until what is published for it has come to
   * rest. With `orResting`, one that is about to be ready is not waited for.
   */
  async ready(document: vscode.TextDocument, orResting: boolean): Promise<Readiness> {
    const adapter = await this.#adapter(document.languageId);
    if (adapter !== undefined) {
      return (await adapter.ready(document)) ? "shown" : "assumed";
    }
    if ((await this.#signs.sign(document)) !== undefined) {
      return this.#signs.ready(document, orResting);
    }
    return (await this.#analysis.languageSettled(document.languageId)) ? "shown" : "assumed";
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
