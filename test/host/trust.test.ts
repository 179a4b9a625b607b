import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { connect as dial } from "node:net";
import { after, before, describe, test } from "node:test";
import type { RealVsCode } from "../../scripts/real-vscode.ts";
import { connect, copyWorkspace, freePort, startEditor } from "./gateway-window.ts";

/** As many as the gateway would try. */
const CANDIDATES = 21;

describe("a folder that nobody has trusted yet", () => {
  let folder: string;
  let port: number;
  let editor: RealVsCode;

  before(async () => {
    folder = copyWorkspace();
    port = await freePort();
    editor = await startEditor({
      "mcpLspGateway.port": port,
      "security.workspace.trust.enabled": true,
      "security.workspace.trust.startupPrompt": "never",
    });
  });

  after(async () => {
    await editor?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("no port is opened in Restricted Mode, the status bar says why, and trusting the folder opens it", async () => {
    const before = await openPorts(port);
    const window = await editor.openWindow(folder);
    assert.match(await window.status(/MCP restricted/), /Restricted Mode/);
    assert.deepEqual(await openPorts(port), before);
    await window.runCommand("Workspaces: Manage Workspace Trust");
    await window.page.getByRole("button", { name: "Trust", exact: true }).click();
    const { configuration, client } = await connect(window);
    assert.match(await window.status(/MCP \d+/), /listens on port \d+/);
    assert.deepEqual(await openPorts(port), [...before, Number(new URL(configuration.url).port)].sort());
    assert.equal((await client.toolNames()).length, 7);
  });
});

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
