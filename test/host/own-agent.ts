// The agent that is built into the editor, as far as it asks the gateway.

import type { EditorWindow } from "../../harness/editor/real-vscode.ts";

/** Opens the editor's list of MCP servers, and the menu of the gateway's, and picks from it. */
export async function pickServerAction(window: EditorWindow, action: string): Promise<void> {
  const rows = await listServers(window);
  await rows.filter({ hasText: "MCP LSP Gateway" }).first().click();
  await rows.filter({ hasText: action }).first().click();
}

/** Opens the list and resolves to its rows. */
export async function listServers(window: EditorWindow) {
  await window.inside((vscode) => void vscode.commands.executeCommand("workbench.mcp.listServer"), undefined);
  const rows = window.page.locator(".quick-input-list .monaco-list-row");
  await rows.filter({ hasText: "Add Server" }).waitFor();
  return rows;
}

/** The editor's names of the gateway's tools. */
export function toolsOf(window: EditorWindow): Promise<string[]> {
  return window.inside(
    (vscode) => vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith("mcp_")),
    undefined,
  );
}

/** What the editor's agent gets from the tool for a file's outline. */
export function askForOutline(window: EditorWindow, uri: string): Promise<string> {
  return window.inside(
    async (vscode, [name, asked]) => {
      const result = await vscode.lm.invokeTool(name, { input: { uri: asked }, toolInvocationToken: undefined });
      return JSON.stringify(
        result.content.map((part) => ("value" in Object(part) ? Object(part).value : part)),
      ).replaceAll("\\", "");
    },
    ["mcp_mcp_lsp_gatew_vscode_lsp_documentSymbols", uri] as const,
  );
}
