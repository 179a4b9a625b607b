import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { vsixFile } from "../../scripts/layout.ts";
import type { RealVsCode } from "../../scripts/real-vscode.ts";
import { connect, copyWorkspace, openGateway, removeFolder, startEditor, statusFor } from "./gateway-window.ts";

describe("tokens", () => {
  let folder: string;
  let editor: RealVsCode;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor();
  });

  after(async () => {
    await editor?.stop();
    removeFolder(folder);
  });

  test("rotating the token shuts out the old one at once and lets the new one in", async () => {
    const { window, configuration, client } = await openGateway(editor, folder);
    const { url, token } = configuration;
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
    await window.close();
  });

  test("a reload keeps the token", async () => {
    const first = await openGateway(editor, folder);
    await first.window.page.reload();
    const { configuration, client, window } = await connect(first.window);
    assert.equal(configuration.token, first.configuration.token);
    assert.equal((await client.toolNames()).length, 7);
    await window.close();
  });

  test("uninstalling leaves no token behind that works after the next installation", async () => {
    const { window, configuration } = await openGateway(editor, folder);
    await window.inside((vscode) => vscode.commands.executeCommand("gatewayHandover.uninstall"), undefined);
    await window.page.reload();
    await window.page.waitForSelector(".monaco-workbench");
    await editor.install(vsixFile);
    await window.page.reload();
    const again = await connect(window);
    assert.notEqual(again.configuration.token, configuration.token);
    assert.equal(await statusFor(again.configuration.url, configuration.token), 401);
    assert.equal(await statusFor(again.configuration.url, again.configuration.token), 200);
    await window.close();
  });
});
