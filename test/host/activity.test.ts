import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { GatewayClient } from "../../harness/clients/gateway-client.ts";
import { RawClient } from "../../harness/clients/raw-client.ts";
import type { Api } from "../../harness/editor/extensions/handover/inside.ts";
import { copyWorkspace, openGateway, removeFolder, startEditor } from "../../harness/editor/gateway-window.ts";
import type { ClientConfiguration } from "../../harness/editor/handover.ts";
import type { EditorWindow, RealVsCode } from "../../harness/editor/real-vscode.ts";
import { extensionId, manifest } from "../../harness/layout.ts";
import { eventually } from "../../harness/machine/eventually.ts";

/** How often the extension looks for news while the activity view is shown. */
const PERIOD_MILLIS = 1_000;
/** Many more than there are rows in sight. */
const MANY_CALLS = 80;

describe("the activity view", () => {
  let folder: string;
  let editor: RealVsCode;
  let window: EditorWindow;
  let client: GatewayClient;
  let configuration: ClientConfiguration;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor();
    ({ window, client, configuration } = await openGateway(editor, folder));
    await show();
  });

  after(async () => {
    await client?.close();
    await editor?.stop();
    removeFolder(folder);
  });

  const uriOf = (name: string) => pathToFileURL(join(folder, "src", name)).href;
  /** The page, while the view is shown. */
  const page = () => window.page.frameLocator("iframe.webview").last().frameLocator("iframe");
  const rows = () => page().getByRole("option");
  const show = () => window.inside((vscode) => void vscode.commands.executeCommand("mcpLspGateway.showActivity"), null);
  const run = (name: string) => window.inside((vscode, id) => void vscode.commands.executeCommand(id), name);
  const hide = async () => {
    await run("workbench.view.explorer");
    await window.page.locator("iframe.webview").waitFor({ state: "detached" });
  };
  /** The file and the place that the person is at. */
  const place = () =>
    window.inside((vscode) => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      return `${document?.uri.path.split("/").at(-1)}:${selection?.active.line}:${selection?.active.character}`;
    }, null);

  test("before the first call it says what to do, and the button does it", async () => {
    await page().getByText("Nobody has called yet.").waitFor();
    await page().getByText(configuration.url).waitFor();
    await page().getByRole("button", { name: "Connect a Client…" }).click();
    await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Codex" }).waitFor();
    await window.page.keyboard.press("Escape");
  });

  test("a call is shown with its client, tool, place, items and time, and a click opens the place", async () => {
    await client.call("vscode.lsp.hover", { uri: uriOf("harbour.ts"), position: { line: 13, character: 61 } });
    const row = rows().filter({ hasText: "hover" }).filter({ hasText: "2 items" }).first();
    await row.waitFor();
    const name = `${manifest.name}-scripts ${manifest.version}`.replaceAll(".", "\\.");
    assert.match(
      (await row.getAttribute("aria-label")) ?? "",
      new RegExp(
        `^hover src/harbour\\.ts:14:62: 2 items in [\\d.]+ m?s, ${name}, \\d\\d:\\d\\d:\\d\\d\\. Enter opens it\\.$`,
      ),
    );
    await row.click();
    assert.equal(await eventually(place, (at) => at === "harbour.ts:13:61"), "harbour.ts:13:61");
  });

  test("the keyboard reaches each call, and Enter opens its place", async () => {
    await client.call("vscode.lsp.references", { uri: uriOf("ship.ts"), position: { line: 1, character: 17 } });
    await rows().filter({ hasText: "references" }).first().waitFor();
    await page().getByRole("listbox").focus();
    await window.page.keyboard.press("Home");
    await window.page.keyboard.press("Enter");
    assert.equal(await eventually(place, (at) => at === "ship.ts:1:17"), "ship.ts:1:17");
  });

  test("what a client calls itself stays text, and cannot turn its surroundings around", async () => {
    const clientInfo = { name: "<img src=x onerror=alert(1)>\u202e live", version: "9".repeat(500) };
    const hostile = await RawClient.connect(configuration, clientInfo);
    await hostile.call("vscode.lsp.workspaceSymbols", { query: "<b>convoy</b>\u202e" });
    const shown = `<img src=x onerror=alert(1)> live ${"9".repeat(64)}`;
    await rows().filter({ hasText: shown }).filter({ hasText: "“<b>convoy</b>\u{fffd}”" }).waitFor();
    await page().locator(".clients").getByText(shown).waitFor();
    assert.equal(await page().locator("img, b").count(), 0);
  });

  test("what a client was refused leads nowhere", async () => {
    const outside = { uri: "file:///etc/hostname", position: { line: 0, character: 0 } };
    await assert.rejects(client.callOnce("vscode.lsp.hover", outside));
    const row = rows().filter({ hasText: "WORKSPACE_DENIED" });
    await row.waitFor();
    assert.doesNotMatch((await row.getAttribute("aria-label")) ?? "", /Enter opens it/);
  });

  test("a file that is gone is told of in one sentence", async () => {
    await client.call("vscode.lsp.documentSymbols", { uri: uriOf("berth.ts") });
    const row = rows().filter({ hasText: "berth.ts" }).first();
    await row.waitFor();
    rmSync(join(folder, "src", "berth.ts"));
    await row.click();
    await window.notification("The file of this call does not exist any more.");
    await run("notifications.clearAll");
  });

  test("hidden, nobody looks for news however many calls come in, and shown again all of them are there", async () => {
    await window.inside(countLooks, extensionId);
    const looks = () => window.inside(() => (globalThis as unknown as { looks: number }).looks, null);
    assert.ok((await eventually(looks, (count) => count >= 2)) >= 2, "shown, it looks");
    await hide();
    // Whoever shows the view hears of it by the time that another view is shown.
    await window.inside((vscode) => vscode.commands.executeCommand("workbench.view.explorer"), undefined);
    const before = await looks();
    const hiddenAt = performance.now();
    for (let calls = 0; calls < MANY_CALLS || performance.now() - hiddenAt < 3 * PERIOD_MILLIS; calls += 1) {
      await client.call("vscode.lsp.diagnostics.document", { uri: uriOf("mistakes.ts") });
    }
    assert.equal(await looks(), before);
    await show();
    await rows().filter({ hasText: "diagnostics.document" }).first().waitFor();
    assert.ok((await looks()) > before);
    const made = await page().locator(".call").count();
    assert.ok(made < MANY_CALLS / 2, `${made} rows were made`);
  });

  test("paused it says so, and its button resumes; the calls of the new gateway begin anew", async () => {
    await run("mcpLspGateway.pause");
    await page().getByText("It is paused in this window; resume it to open the port.").waitFor();
    await page().getByRole("button", { name: "Resume" }).click();
    await page().getByText("Listening on port").waitFor();
    await page().getByText("No client has called yet.").waitFor();
    // The session goes on, and who it is of was told to the gateway before.
    await client.call("vscode.lsp.documentSymbols", { uri: uriOf("ship.ts") });
    await rows().filter({ hasText: "unknown client" }).first().waitFor();
  });
});

/** Inside the extension host: counts from now on how often anybody looks for news of a gateway. */
function countLooks(vscode: Api, id: string): void {
  const { createRequire } = process.getBuiltinModule("node:module");
  const addon = `${vscode.extensions.getExtension(id)?.extensionPath}/dist/native/gateway.node`;
  const { Gateway } = createRequire(addon)(addon);
  const { news } = Gateway.prototype;
  Object.assign(globalThis, { looks: 0 });
  Gateway.prototype.news = function count(...given: unknown[]) {
    (globalThis as unknown as { looks: number }).looks += 1;
    return news.apply(this, given);
  };
}
