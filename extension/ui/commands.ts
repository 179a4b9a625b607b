import * as vscode from "vscode";
import type { Check } from "../check/check.ts";
import { apply, changeSetting, complain, offer, RECOVER, recoveryActionFor } from "../check/recovery-actions.ts";
import type { Endpoint, Lifecycle } from "../gateway/lifecycle.ts";
import { nameOf } from "../gateway/log.ts";
import type { Tokens } from "../gateway/tokens.ts";
import { VIEW } from "./activity-view.ts";
import { clientConfiguration } from "./clients.ts";
import { connectClient } from "./connect.ts";
import { showMenu } from "./menu.ts";

/** What the commands work on. */
export interface Parts {
  readonly lifecycle: Lifecycle;
  readonly channel: vscode.LogOutputChannel;
  tokens(): Promise<Tokens>;
  /** Pauses or resumes the gateway of this workspace, and resolves once that is in effect. */
  pause(isPaused: boolean): Promise<void>;
  readonly check: Check;
}

/** Registers the commands of the palette, and those that only buttons run. */
export function registerCommands({ lifecycle, channel, tokens, pause, check }: Parts): vscode.Disposable {
  /** Where the gateway listens; if it does not, the person is told why. */
  const endpoint = (): Endpoint | undefined => {
    const { state } = lifecycle;
    if (state.kind !== "running") {
      complain(state);
    }
    return lifecycle.endpoint;
  };
  const tellState = (message: string): void => {
    const { state } = lifecycle;
    if (state.kind === "running") {
      done(`${message} on port ${state.port}.`);
    } else {
      complain(state);
    }
  };
  const commands: Record<string, (...given: readonly unknown[]) => unknown> = {
    connect: async () => {
      const known = endpoint();
      if (known !== undefined) {
        await connectClient(known);
      }
    },
    copyEndpoint: async () => {
      const known = endpoint();
      if (known !== undefined) {
        await vscode.env.clipboard.writeText(known.url);
        done(`Copied ${known.url}; give it to a client together with the token.`);
      }
    },
    copyClientConfiguration: async () => {
      const known = endpoint();
      if (known !== undefined) {
        await vscode.env.clipboard.writeText(clientConfiguration(known));
        done("Copied the client configuration with its token; paste it where your client keeps its MCP servers.");
      }
    },
    rotateToken: async () => {
      await (await tokens()).rotate();
      await lifecycle.update();
      const message =
        "The token of this workspace was replaced and the old one is shut out; configure your clients again.";
      const connect = { title: "Connect a Client…", command: "mcpLspGateway.connect" };
      await offer(vscode.window.showInformationMessage(message, connect.title), connect);
    },
    pause: async () => {
      await pause(true);
      done("MCP LSP Gateway is paused in this window and listens on no port.");
    },
    resume: async () => {
      await pause(false);
      tellState("MCP LSP Gateway listens again");
    },
    checkWorkspace: () => check.run(),
    copyCheck: () => check.copy(),
    showMenu: () => showMenu(lifecycle.state),
    showActivity: () => vscode.commands.executeCommand(`${VIEW}.focus`),
    showLog: () => channel.show(),
    restart: async () => {
      await lifecycle.restart();
      tellState("MCP LSP Gateway restarted and listens");
    },
    // For buttons only.
    set: (name, value) => changeSetting(String(name), value),
  };
  const registered = Object.entries(commands).map(([name, run]) =>
    vscode.commands.registerCommand(`mcpLspGateway.${name}`, async (...given: unknown[]) => {
      try {
        await run(...given);
      } catch (error) {
        channel.error(`The command ${name} failed (${nameOf(error)}).`);
        const log = { title: "Show Log", command: "mcpLspGateway.showLog" };
        void offer(vscode.window.showErrorMessage("The command failed; the log says why.", log.title), log);
      }
    }),
  );
  const recover = vscode.commands.registerCommand(RECOVER, async () => {
    const { state } = lifecycle;
    if (state.kind !== "running") {
      await apply(recoveryActionFor(state));
    }
  });
  return vscode.Disposable.from(recover, ...registered);
}

function done(message: string): void {
  vscode.window.setStatusBarMessage(message, 5000);
}
