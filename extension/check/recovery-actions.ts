import * as vscode from "vscode";
import type { OpenPort, State } from "../gateway/lifecycle.ts";

/** Runs what is offered for the state that the gateway is in. */
export const RECOVER = "mcpLspGateway.remedy";

/** What a button does, and what stands on it. */
export interface ButtonAction {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
}

export const RELOAD: ButtonAction = { title: "Reload Window", command: "workbench.action.reloadWindow" };

/** Any state but that of a gateway that runs. */
export type NotRunning = Exclude<State, { kind: "running" }>;

/** Why nothing listens, and what to do about it. It goes on after a colon. */
export function whyNot(state: NotRunning): string {
  switch (state.kind) {
    case "starting":
      return "it is still starting; try again in a moment.";
    case "untrusted":
      return "this workspace is in Restricted Mode; trust it to open the port.";
    case "paused":
      return "it is paused in this window; resume it to open the port.";
    case "disabled":
      return "it is turned off; set mcpLspGateway.enabled to true.";
    case "uninstalled":
      return "it was uninstalled; reload the window.";
    case "failed":
      return state.reason.replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());
  }
}

/** Why it is not the port that the person expects, if it is not. It goes on in the middle of a sentence. */
export function whyThisPort({ port, wished, lost }: OpenPort): string | undefined {
  if (lost !== undefined) {
    return `port ${lost}, which this workspace had before, could not be had`;
  }
  return port === wished ? undefined : `port ${wished} was taken or is kept for another workspace`;
}

/** What gets the gateway to run, or tells why it does not. */
export function recoveryActionFor(state: NotRunning): ButtonAction {
  switch (state.kind) {
    case "starting":
      return { title: "Show Log", command: "mcpLspGateway.showLog" };
    case "untrusted":
      return { title: "Manage Workspace Trust", command: "workbench.trust.manage" };
    case "paused":
      return { title: "Resume", command: "mcpLspGateway.resume" };
    case "disabled":
      return { title: "Turn On", command: "mcpLspGateway.set", arguments: ["enabled", true] };
    case "uninstalled":
      return RELOAD;
    case "failed": {
      const setting = /mcpLspGateway\.[\w.]*\w/.exec(state.reason)?.[0];
      return setting === undefined
        ? { title: "Restart", command: "mcpLspGateway.restart" }
        : { title: "Open Setting", command: "workbench.action.openSettings", arguments: [setting] };
    }
  }
}

/** Says that the gateway does not run, and why, with the button that helps. Does not wait for the person. */
export function complain(state: NotRunning): void {
  const message = `MCP LSP Gateway is not running: ${whyNot(state)}`;
  const action = recoveryActionFor(state);
  const log: ButtonAction = { title: "Show Log", command: "mcpLspGateway.showLog" };
  if (state.kind === "failed") {
    void offer(vscode.window.showErrorMessage(message, action.title, log.title), action, log);
  } else {
    void offer(vscode.window.showWarningMessage(message, action.title), action);
  }
}

/** Runs the action whose title was chosen from a message. */
export async function offer(answer: Thenable<string | undefined>, ...actions: readonly ButtonAction[]): Promise<void> {
  const chosen = await answer;
  const action = actions.find(({ title }) => title === chosen);
  if (action !== undefined) {
    await apply(action);
  }
}

export async function apply({ command, arguments: given = [] }: ButtonAction): Promise<void> {
  await vscode.commands.executeCommand(command, ...given);
}

/** Sets one of our settings where it has a value already, so that the change has an effect; else for the person. */
export async function changeSetting(name: string, value: unknown): Promise<void> {
  const configuration = vscode.workspace.getConfiguration("mcpLspGateway");
  const known = configuration.inspect(name);
  const target =
    known?.workspaceValue === undefined ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
  await configuration.update(name, value, target);
}
