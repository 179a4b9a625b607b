import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { copyWorkspace, openGateway, removeFolder, startEditor } from "../../harness/editor/gateway-window.ts";
import type { EditorWindow, RealVsCode } from "../../harness/editor/real-vscode.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { askForOutline, listServers, pickServerAction, toolsOf } from "./own-agent.ts";

/** The editor's name for the gateway's tools: it prefixes the server's name, cut short, and takes no dots. */
const TOOLS = [
  "mcp_mcp_lsp_gatew_vscode_lsp_definition",
  "mcp_mcp_lsp_gatew_vscode_lsp_diagnostics_document",
  "mcp_mcp_lsp_gatew_vscode_lsp_diagnostics_workspace",
  "mcp_mcp_lsp_gatew_vscode_lsp_documentSymbols",
  "mcp_mcp_lsp_gatew_vscode_lsp_hover",
  "mcp_mcp_lsp_gatew_vscode_lsp_references",
  "mcp_mcp_lsp_gatew_vscode_lsp_workspaceSymbols",
];

describe("the editor's own agent", () => {
  let folder: string;
  let editor: RealVsCode;
  let window: EditorWindow;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor({ "chat.disableAIFeatures": false });
    const opened = await openGateway(editor, folder);
    await opened.client.close();
    window = opened.window;
  });

  after(async () => {
    await editor?.stop();
    removeFolder(folder);
  });

  test("knows the gateway without any configuration, starts it, calls its tools, and follows a new token", async () => {
    await pickServerAction(window, "Start Server");
    const tools = await eventually(
      () => toolsOf(window),
      (names) => names.length > 0,
    );
    assert.deepEqual(tools.toSorted(), TOOLS);
    const outline = await eventually(
      () => askForOutline(window, pathToFileURL(join(folder, "src", "ship.ts")).href),
      (text) => text.includes("Vessel"),
    );
    assert.match(outline, /"name":"Vessel"/);

    await window.inside((vscode) => void vscode.commands.executeCommand("mcpLspGateway.rotateToken"), undefined);
    await window.notification("The token of this workspace was replaced");
    // The editor lets go of the connection that was made with the old token, and makes another for the next call.
    const rows = await listServers(window);
    await rows.filter({ hasText: /MCP LSP Gateway.*Stopped/ }).waitFor();
    await window.page.keyboard.press("Escape");
    const again = await eventually(
      () => askForOutline(window, pathToFileURL(join(folder, "src", "berth.ts")).href),
      (text) => text.includes("Berth"),
    );
    assert.match(again, /"name":"Berth"/);
  });

  test("does not see the gateway while it is paused", async () => {
    await window.inside((vscode) => vscode.commands.executeCommand("mcpLspGateway.pause"), undefined);
    await window.status(/MCP paused/);
    assert.deepEqual(
      await eventually(
        () => serversListed(window),
        (names) => names.length === 1,
      ),
      ["Add Server"],
    );
    await window.inside((vscode) => vscode.commands.executeCommand("mcpLspGateway.resume"), undefined);
    await window.status(/MCP \d+/);
    assert.deepEqual(
      await eventually(
        () => serversListed(window),
        (names) => names.length > 1,
      ),
      ["Add Server", "MCP LSP Gateway"],
    );
  });
});

/** What the list of servers holds, by the labels of its rows. */
async function serversListed(window: EditorWindow): Promise<string[]> {
  const rows = await listServers(window);
  const labels = await rows.locator(".quick-input-list-row:first-child .label-name").allInnerTexts();
  await window.page.keyboard.press("Escape");
  await window.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  return labels;
}
