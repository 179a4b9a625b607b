import * as vscode from "vscode";
import type { Lifecycle } from "./lifecycle.ts";
import { nameOf } from "./log.ts";
import { whyNot } from "./status.ts";
import type { Tokens } from "./tokens.ts";

/** What the commands work on. */
export interface Parts {
  readonly lifecycle: Lifecycle;
  readonly channel: vscode.LogOutputChannel;
  tokens(): Promise<Tokens>;
}

/** Registers the five commands of the palette. */
export function registerCommands({ lifecycle, channel, tokens }: Parts): vscode.Disposable {
  const commands: Record<string, () => unknown> = {
    copyEndpoint: async () => {
      const url = endpoint(lifecycle);
      if (url !== undefined) {
        await vscode.env.clipboard.writeText(url);
        done(`Copied ${url}; give it to a client together with the token.`);
      }
    },
    copyClientConfiguration: async () => {
      const url = endpoint(lifecycle);
      if (url !== undefined) {
        const [token] = (await (await tokens()).read()).tokens;
        await vscode.env.clipboard.writeText(clientConfiguration(url, token ?? ""));
        done("Copied the client configuration with its token; paste it where your client keeps its MCP servers.");
      }
    },
    rotateToken: async () => {
      await (await tokens()).rotate();
      await lifecycle.update();
      const copy = "Copy Client Configuration";
      const chosen = await vscode.window.showInformationMessage(
        "The token of this workspace was replaced and the old one is shut out; configure your clients again.",
        copy,
      );
      if (chosen === copy) {
        await vscode.commands.executeCommand("mcpLspGateway.copyClientConfiguration");
      }
    },
    showLog: () => channel.show(),
    restart: async () => {
      await lifecycle.restart();
      const { state } = lifecycle;
      if (state.kind === "running") {
        done(`MCP LSP Gateway restarted and listens on port ${state.port}.`);
      } else {
        void vscode.window.showErrorMessage(`MCP LSP Gateway is not running: ${whyNot(state)}`);
      }
    },
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([name, run]) =>
      vscode.commands.registerCommand(`mcpLspGateway.${name}`, async () => {
        try {
          await run();
        } catch (error) {
          channel.error(`The command ${name} failed (${nameOf(error)}).`);
          void vscode.window.showErrorMessage("The command failed; look at the log with MCP LSP Gateway: Show Log.");
        }
      }),
    ),
  );
}

function endpoint({ state }: Lifecycle): string | undefined {
  if (state.kind === "running") {
    return `http://127.0.0.1:${state.port}/mcp`;
  }
  void vscode.window.showWarningMessage(`MCP LSP Gateway is not running: ${whyNot(state)}`);
  return undefined;
}

/** In the form that most clients read as it stands, and all others can be given piece by piece. */
function clientConfiguration(url: string, token: string): string {
  const server = { type: "http", url, headers: { Authorization: `Bearer ${token}` } };
  return JSON.stringify({ mcpServers: { "vscode-lsp": server } }, undefined, 2);
}

function done(message: string): void {
  vscode.window.setStatusBarMessage(message, 5000);
}
