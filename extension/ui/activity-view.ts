import * as vscode from "vscode";
import { type Action, readWish, type StatusModel, type Tidings, type Wish } from "../../view/messages.ts";
import { RECOVER } from "../check/recovery-actions.ts";
import type { Clock } from "../clock.ts";
import type { Gateway } from "../native.d.ts";
import { Poller } from "./poller.ts";

/** The view's id, from which VS Code makes the command that shows it. */
export const VIEW = "mcpLspGateway.activity";

/** What the buttons on the page run. */
const COMMANDS: Readonly<Record<Action, string>> = {
  connect: "mcpLspGateway.connect",
  copyEndpoint: "mcpLspGateway.copyEndpoint",
  recover: RECOVER,
};

export interface Parts {
  readonly clock: Clock;
  /** The folder of the built page. */
  readonly page: vscode.Uri;
  /** The gateway that runs, if one does. */
  gateway(): Gateway | undefined;
  statusModel(): StatusModel;
}

/**
 * The activity view, in the side bar, shows what clients do. While it is hidden there is no page, no timer and no message:
 * VS Code drops the page, which asks for everything anew when it is back.
 */
export class ActivityView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #parts: Parts;
  readonly #poller: Poller;
  readonly #registration: vscode.Disposable;
  #view: vscode.WebviewView | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#poller = new Poller({
      clock: parts.clock,
      source: () => parts.gateway(),
      tell: (json, fresh) => this.#tell({ kind: "news", fresh, json }),
    });
    this.#registration = vscode.window.registerWebviewViewProvider(VIEW, this);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const { page } = this.#parts;
    view.webview.options = { enableScripts: true, localResourceRoots: [page] };
    view.webview.onDidReceiveMessage((message: unknown) => {
      const wish = readWish(message);
      if (wish !== undefined) {
        void this.#grant(wish);
      }
    });
    view.onDidChangeVisibility(() => {
      if (!view.visible) {
        this.#poller.stop();
      }
    });
    view.onDidDispose(() => {
      this.#poller.stop();
      this.#view = undefined;
    });
    view.webview.html = html(view.webview, page);
  }

  /** The gateway is not what it was. */
  changed(): void {
    if (this.#view?.visible === true) {
      this.#tell({ kind: "gateway", gateway: this.#parts.statusModel() });
      this.#poller.poll();
    }
  }

  dispose(): void {
    this.#poller.stop();
    this.#registration.dispose();
  }

  #tell(tidings: Tidings): void {
    void this.#view?.webview.postMessage(tidings);
  }

  async #grant(wish: Wish): Promise<void> {
    switch (wish.kind) {
      case "ready":
        this.#tell({ kind: "gateway", gateway: this.#parts.statusModel() });
        this.#poller.start();
        return;
      case "run":
        await vscode.commands.executeCommand(COMMANDS[wish.action]);
        return;
      case "open":
        await this.#open(wish.call);
    }
  }

  /** Shows the place that a call asked about. The server looks whether clients may ask there now. */
  async #open(call: number): Promise<void> {
    const gateway = this.#parts.gateway();
    if (gateway === undefined) {
      return;
    }
    try {
      const { uri, line, character } = await gateway.placeOfCall(call);
      const at = line === undefined ? undefined : new vscode.Position(line, character ?? 0);
      const selection = at && { selection: new vscode.Range(at, at) };
      await vscode.window.showTextDocument(vscode.Uri.parse(uri, true), { preview: true, ...selection });
    } catch (error) {
      void vscode.window.showWarningMessage(error instanceof Error ? error.message : String(error));
    }
  }
}

/** The page has no script and no style but those of its folder, and loads nothing from anywhere else. */
function html(webview: vscode.Webview, page: vscode.Uri): string {
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(page, name)).toString();
  const policy = `default-src 'none'; script-src ${webview.cspSource}; style-src ${webview.cspSource}`;
  return `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="${policy}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>MCP LSP Gateway</title>
    <link rel="stylesheet" href="${file("page.css")}">
    <script src="${file("page.js")}" defer></script>
  </head>
  <body></body>
</html>
`;
}
