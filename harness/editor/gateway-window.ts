// A window of a real VS Code with the packed extension in it, and a client that is connected to its gateway.

import assert from "node:assert/strict";
import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GatewayClient } from "../clients/gateway-client.ts";
import { manifest, root, vsixFile } from "../layout.ts";
import { eventually } from "../machine/eventually.ts";
import { type ClientConfiguration, packHandover, takeConfiguration } from "./handover.ts";
import { type EditorWindow, RealVsCode, stopOnSignals } from "./real-vscode.ts";

/** As many ports as the gateway would try. */
export const CANDIDATES = 21;

/** How much of each log a failure shows. */
const LOG_LINES = 25;

export interface GatewayWindow {
  readonly window: EditorWindow;
  readonly configuration: ClientConfiguration;
  readonly client: GatewayClient;
}

/** An editor with the VSIX that `npm run package` made, and with any others named. */
export async function startEditor(
  settings: Readonly<Record<string, unknown>> = {},
  others: readonly string[] = [],
): Promise<RealVsCode> {
  const editor = await RealVsCode.start({
    extensions: [vsixFile, await packHandover(), ...others],
    // A port of its own, so that a gateway that somebody has running here is neither asked nor in the way.
    settings: { "mcpLspGateway.port": await freePort(), ...settings },
  });
  stopOnSignals(editor, 1);
  return editor;
}

/** Opens a window on the folder, or on the workspace file whose first folder it is, and connects to its gateway. */
export async function openGateway(editor: RealVsCode, folder: string, workspaceFile?: string): Promise<GatewayWindow> {
  const window = await editor.openWindow(folder, workspaceFile);
  return connect(window);
}

/** Connects with the configuration that the window hands over next. */
export async function connect(window: EditorWindow): Promise<GatewayWindow> {
  const configuration = await takeConfiguration(window.handover);
  return { window, configuration, client: await onceListening(() => GatewayClient.connect(configuration)) };
}

/** A folder at a place of its own. */
export function temporaryFolder(name: string): string {
  return realpathSync(mkdtempSync(join(tmpdir(), `gateway-${name}-`)));
}

/**
 * A copy of harness/workspace at a place of its own. It has no package.json: an extension of the editor's own opens that some
 * seconds after its start, and a document that somebody opens is a change of the workspace (D21).
 */
export function copyWorkspace(folder = temporaryFolder("workspace")): string {
  cpSync(join(root, "harness", "workspace"), folder, { recursive: true });
  rmSync(join(folder, "package.json"));
  return folder;
}

/** The HTTP status that a client with this token gets for a first request. */
export function statusFor(url: string, token: string): Promise<number> {
  return onceListening(async () => {
    const response = await initialize(url, token, "2025-11-25");
    await response.arrayBuffer();
    return response.status;
  });
}

/** What a client with this token gets for a first request that asks for this revision of MCP. */
export function initialize(url: string, token: string, protocolVersion: string): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion,
        capabilities: {},
        clientInfo: { name: manifest.name, version: manifest.version },
      },
    }),
  });
}

/**
 * Asks again while nothing listens. A gateway that learns of an installation while it starts is started once more, and is
 * not there for some milliseconds in between.
 */
function onceListening<T>(ask: () => Promise<T>): Promise<T> {
  return eventually(ask, () => true, 20_000);
}

/** What a window is doing, for the message of a test that failed in it. */
export async function stateOf(editor: RealVsCode, window: EditorWindow): Promise<string> {
  const inside = await window.inside(
    (vscode) => ({
      activated: vscode.extensions.all.filter(({ isActive }) => isActive).map(({ id }) => id),
      documents: vscode.workspace.textDocuments.map(({ uri, languageId }) => `${languageId} ${uri}`),
    }),
    undefined,
  );
  const page = await window.page.evaluate("({ visibility: document.visibilityState, focused: document.hasFocus() })");
  const logs = globSync("**/{remoteexthost,TypeScript,MCP LSP Gateway}.log", { cwd: editor.logs })
    .sort()
    .map(
      (file) => `${file}:\n${readFileSync(join(editor.logs, file), "utf8").split("\n").slice(-LOG_LINES).join("\n")}`,
    );
  return [JSON.stringify({ ...inside, page }, undefined, 2), ...logs].join("\n\n");
}

let portsLookedAt = 0;

/**
 * A port that nobody listens on, as nobody does on any other that the gateway would try. It lies below those that systems
 * hand out by themselves: a connection that somebody makes could have one of these, and keep it for a minute after its end.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    // Test files that run side by side are processes of their own, and look at different ports first.
    portsLookedAt += 1;
    const first = 20_000 + (((process.pid + 97 * portsLookedAt) * CANDIDATES) % 12_000);
    const isFree = await Promise.all(Array.from({ length: CANDIDATES }, (_, index) => canListen(first + index)));
    if (isFree.every(Boolean)) {
      return first;
    }
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.on("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/** Removes what a test has written, even if a process that has just been ended is still at it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Waits until the extensions know that the person is in this file: they hear of it later than one sees it. */
export async function untilInEditor(window: EditorWindow, name: string): Promise<void> {
  const shown = await eventually(
    () => window.inside((vscode) => vscode.window.activeTextEditor?.document.fileName ?? "", undefined),
    (file) => file.endsWith(name),
  );
  assert.ok(shown.endsWith(name), shown);
}
