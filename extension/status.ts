import * as vscode from "vscode";
import type { State } from "./lifecycle.ts";

/** Shows the port, or why there is none. */
export class Status implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;
  #state: State = { kind: "starting" };
  #warmingUp: readonly string[] = [];

  constructor() {
    this.#item = vscode.window.createStatusBarItem("mcpLspGateway.status", vscode.StatusBarAlignment.Right, 0);
    this.#item.name = "MCP LSP Gateway";
    this.#draw();
    this.#item.show();
  }

  show(state: State): void {
    this.#state = state;
    this.#draw();
  }

  /** Languages by their names, whose servers are not ready yet. */
  warmingUp(languages: readonly string[]): void {
    this.#warmingUp = languages;
    this.#draw();
  }

  #draw(): void {
    const { text, tooltip, command, failed } = describe(this.#state, this.#warmingUp);
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.command = command;
    this.#item.backgroundColor = failed ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.#item.accessibilityInformation = { label: tooltip };
  }

  dispose(): void {
    this.#item.dispose();
  }
}

interface Description {
  readonly text: string;
  readonly tooltip: string;
  readonly command: string | vscode.Command;
  readonly failed?: boolean;
}

/** What a state looks like: a few words, and the sentence that says what to do. */
function describe(state: State, warmingUp: readonly string[]): Description {
  switch (state.kind) {
    case "starting":
      return {
        text: "$(loading~spin) MCP",
        tooltip: "MCP LSP Gateway is starting; click to see its log.",
        command: "mcpLspGateway.showLog",
      };
    case "running":
      return {
        text: `$(${warmingUp.length === 0 ? "plug" : "loading~spin"}) MCP ${state.port}`,
        tooltip: [
          `MCP LSP Gateway listens on port ${state.port}${state.port === state.wished ? "" : `, as ${state.wished} is taken`}; click to copy the configuration for a client.`,
          ...(warmingUp.length === 0 ? [] : [`Warming up ${warmingUp.join(", ")}: answers may take a few seconds.`]),
        ].join(" "),
        command: "mcpLspGateway.copyClientConfiguration",
      };
    case "untrusted":
      return { ...stopped(state, "restricted"), command: "workbench.trust.manage" };
    case "disabled":
      return { ...stopped(state, "off"), command: OPEN_SETTING };
    case "uninstalled":
      return { ...stopped(state, "uninstalled"), command: "workbench.action.reloadWindow" };
    case "failed":
      return { ...stopped(state, "failed"), command: "mcpLspGateway.showLog", failed: true };
  }
}

const OPEN_SETTING: vscode.Command = {
  title: "Open Settings",
  command: "workbench.action.openSettings",
  arguments: ["mcpLspGateway.enabled"],
};

function stopped(state: Exclude<State, { kind: "running" }>, word: string): { text: string; tooltip: string } {
  return { text: `$(circle-slash) MCP ${word}`, tooltip: `MCP LSP Gateway is not running: ${whyNot(state)}` };
}

/** Why nothing listens, and what to do about it. */
export function whyNot(state: Exclude<State, { kind: "running" }>): string {
  switch (state.kind) {
    case "starting":
      return "it is still starting; try again in a moment.";
    case "untrusted":
      return "this workspace is in Restricted Mode; trust it to open the port.";
    case "disabled":
      return "it is turned off; set mcpLspGateway.enabled to true.";
    case "uninstalled":
      return "it was uninstalled; reload the window.";
    case "failed":
      // It goes on after a colon.
      return state.reason.replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());
  }
}
