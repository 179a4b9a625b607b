import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";
import type { MainDocument } from "../boundary/rows.ts";
import type { Documents } from "./documents.ts";
import { type ContributedLanguage, contributedLanguages } from "./language-contributions.ts";
import type { Languages } from "./languages.ts";
import { filesOf, isMainLanguage, MAX_LANGUAGES, mainFiles, type WorkspaceFile } from "./main-languages.ts";

/** More files are not looked at to see what the workspace is written in. */
const MAX_FILES = 5_000;

/** A larger file would keep its language server busy instead of getting it started. */
const MAX_BYTES = 1_000_000;

/** What is made by tools, or was made elsewhere. */
const EXCLUDED =
  "**/{node_modules,bower_components,.git,.hg,.svn,dist,out,build,target,vendor,third_party,.venv,venv,site-packages,__pycache__,.cache,coverage}/**";

export interface Parts {
  readonly documents: Documents<vscode.TextDocument>;
  readonly languages: Languages;
  /** Called with the names of the languages that are not ready yet, whenever they have become others. */
  show(languages: readonly string[]): void;
}

/**
 * Starts the language servers of the workspace's main languages before anybody asks, by opening a document of each (D28).
 * Does nothing before `start`.
 */
export class WarmUp {
  readonly #parts: Parts;
  #isWanted = false;
  #isStarted = false;
  /** Moves on with each start: what an earlier one waits for is no longer shown. */
  #round = 0;
  /** For each main language, the files to open one of. */
  #chosen: Promise<readonly (readonly string[])[]> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether documents may be opened that nobody has asked about. */
  set isWanted(isWanted: boolean) {
    if (isWanted !== this.#isWanted) {
      this.#isWanted = isWanted;
      this.#begin();
    }
  }

  start(): void {
    this.#isStarted = true;
    this.#begin();
  }

  stop(): void {
    this.#isStarted = false;
    this.#begin();
  }

  /** To be called when folders or extensions came or went. */
  workspaceChanged(): void {
    this.#chosen = undefined;
    this.#begin();
  }

  /**
   * Opens a document of each main language; where documents may not be opened unasked, of each that has one open. At most
   * five.
   */
  async mainDocuments(): Promise<MainDocument[]> {
    const documents = await this.#open();
    return Promise.all(
      documents.map(async (document) => ({
        uri: document.uri.toString(),
        language: document.languageId,
        hasReadinessProbe: await this.#parts.languages.hasReadinessProbe(document),
      })),
    );
  }

  #begin(): void {
    this.#round += 1;
    this.#parts.show([]);
    if (this.#isStarted && this.#isWanted) {
      void this.#warmUp(this.#round);
    }
  }

  async #warmUp(round: number): Promise<void> {
    const { languages, show } = this.#parts;
    const names = contributedLanguages(vscode.extensions.all);
    const waiting = new Set<string>();
    const tell = (): void => {
      if (round === this.#round) {
        show([...waiting]);
      }
    };
    await Promise.all(
      (await this.#open()).map(async (document) => {
        const name = names.get(document.languageId)?.name ?? document.languageId;
        waiting.add(name);
        tell();
        await languages.ready(document, false);
        waiting.delete(name);
        tell();
      }),
    );
  }

  async #open(): Promise<vscode.TextDocument[]> {
    const choices = this.#isWanted ? await this.#choice() : openDocuments();
    const opened = await Promise.all(choices.map((uris) => this.#openFirst(uris)));
    return opened.filter((document) => document !== undefined);
  }

  /** Opens the first of these that can be opened. */
  async #openFirst(uris: readonly string[]): Promise<vscode.TextDocument | undefined> {
    for (const uri of uris) {
      try {
        if ((await stat(vscode.Uri.parse(uri, true).fsPath)).size <= MAX_BYTES) {
          return await this.#parts.documents.useInStep(uri, (document) => document);
        }
      } catch {
        // The next one will do as well.
      }
    }
    return undefined;
  }

  #choice(): Promise<readonly (readonly string[])[]> {
    this.#chosen ??= choose().catch(() => []);
    return this.#chosen;
  }
}

async function choose(): Promise<string[][]> {
  const languages = mainLanguages();
  const pattern = filesOf(languages);
  if (pattern === undefined) {
    return [];
  }
  const uris = await vscode.workspace.findFiles(pattern, EXCLUDED, MAX_FILES);
  const files = uris
    .filter(({ scheme }) => scheme === "file")
    .map((uri) => ({ uri: uri.toString(), path: vscode.workspace.asRelativePath(uri, false) }));
  return Promise.all(
    [...mainFiles(files, languages).values()].map(async (chosen) => {
      const areThemselves = await Promise.all(chosen.map(isItself));
      return chosen.filter((_, index) => areThemselves[index]).map(({ uri }) => uri);
    }),
  );
}

/**
 * Whether the file lies where the editor found it. What a link inside the folder leads to is another document to the
 * editor than the file itself (D31), or lies outside.
 */
async function isItself({ uri, path }: WorkspaceFile): Promise<boolean> {
  const { fsPath } = vscode.Uri.parse(uri, true);
  try {
    const [real, folder] = await Promise.all([realpath(fsPath), realpath(fsPath.slice(0, -path.length))]);
    return real === join(folder, path);
  } catch {
    return false;
  }
}

function openDocuments(): string[][] {
  const main = new Set(mainLanguages().map(({ id }) => id));
  const open = new Map<string, string>();
  for (const { uri, languageId } of vscode.workspace.textDocuments) {
    if (uri.scheme === "file" && main.has(languageId) && !open.has(languageId)) {
      open.set(languageId, uri.toString());
    }
  }
  return [...open.values()].slice(0, MAX_LANGUAGES).map((uri) => [uri]);
}

function mainLanguages(): ContributedLanguage[] {
  return [...contributedLanguages(vscode.extensions.all).values()].filter(isMainLanguage);
}
