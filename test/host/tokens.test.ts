import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { GatewayClient } from "../../harness/clients/gateway-client.ts";
import {
  connect,
  copyWorkspace,
  openGateway,
  removeFolder,
  startEditor,
  statusFor,
} from "../../harness/editor/gateway-window.ts";
import type { ClientConfiguration } from "../../harness/editor/handover.ts";
import type { EditorWindow, RealVsCode } from "../../harness/editor/real-vscode.ts";
import { vsixFile } from "../../harness/layout.ts";

describe("tokens", () => {
  let folder: string;
  let editor: RealVsCode;
  let window: EditorWindow;
  /** What the window gives out now. */
  let given: ClientConfiguration;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor();
    const opened = await openGateway(editor, folder);
    await opened.client.close();
    ({ window, configuration: given } = opened);
  });

  after(async () => {
    await editor?.stop();
    removeFolder(folder);
  });

  test("rotating the token shuts out the old one at once and lets the new one in", async () => {
    const { url, token } = given;
    const client = await GatewayClient.connect(given);
    assert.equal(await statusFor(url, token), 200);
    await window.runCommand("MCP LSP Gateway: Rotate Token");
    await window.notification("The token of this workspace was replaced");
    assert.equal(await statusFor(url, token), 401);
    await assert.rejects(client.toolNames(), "A session that was begun with the old token is shut out as well.");
    await window.runCommand("Gateway Handover: Write Client Configuration");
    const renewed = await connect(window);
    assert.notEqual(renewed.configuration.token, token);
    assert.equal(renewed.configuration.url, url);
    assert.equal((await renewed.client.toolNames()).length, 7);
    await renewed.client.close();
    given = renewed.configuration;
  });

  test("a reload keeps the token", async () => {
    await window.page.reload();
    const { configuration, client } = await connect(window);
    assert.equal(configuration.token, given.token);
    assert.equal((await client.toolNames()).length, 7);
    await client.close();
  });

  test("uninstalling leaves no token behind that works after the next installation", async () => {
    await window.inside((vscode) => vscode.commands.executeCommand("gatewayHandover.uninstall"), undefined);
    await window.page.reload();
    await window.page.waitForSelector(".monaco-workbench");
    await editor.install(vsixFile);
    await window.page.reload();
    const again = await connect(window);
    assert.notEqual(again.configuration.token, given.token);
    assert.equal(await statusFor(again.configuration.url, given.token), 401);
    assert.equal(await statusFor(again.configuration.url, again.configuration.token), 200);
    await again.client.close();
    given = again.configuration;
  });
});
