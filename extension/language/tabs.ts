import * as vscode from "vscode";
import type { Clock } from "../clock.ts";

/** How long extensions may take to take back what they published for a tab that was closed. */
const TAKEN_BACK_MS = 1_000;

/** The document that can be seen as it is in a tab, alone or beside an older text of it. */
export function documentOf({ input }: vscode.Tab): vscode.Uri | undefined {
  if (input instanceof vscode.TabInputText) {
    return input.uri;
  }
  return input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
}

/** The tabs in which the document can be seen. */
export function tabsOf({ uri }: Pick<vscode.TextDocument, "uri">): vscode.Tab[] {
  const text = uri.toString();
  return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter((tab) => documentOf(tab)?.toString() === text);
}

/** Whether the document can be seen in a tab. */
export function isShown(document: Pick<vscode.TextDocument, "uri">): boolean {
  return tabsOf(document).length > 0;
}

/** Tabs that the gateway opens for a moment, for extensions that look at nothing else, and closes again. */
export class MomentaryTabs {
  readonly #clock: Clock;
  readonly #over: (uri: vscode.Uri) => void;
  /** URI -> how many of its tabs are there or have only just gone. */
  readonly #shown = new Map<string, number>();

  /** `over` is called for each document that such a tab has shown, once what is published for it counts again. */
  constructor(clock: Clock, over: (uri: vscode.Uri) => void) {
    this.#clock = clock;
    this.#over = over;
  }

  /** Whether such a tab shows the document, or did until now: what is published for it is the gateway's doing. */
  shows(uri: vscode.Uri | string): boolean {
    return this.#shown.has(uri.toString());
  }

  /**
   * Shows the document in a tab while `work` is under way, and then closes that tab unless the person has made it theirs.
   * The tab stands beside what the person looks at: in its place, what they type would go into this document.
   */
  async during<T>(document: vscode.TextDocument, work: () => Promise<T>): Promise<T> {
    const uri = document.uri.toString();
    const { tabGroups } = vscode.window;
    const viewColumn = tabGroups.activeTabGroup.tabs.length === 0 ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
    let isTheirs = false;
    const selections = vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
      isTheirs ||= kind !== undefined && textEditor.document.uri.toString() === uri;
    });
    this.#shown.set(uri, (this.#shown.get(uri) ?? 0) + 1);
    try {
      await vscode.window.showTextDocument(document, { preserveFocus: true, preview: false, viewColumn });
      const [tab] = tabsOf(document);
      const wasInFront = tab !== undefined && isInFront(tab);
      try {
        return await work();
      } finally {
        const isThere = tab !== undefined && tabsOf(document).includes(tab);
        isTheirs ||= !isThere || tab.isDirty || (!wasInFront && isInFront(tab));
        if (isThere && !isTheirs) {
          await tabGroups.close(tab, true);
        }
      }
    } finally {
      selections.dispose();
      if (isTheirs) {
        this.#end(document.uri);
      } else {
        this.#clock.after(TAKEN_BACK_MS, () => this.#end(document.uri));
      }
    }
  }

  #end(uri: vscode.Uri): void {
    const text = uri.toString();
    const others = (this.#shown.get(text) ?? 1) - 1;
    if (others > 0) {
      this.#shown.set(text, others);
    } else {
      this.#shown.delete(text);
      this.#over(uri);
    }
  }
}

/** Whether the person looks at this tab. */
function isInFront({ isActive, group }: vscode.Tab): boolean {
  return isActive && group.isActive;
}
