// A test-only extension: it gets the client configuration as a person would, by the gateway's own command and the
// clipboard, and writes it where the process that started the editor looks for it.

import { createHash } from "node:crypto";
import { existsSync, renameSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { runWhatIsSent } from "./inside.ts";

const GATEWAY = "vscode-mcp-lsp-gateway.vscode-mcp-lsp-gateway";
const COPY = "mcpLspGateway.copyClientConfiguration";
const PATIENCE = 240_000;

export function activate(context: vscode.ExtensionContext): void {
  // Named by whoever started the editor.
  const folder = process.env["MCP_LSP_GATEWAY_HANDOVER"];
  if (folder === undefined) {
    return;
  }
  const stem = join(folder, windowName());
  const write = (): Promise<void> => writeConfiguration(`${stem}.json`);
  context.subscriptions.push(
    vscode.commands.registerCommand("gatewayHandover.write", write),
    vscode.commands.registerCommand("gatewayHandover.uninstall", () =>
      vscode.commands.executeCommand("workbench.extensions.uninstallExtension", GATEWAY),
    ),
    vscode.workspace.onDidGrantWorkspaceTrust(write),
    quitOnRequest(folder),
    runWhatIsSent(`${stem}.socket`),
  );
  if (vscode.workspace.isTrusted) {
    void write();
  }
}

/** Asks until the gateway runs: right after the start it may still be about to bind its port. */
async function writeConfiguration(file: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE; Date.now() < deadline; ) {
    // The command of a gateway that is only about to run would show a warning.
    await delay(500);
    const text = await configuration().catch(() => "");
    if (text !== "") {
      // A rename, so that nobody reads half of it.
      writeFileSync(`${file}.partial`, text, { mode: 0o600 });
      renameSync(`${file}.partial`, file);
      return;
    }
  }
}

/** What the command copies; nothing if there is none yet. Fails in a page that has not the focus, whose clipboard is nobody's. */
async function configuration(): Promise<string> {
  if (!(await vscode.commands.getCommands(true)).includes(COPY)) {
    return "";
  }
  await vscode.env.clipboard.writeText("");
  await vscode.commands.executeCommand(COPY);
  return await vscode.env.clipboard.readText();
}

/** One for each workspace folder; short, as the names of sockets must be. */
function windowName(): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return createHash("sha256").update(folder).digest("hex").slice(0, 16);
}

/** A desktop editor is not a child of whoever started it, so it is asked by a file to end itself. */
function quitOnRequest(folder: string): vscode.Disposable {
  const watcher = watch(folder, () => {
    if (existsSync(join(folder, "quit"))) {
      void vscode.commands.executeCommand("workbench.action.quit");
    }
  });
  return new vscode.Disposable(() => watcher.close());
}
