import * as vscode from "vscode";
import type { Analysis } from "./analysis.ts";
import type { Documents } from "./documents.ts";
import type { PassedOn } from "./passed-on.ts";
import { PublishedDiagnostics } from "./published.ts";
import { documentOf, isShown, type MomentaryTabs } from "./tabs.ts";

/**
 * Turns what happens in the editor into epoch bumps (D20, D21, D37), and passes it on to whom it concerns. What happens on
 * disk, the server knows by itself; it is told what the editor has seen of that, because language servers hear of it then.
 */
export class Changes implements vscode.Disposable {
  readonly #bump: (epoch: "text" | "diagnostics") => void;
  readonly #passedOn: PassedOn;
  readonly #documents: Documents<vscode.TextDocument>;
  readonly #tabs: MomentaryTabs;
  readonly #published = new PublishedDiagnostics();
  readonly #subscriptions: vscode.Disposable;
  /** By root, and whether it is in the workspace. */
  readonly #watchers = new Map<string, vscode.Disposable>();

  constructor(
    bump: (epoch: "text" | "diagnostics") => void,
    passedOn: PassedOn,
    documents: Documents<vscode.TextDocument>,
    analysis: Analysis,
    tabs: MomentaryTabs,
  ) {
    this.#bump = bump;
    this.#passedOn = passedOn;
    this.#tabs = tabs;
    this.#documents = documents;
    for (const { uri, languageId } of vscode.workspace.textDocuments) {
      if (isFile(uri)) {
        analysis.opened(uri.toString(), languageId);
      }
    }
    for (const [uri, diagnostics] of vscode.languages.getDiagnostics()) {
      analysis.published(uri.toString(), () => isShown({ uri }));
      if (isFile(uri)) {
        this.#isNews(uri, diagnostics);
      }
    }
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((document) => {
        if (isFile(document.uri)) {
          analysis.opened(document.uri.toString(), document.languageId);
          documents.opened(document);
        }
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (isFile(document.uri)) {
          analysis.closed(document.uri.toString());
          documents.closed(document);
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (!isFile(document.uri)) {
          return;
        }
        if (contentChanges.length > 0) {
          analysis.changed(document.uri.toString());
          bump("text");
        }
        documents.changed(document);
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (isFile(document.uri)) {
          bump("text");
        }
      }),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        const reported = new Reported();
        for (const uri of uris) {
          if (reported.has(uri)) {
            analysis.published(uri.toString(), () => isShown({ uri }));
          } else {
            analysis.withdrawn(uri.toString());
          }
        }
        this.look(uris);
      }),
      vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
        for (const uri of opened.map(documentOf)) {
          if (uri !== undefined) {
            analysis.shown(uri.toString());
            void documents.shown(uri.toString());
          }
        }
      }),
    );
  }

  /** Counts it if what is published for these URIs differs from before. */
  look(uris: readonly vscode.Uri[]): void {
    // All of them are looked at, since each look is remembered.
    const news = uris.filter((uri) => this.#counted(uri) && this.#isNews(uri, vscode.languages.getDiagnostics(uri)));
    if (news.length > 0) {
      this.#bump("diagnostics");
    }
  }

  /**
   * Watches these roots and no others. Those that stay keep their watchers: a new one misses what happens before it is at
   * work. A folder that joins or leaves the workspace gets a new one, since the editor itself watches those of the
   * workspace, and nothing else for their watchers.
   */
  watch(roots: readonly string[]): void {
    const wanted = new Map(
      roots.map((root) => {
        const uri = vscode.Uri.file(root);
        return [JSON.stringify([root, vscode.workspace.getWorkspaceFolder(uri) !== undefined]), uri];
      }),
    );
    for (const [key, watcher] of this.#watchers) {
      if (!wanted.has(key)) {
        watcher.dispose();
        this.#watchers.delete(key);
      }
    }
    for (const [key, uri] of wanted) {
      if (!this.#watchers.has(key)) {
        this.#watchers.set(key, this.#watcherOf(uri));
      }
    }
  }

  /**
   * Everything that is published now. The editor tells of it up to 50 ms late, so what has changed is counted here:
   * otherwise an answer that is given in between would have a cursor that the event makes stale for nothing.
   */
  published(): [vscode.Uri, vscode.Diagnostic[]][] {
    const all = vscode.languages.getDiagnostics();
    const files = all
      .filter(([uri]) => isFile(uri))
      .map(([uri, diagnostics]) => [uri.toString(), diagnostics] as const);
    if (this.#published.anyChanged(files, (uri) => !this.#tabs.shows(uri))) {
      this.#bump("diagnostics");
    }
    return all;
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.watch([]);
  }

  /** Whether what is published for it counts. */
  #counted(uri: vscode.Uri): boolean {
    return isFile(uri) && !this.#tabs.shows(uri);
  }

  #watcherOf(root: vscode.Uri): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(root, "**"));
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(({ fsPath }) => this.#passedOn.saw({ path: fsPath, kind: "created" })),
      watcher.onDidChange(({ fsPath }) => this.#passedOn.saw({ path: fsPath, kind: "changed" })),
      watcher.onDidDelete((uri) => {
        void this.#documents.gone(uri.toString());
        this.#passedOn.saw({ path: uri.fsPath, kind: "deleted" });
      }),
    );
  }

  #isNews(uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]): boolean {
    return this.#published.changed(uri.toString(), diagnostics);
  }
}

/** Output channels, git views, untitled documents and the like are no part of the workspace. */
function isFile(uri: vscode.Uri): boolean {
  return uri.scheme === "file";
}

/**
 * Which URIs have a report, be it an empty one, at one moment. Of a URI alone, the editor does not tell whether nothing
 * was found or nobody has looked.
 */
class Reported {
  #all: ReadonlySet<string> | undefined;

  has(uri: vscode.Uri): boolean {
    if (vscode.languages.getDiagnostics(uri).length > 0) {
      return true;
    }
    this.#all ??= new Set(vscode.languages.getDiagnostics().map(([reported]) => reported.toString()));
    return this.#all.has(uri.toString());
  }
}
