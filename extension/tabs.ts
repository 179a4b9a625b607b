import * as vscode from "vscode";

/** The document that can be seen as it is in a tab, alone or beside an older text of it. */
export function documentOf({ input }: vscode.Tab): vscode.Uri | undefined {
  if (input instanceof vscode.TabInputText) {
    return input.uri;
  }
  return input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
}

/** The tabs in which the document can be seen. */
export function tabsOf({ uri }: vscode.TextDocument): vscode.Tab[] {
  const text = uri.toString();
  return vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter((tab) => documentOf(tab)?.toString() === text);
}

/**
 * Shows the document in a tab while `work` is under way, and closes that tab again unless the person has made it theirs.
 * The tab stands beside what the person looks at: in its place, what they type would go into this document.
 */
export async function inTab<T>(document: vscode.TextDocument, work: () => Promise<T>): Promise<T> {
  const { tabGroups } = vscode.window;
  const viewColumn = tabGroups.activeTabGroup.tabs.length === 0 ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
  await vscode.window.showTextDocument(document, { preserveFocus: true, preview: false, viewColumn });
  const [tab] = tabsOf(document);
  const isInFront = (): boolean => tab?.isActive === true && tab.group.isActive;
  const wasInFront = isInFront();
  let isTheirs = false;
  const selections = vscode.window.onDidChangeTextEditorSelection(({ textEditor, kind }) => {
    isTheirs ||= kind !== undefined && textEditor.document.uri.toString() === document.uri.toString();
  });
  try {
    return await work();
  } finally {
    selections.dispose();
    const now = tabsOf(document);
    if (tab !== undefined && now.includes(tab) && !tab.isDirty && !isTheirs && (wasInFront || !isInFront())) {
      await tabGroups.close(tab, true);
    }
  }
}
