import * as vscode from "vscode";
import { apply, type ButtonAction, recoveryActionFor, whyNot } from "../check/recovery-actions.ts";
import type { State } from "../gateway/lifecycle.ts";

type Entry = vscode.QuickPickItem & { readonly action: ButtonAction };

/** What a click on the status bar offers. */
export async function showMenu(state: State): Promise<void> {
  const title = state.kind === "running" ? `MCP LSP Gateway, port ${state.port}` : "MCP LSP Gateway is not running";
  const chosen = await vscode.window.showQuickPick(entriesFor(state), {
    title,
    placeHolder: state.kind === "running" ? "What do you want to do?" : upperFirst(whyNot(state)),
  });
  if (chosen !== undefined) {
    await apply(chosen.action);
  }
}

function entriesFor(state: State): Entry[] {
  const log = entry("$(output) Show Log", "mcpLspGateway.showLog");
  const restart = entry("$(debug-restart) Restart", "mcpLspGateway.restart");
  if (state.kind !== "running") {
    const action = recoveryActionFor(state);
    const others = state.kind === "failed" || state.kind === "starting" ? [restart, log] : [log];
    return [
      { label: `$(lightbulb) ${action.title}`, action },
      ...others.filter((other) => other.action.command !== action.command),
    ];
  }
  return [
    entry("$(plug) Connect a Client…", "mcpLspGateway.connect", "Claude Code, Codex, Cursor and others"),
    entry("$(pulse) Show Activity", "mcpLspGateway.showActivity", "clients, calls and how long they take"),
    entry("$(copy) Copy Endpoint URL", "mcpLspGateway.copyEndpoint", `http://127.0.0.1:${state.port}/mcp`),
    entry("$(checklist) Check This Workspace", "mcpLspGateway.checkWorkspace", "asks all tools about this file"),
    entry("$(key) Rotate Token", "mcpLspGateway.rotateToken", "shuts out every client that is connected"),
    entry("$(debug-pause) Pause", "mcpLspGateway.pause", "closes the port of this window until you resume"),
    restart,
    log,
  ];
}

function entry(label: string, command: string, description = ""): Entry {
  return { label, description, action: { title: label, command } };
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
