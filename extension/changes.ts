import * as vscode from "vscode";
import type { Documents } from "./documents.ts";
import { type Counts, countedPaths } from "./ignore.ts";

/**
 * Turns what happens in the editor and on disk into epoch bumps (D20 to D22).
 *
 * VS Code's own file events come at once; what agents, git and builds write is only seen by watchers, one for each root.
 */
export class Changes implements vscode.Disposable {
  readonly #bump: (epoch: "text" | "fs") => void;
  readonly #subscriptions: vscode.Disposable;
  #watchers: vscode.Disposable[] = [];
  #watched = "";
  #counts: Counts = () => false;

  constructor(bump: (epoch: "text" | "fs") => void, documents: Documents<vscode.TextDocument>) {
    this.#bump = bump;
    const touched = (uris: readonly vscode.Uri[]): void => {
      for (const uri of uris) {
        this.#touched(uri);
      }
    };
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidOpenTextDocument((document) => {
        if (isFile(document)) {
          documents.opened(document);
        }
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (isFile(document)) {
          documents.closed(document);
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (isFile(document) && contentChanges.length > 0) {
          bump("text");
        }
      }),
      vscode.workspace.onDidSaveTextDocument((document) => {
        if (isFile(document)) {
          bump("text");
        }
      }),
      vscode.workspace.onDidCreateFiles(({ files }) => touched(files)),
      vscode.workspace.onDidDeleteFiles(({ files }) => touched(files)),
      vscode.workspace.onDidRenameFiles(({ files }) =>
        touched(files.flatMap(({ oldUri, newUri }) => [oldUri, newUri])),
      ),
    );
  }

  /** Watches these roots and no others. */
  watch(roots: readonly string[], ignore: readonly string[]): void {
    const watched = JSON.stringify([roots, ignore]);
    if (watched === this.#watched) {
      return;
    }
    this.#watched = watched;
    this.#counts = countedPaths(roots, ignore, isOpen);
    for (const watcher of this.#watchers) {
      watcher.dispose();
    }
    this.#watchers = roots.map((root) => {
      const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(vscode.Uri.file(root), "**"));
      const touched = (uri: vscode.Uri): void => this.#touched(uri);
      return vscode.Disposable.from(
        watcher,
        watcher.onDidCreate(touched),
        watcher.onDidChange(touched),
        watcher.onDidDelete(touched),
      );
    });
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.watch([], []);
  }

  #touched(uri: vscode.Uri): void {
    if (uri.scheme === "file" && this.#counts(uri.fsPath)) {
      this.#bump("fs");
    }
  }
}

/** Output channels, git views, untitled documents and the like are no part of the workspace. */
function isFile(document: vscode.TextDocument): boolean {
  return document.uri.scheme === "file";
}

function isOpen(path: string): boolean {
  return vscode.workspace.textDocuments.some((document) => isFile(document) && document.uri.fsPath === path);
}
