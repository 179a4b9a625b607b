import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { GatewayClient } from "../../harness/clients/gateway-client.ts";
import {
  connect,
  copyWorkspace,
  initialize,
  openGateway,
  removeFolder,
  startEditor,
  statusFor,
  untilInEditor,
} from "../../harness/editor/gateway-window.ts";
import type { ClientConfiguration } from "../../harness/editor/handover.ts";
import type { EditorWindow, RealVsCode } from "../../harness/editor/real-vscode.ts";
import { extensionId } from "../../harness/layout.ts";
import { eventually } from "../../harness/machine/eventually.ts";

describe("commands, status bar and check", () => {
  let folder: string;
  let editor: RealVsCode;
  let window: EditorWindow;
  let configuration: ClientConfiguration;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor();
    const opened = await openGateway(editor, folder);
    await opened.client.close();
    ({ window, configuration } = opened);
  });

  after(async () => {
    await editor?.stop();
    removeFolder(folder);
  });

  test("the tooltip names the address and the folder, and its link lets the person pick a client", async () => {
    await statusItem(window).hover();
    const tooltip = window.page.locator(".workbench-hover", { hasText: "listens on" });
    await tooltip.waitFor();
    const text = (await tooltip.textContent()) ?? "";
    assert.ok(text.includes(configuration.url), text);
    assert.ok(text.includes(folder), text);
    await tooltip.getByText("Connect a Client…").click();
    assert.deepEqual(await rowsOf(window), [
      "Claude Code",
      "Codex",
      "VS Code (this window)",
      "Cursor",
      "opencode",
      "Gemini CLI",
      "Another client",
    ]);
    await window.page.keyboard.press("Escape");
  });

  test("what is copied for Codex holds the port and the token that are in force", async () => {
    await start(window, "mcpLspGateway.connect");
    await pick(window, "Codex");
    await pick(window, "Piece of config.toml");
    await window.notification("Copied for Codex. Put it into ~/.codex/config.toml");
    const { url, token } = configuration;
    assert.equal(
      await window.clipboard(),
      `[mcp_servers.vscode-lsp]\nurl = "${url}"\nhttp_headers = { "Authorization" = "Bearer ${token}" }\n`,
    );
  });

  test("the walkthrough leaves the list of clients open, and counts its step as done once something is copied", async () => {
    await window.inside(
      (vscode, id) => void vscode.commands.executeCommand("workbench.action.openWalkthrough", id, false),
      `${extensionId}#gettingStarted`,
    );
    const step = window.page.locator(".getting-started-step", { hasText: "Connect your agent" });
    await step.waitFor();
    await start(window, "mcpLspGateway.connect");
    await pick(window, "Codex");
    await pick(window, "Piece of config.toml");
    await window.notification("Copied for Codex.");
    await step.getByRole("checkbox", { checked: true }).waitFor();
    await window.inside((vscode) => void vscode.commands.executeCommand("notifications.clearAll"), undefined);
  });

  test("a button opens the file that a piece goes into, which is there once it is saved", async () => {
    const file = join(folder, "opencode.json");
    await start(window, "mcpLspGateway.connect");
    await pick(window, "opencode");
    await pick(window, "Piece of opencode.json");
    await window.answerNotification("Copied for opencode.", "Open opencode.json");
    await window.page.locator(".tab.active", { hasText: "opencode.json" }).waitFor();
    assert.ok(!existsSync(file));
    const piece = await window.clipboard();
    await untilInEditor(window, "opencode.json");
    await window.inside(async (vscode, text) => {
      const editor = vscode.window.activeTextEditor;
      await editor?.edit((edit) => edit.insert(new vscode.Position(0, 0), text));
      await editor?.document.save();
    }, piece);
    assert.equal(readFileSync(file, "utf8"), piece);
    await run(window, "workbench.action.closeAllEditors");
  });

  test("where the client reads the token from its environment, the text holds none and a button copies it", async () => {
    await start(window, "mcpLspGateway.connect");
    await pick(window, "Codex");
    await pick(window, "Command, token from the environment");
    const said = "Copied for Codex. Run it in a terminal. Set VSCODE_LSP_TOKEN";
    await window.notification(said);
    assert.equal(
      await window.clipboard(),
      `codex mcp add vscode-lsp --url ${configuration.url} --bearer-token-env-var VSCODE_LSP_TOKEN`,
    );
    await window.answerNotification(said, "Copy Token");
    assert.equal(
      await eventually(
        () => window.clipboard(),
        (text) => text === configuration.token,
      ),
      configuration.token,
    );
  });

  test("for Gemini CLI a button turns the fallback on, which is in force at once", async () => {
    assert.equal(await revisionFor(configuration), "2025-11-25");
    await start(window, "mcpLspGateway.connect");
    await pick(window, "Gemini CLI");
    await pick(window, "Command");
    await window.answerNotification("Copied for Gemini CLI", "Turn On protocolFallback");
    assert.equal(
      await eventually(
        () => revisionFor(configuration),
        (revision) => revision === "2025-06-18",
      ),
      "2025-06-18",
    );
  });

  test("the check asks all seven tools about the file in the editor, and its report holds no token", async () => {
    await window.openFile("src/ship.ts");
    await untilInEditor(window, "ship.ts");
    await window.runCommand("MCP LSP Gateway: Check This Workspace");
    await window.answerNotification("7 of 7 tools answered; nothing has to be done.", "Copy for a Bug Report");
    const report = await eventually(
      () => window.clipboard(),
      (text) => text.startsWith("# Check of this workspace"),
    );
    assert.ok(report.includes(`It connects to \`${configuration.url}\`.`), report);
    // The cursor is at the start of a comment, so the first symbol was asked about.
    assert.ok(report.includes("asked about `src/ship.ts` (typescript), line 2, column 18"), report);
    assert.match(report, /\| `definition` \| ✔ Found 1 definition\. \| \d+\u00a0ms/);
    assert.match(report, /\| `hover` \| ✔ Hover available\. \| \d+\u00a0ms/);
    assert.match(report, /\| `documentSymbols` \| ✔ Returned 11 document symbols\. \| \d+\u00a0ms/);
    assert.match(report, /\| `workspaceSymbols` \| ✔ Returned 1 workspace symbol\. \| \d+\u00a0ms/);
    assert.equal(report.match(/✔/g)?.length, 7);
    assert.ok(report.includes(`- \`${folder}\``), report);
    assert.ok(!report.includes(configuration.token));
    // The report is shown beside the file; a check from there is about the same file.
    const checked = run(window, "mcpLspGateway.checkWorkspace");
    await window.answerNotification("7 of 7 tools answered; nothing has to be done.", "Copy for a Bug Report");
    await checked;
    // A preview that is drawn anew takes the focus, and the lists of later tests would close.
    await run(window, "workbench.action.closeAllEditors");
  });

  test("the check of a gateway that is paused says so, and the button of its message resumes it", async () => {
    await start(window, "mcpLspGateway.pause");
    await window.status(/MCP paused/);
    const checked = run(window, "mcpLspGateway.checkWorkspace");
    await window.answerNotification("The gateway is not running.", "Resume");
    await checked;
    await run(window, "workbench.action.closeAllEditors");
    await window.status(/MCP \d+/);
    assert.equal(await statusFor(configuration.url, configuration.token), 200);
  });

  test("paused, nothing listens, and the menu of the status bar resumes on the same port, after a reload as well", async () => {
    await statusItem(window).click();
    await pick(window, "Pause");
    assert.match(await window.status(/MCP paused/), /paused in this window; resume it/);
    await assert.rejects(fetch(configuration.url), "Nothing listens.");
    // The editor writes down what extensions remember a moment later, and this reload does not wait for that.
    await window.page.reload();
    await window.status(/MCP paused/);
    await assert.rejects(fetch(configuration.url), "Nothing listens after a reload either.");
    await start(window, "mcpLspGateway.copyEndpoint");
    await window.notification("MCP LSP Gateway is not running: it is paused in this window");
    await statusItem(window).click();
    assert.deepEqual(await rowsOf(window), ["Resume", "Show Log"]);
    await pick(window, "Resume");
    await window.status(/MCP \d+/);
    const renewed = await connect(window);
    assert.deepEqual(
      [renewed.configuration.url, renewed.configuration.token],
      [configuration.url, configuration.token],
    );
    await renewed.client.close();
    assert.equal(await statusFor(configuration.url, configuration.token), 200);
  });

  test("a gateway that is turned off is turned on again by the button of the message that says so", async () => {
    const set = (isEnabled: boolean) =>
      window.inside(
        (vscode, value) =>
          vscode.workspace
            .getConfiguration("mcpLspGateway")
            .update("enabled", value, vscode.ConfigurationTarget.Workspace),
        isEnabled,
      );
    await set(false);
    await window.status(/MCP off/);
    await start(window, "mcpLspGateway.connect");
    await window.answerNotification("MCP LSP Gateway is not running: it is turned off", "Turn On");
    await window.status(/MCP \d+/);
  });

  test("a button offers the core tools, which clients that connect then have", async () => {
    const hasFind = async () => {
      const client = await GatewayClient.connect(configuration);
      const names = await client.toolNames();
      await client.close();
      return names.includes("vscode.lsp.symbol.find");
    };
    assert.equal(await hasFind(), false);
    await start(window, "mcpLspGateway.connect");
    await pick(window, "Codex");
    await pick(window, "Command, token from the environment");
    await window.answerNotification("Copied for Codex.", "Offer core Tools");
    assert.equal(await eventually(hasFind, (has) => has), true);
  });
});

function statusItem(window: EditorWindow) {
  // Messages of the gateway stand in the status bar as well, and begin with its name.
  return window.page.locator(".statusbar-item", { hasText: /^\s*MCP (\d+|paused)$/ });
}

/** Runs a command and does not wait for it, as it may ask the person. */
function start(window: EditorWindow, command: string): Promise<void> {
  return window.inside((vscode, name) => void vscode.commands.executeCommand(name), command);
}

/** Runs a command to its end. */
function run(window: EditorWindow, command: string): Promise<unknown> {
  return window.inside((vscode, name) => vscode.commands.executeCommand(name), command);
}

function list(window: EditorWindow) {
  return window.page.locator(".quick-input-list .monaco-list-row");
}

/** The labels of the list that is open. */
async function rowsOf(window: EditorWindow): Promise<string[]> {
  await list(window).first().waitFor();
  const labels = await list(window).locator(".quick-input-list-row:first-child .label-name").allInnerTexts();
  return labels.map((label) => label.trim());
}

/** Picks the row with this label. */
async function pick(window: EditorWindow, label: string): Promise<void> {
  await list(window)
    .filter({ has: window.page.locator(".label-name").getByText(label, { exact: true }) })
    .first()
    .click();
}

/** The revision that a client which asks for 2025-06-18 is answered with. */
async function revisionFor({ url, token }: ClientConfiguration): Promise<string> {
  const response = await initialize(url, token, "2025-06-18");
  const { result } = (await response.json()) as { result: { protocolVersion: string } };
  return result.protocolVersion;
}
