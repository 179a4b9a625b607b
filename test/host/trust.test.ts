import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { GatewayClient } from "../../harness/clients/gateway-client.ts";
import {
  CANDIDATES,
  connect,
  copyWorkspace,
  freePort,
  removeFolder,
  startEditor,
} from "../../harness/editor/gateway-window.ts";
import type { EditorWindow, RealVsCode } from "../../harness/editor/real-vscode.ts";

describe("a folder that nobody has trusted yet", () => {
  let folder: string;
  let port: number;
  let editor: RealVsCode;
  let window: EditorWindow;
  let client: GatewayClient;

  before(async () => {
    folder = copyWorkspace();
    // Only the addon could say whether these can be read.
    const settings = { "mcpLspGateway.catalog": ["v1", "nothing"], "mcpLspGateway.watch.ignore": ["**/other/**"] };
    mkdirSync(join(folder, ".vscode"));
    writeFileSync(join(folder, ".vscode", "settings.json"), JSON.stringify(settings));
    port = await freePort();
    editor = await startEditor({
      "mcpLspGateway.port": port,
      "security.workspace.trust.enabled": true,
      "security.workspace.trust.startupPrompt": "never",
    });
  });

  after(async () => {
    await editor?.stop();
    removeFolder(folder);
  });

  test("no port is opened in Restricted Mode, the status bar says why, and trusting the folder opens it", async () => {
    const before = await openPorts(port);
    window = await editor.openWindow(folder);
    assert.match(await window.status(/MCP restricted/), /Restricted Mode/);
    assert.deepEqual(await openPorts(port), before);
    assert.equal(await hasLoadedAddon(window), false);
    await window.runCommand("Workspaces: Manage Workspace Trust");
    await window.page.getByRole("button", { name: "Trust", exact: true }).click();
    const connected = await connect(window);
    const { configuration } = connected;
    client = connected.client;
    assert.match(await window.status(/MCP \d+/), /listens on port \d+/);
    assert.deepEqual(await openPorts(port), [...before, Number(new URL(configuration.url).port)].sort());
    assert.equal((await client.toolNames()).length, 7);
    assert.equal(await hasLoadedAddon(window), true);
  });

  test("where an extension was kept back, the call says that nobody answers, and a button gets it started", async () => {
    const ask = { uri: pathToFileURL(join(folder, "src", "ship.ts")).href };
    await assert.rejects(client.call("vscode.lsp.documentSymbols", ask), { code: "PROVIDER_UNAVAILABLE" });
    await window.answerNotification("No extension answers for TypeScript yet", "Reload Window");
    const { client: again } = await connect(window);
    const { symbols } = await again.call<{ symbols: { name: string }[] }>("vscode.lsp.documentSymbols", ask);
    assert.ok(symbols.some(({ name }) => name === "Ship"));
  });
});

/** Whether the extension host has loaded our native code. */
function hasLoadedAddon(window: EditorWindow): Promise<boolean> {
  return window.inside(() => {
    const { sharedObjects } = process.report.getReport() as unknown as { readonly sharedObjects: readonly string[] };
    return sharedObjects.some((file) => file.endsWith("gateway.node"));
  }, undefined);
}

/** Which of the ports that the gateway might choose accept a connection. */
async function openPorts(first: number): Promise<number[]> {
  const ports = Array.from({ length: CANDIDATES }, (_, offset) => first + offset);
  const open = await Promise.all(ports.map(accepts));
  return ports.filter((_, index) => open[index]);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = dial(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
