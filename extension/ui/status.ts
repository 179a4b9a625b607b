import * as vscode from "vscode";
import { type NotRunning, RECOVER, recoveryActionFor, whyNot, whyThisPort } from "../check/recovery-actions.ts";
import type { OpenPort, State } from "../gateway/lifecycle.ts";

/** What the links of the tooltip may run. */
const CONNECT = "mcpLspGateway.connect";
const COPY_ENDPOINT = "mcpLspGateway.copyEndpoint";
const CHECK = "mcpLspGateway.checkWorkspace";
const MENU = "mcpLspGateway.showMenu";

/** More roots than this are counted and not named. */
const MAX_ROOTS = 8;

/** Shows the port, or why there is none. */
export class Status implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;
  #state: State = { kind: "starting" };
  #roots: readonly string[] = [];
  #warmingUp: readonly string[] = [];

  constructor() {
    this.#item = vscode.window.createStatusBarItem("mcpLspGateway.status", vscode.StatusBarAlignment.Right, 0);
    this.#item.name = "MCP LSP Gateway";
    this.#item.command = MENU;
    this.#draw();
    this.#item.show();
  }

  show(state: State): void {
    this.#state = state;
    this.#draw();
  }

  /** The folders that clients may ask about. */
  roots(roots: readonly string[]): void {
    this.#roots = roots;
    this.#draw();
  }

  /** Languages by their names, whose servers are not ready yet. */
  warmingUp(languages: readonly string[]): void {
    this.#warmingUp = languages;
    this.#draw();
  }

  #draw(): void {
    const state = this.#state;
    const failed = state.kind === "failed";
    this.#item.text = label(state, this.#warmingUp);
    this.#item.tooltip = state.kind === "running" ? this.#running(state) : stopped(state);
    this.#item.backgroundColor = failed ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.#item.accessibilityInformation = { label: spoken(state, this.#warmingUp) };
  }

  #running(state: State & { kind: "running" }): vscode.MarkdownString {
    const url = `http://127.0.0.1:${state.port}/mcp`;
    const tooltip = markdown();
    tooltip.appendMarkdown(`**MCP LSP Gateway** listens on \`${url}\``);
    tooltip.appendMarkdown(`${afterPort(state)}\n\n`);
    for (const root of this.#roots.slice(0, MAX_ROOTS)) {
      // A path may hold anything, so it goes in as plain text.
      tooltip.appendMarkdown("$(folder) ").appendText(root).appendMarkdown("\n\n");
    }
    if (this.#roots.length === 0) {
      tooltip.appendMarkdown("$(warning) No folder is open, so every call is refused.\n\n");
    } else if (this.#roots.length > MAX_ROOTS) {
      tooltip.appendMarkdown(`and ${this.#roots.length - MAX_ROOTS} more\n\n`);
    }
    if (this.#warmingUp.length > 0) {
      tooltip.appendMarkdown("$(loading~spin) Warming up ").appendText(this.#warmingUp.join(", "));
      tooltip.appendMarkdown(": answers may take a few seconds.\n\n");
    }
    tooltip.appendMarkdown("---\n\n");
    tooltip.appendMarkdown(
      `[$(plug) Connect a Client…](command:${CONNECT}) &nbsp; [$(copy) Copy Endpoint](command:${COPY_ENDPOINT}) &nbsp; [$(checklist) Check](command:${CHECK})`,
    );
    return tooltip;
  }

  dispose(): void {
    this.#item.dispose();
  }
}

function stopped(state: NotRunning): vscode.MarkdownString {
  const tooltip = markdown();
  tooltip.appendMarkdown("**MCP LSP Gateway** is not running: ").appendText(whyNot(state));
  return tooltip.appendMarkdown(`\n\n---\n\n[${recoveryActionFor(state).title}](command:${RECOVER})`);
}

function markdown(): vscode.MarkdownString {
  const text = new vscode.MarkdownString("", true);
  text.isTrusted = { enabledCommands: [CONNECT, COPY_ENDPOINT, CHECK, RECOVER] };
  return text;
}

function label(state: State, warmingUp: readonly string[]): string {
  switch (state.kind) {
    case "starting":
      return "$(loading~spin) MCP";
    case "running":
      return `$(${warmingUp.length === 0 ? "plug" : "loading~spin"}) MCP ${state.port}`;
    case "paused":
      return "$(debug-pause) MCP paused";
    case "untrusted":
      return "$(circle-slash) MCP restricted";
    case "disabled":
      return "$(circle-slash) MCP off";
    case "uninstalled":
      return "$(circle-slash) MCP uninstalled";
    case "failed":
      return "$(circle-slash) MCP failed";
  }
}

function afterPort(port: OpenPort): string {
  const why = whyThisPort(port);
  return why === undefined ? "" : `, as ${why}`;
}

/** What a screen reader says. */
function spoken(state: State, warmingUp: readonly string[]): string {
  if (state.kind !== "running") {
    return `MCP LSP Gateway is not running: ${whyNot(state)}`;
  }
  const warming = warmingUp.length === 0 ? "" : ` Warming up ${warmingUp.join(", ")}: answers may take a few seconds.`;
  return `MCP LSP Gateway listens on port ${state.port}${afterPort(state)}; click for its menu.${warming}`;
}
