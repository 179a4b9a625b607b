// `node scripts/screenshots.ts`: takes the pictures in media/, which the walkthrough and the README show, and that of the
// walkthrough in docs/pictures/, from the packed extension in a real VS Code. With the argument `activity-view` only those
// of the activity view.

import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { packVsix } from "../harness/build/vsix.ts";
import { packHandover, takeConfiguration } from "../harness/editor/handover.ts";
import { type EditorWindow, RealVsCode, stopOnSignals } from "../harness/editor/real-vscode.ts";
import { extensionId, root, vsixFile } from "../harness/layout.ts";
import { command, step } from "../harness/machine/progress.mjs";
import { Agents } from "./agents.ts";

const THEMES = [
  { name: "dark", theme: "Default Dark Modern" },
  { name: "light", theme: "Default Light Modern" },
  { name: "hc", theme: "Default High Contrast" },
];

const SIZE = { width: 1180, height: 740 };
/** How long clients call before the pictures are taken, so that the chart shows how it looks in use. */
const CALLING_MILLIS = 150_000;
const media = join(root, "media");
/** Pictures that are not packed. */
const pictures = join(root, "docs", "pictures");

/** A part of the window, in pixels from its upper left corner. */
type Clip = { x: number; y: number; width: number; height: number };

await command(async () => {
  await packVsix("dev");
  // The pictures name folders, so the person whose home folder they are in is nobody.
  const home = realpathSync(mkdtempSync(join(tmpdir(), "gateway-pictures-")));
  process.env["HOME"] = home;
  const folder = join(home, "harbour");
  cpSync(join(root, "harness", "workspace"), folder, { recursive: true });
  mkdirSync(pictures, { recursive: true });
  const editor = await RealVsCode.start({ extensions: [vsixFile, await packHandover()] });
  stopOnSignals(editor, 1);
  try {
    const window = await editor.openWindow(folder);
    const agents = new Agents(await takeConfiguration(window.handover), folder);
    await window.page.setViewportSize(SIZE);
    await window.openFile("src/ship.ts");
    await run(window, "workbench.action.closeSidebar");
    await step("Letting clients call for a while", () => agents.callFor(CALLING_MILLIS));
    for (const { name, theme } of THEMES) {
      await step(`Taking the picture of the activity view in ${theme}`, () =>
        takeActivityView(window, agents, name, theme),
      );
    }
    if (process.argv[2] === "activity-view") {
      return 0;
    }
    for (const { name, theme } of THEMES) {
      await step(`Taking the pictures in ${theme}`, () => takePictures(window, name, theme));
    }
  } finally {
    await editor.stop();
    rmSync(home, { recursive: true, force: true });
  }
  return 0;
});

async function takePictures(window: EditorWindow, name: string, theme: string): Promise<void> {
  const { page } = window;
  await changeTheme(window, name, theme);
  const take = (picture: string, clip: Clip) => page.screenshot({ path: join(media, `${picture}-${name}.png`), clip });

  // What an earlier picture has left in the status bar would be in this one.
  await page.locator(".statusbar-item", { hasText: "Copied the client configuration" }).waitFor({ state: "detached" });
  await page
    .locator(".statusbar-item", { hasText: /^\s*MCP \d+/ })
    .first()
    .hover();
  await page.locator(".workbench-hover", { hasText: "listens on" }).waitFor();
  await take("status", { x: SIZE.width - 560, y: SIZE.height - 220, width: 560, height: 220 });
  await page.mouse.move(SIZE.width / 2, 4);
  await page.locator(".workbench-hover", { hasText: "listens on" }).waitFor({ state: "hidden" });

  await run(window, "mcpLspGateway.connect");
  await page.locator(".quick-input-list .monaco-list-row").first().waitFor();
  await take("connect", await around(page.locator(".quick-input-widget")));
  await page.keyboard.press("Escape");

  await run(window, "mcpLspGateway.checkWorkspace");
  await window.notification("7 of 7 tools answered");
  await run(window, "notifications.clearAll");
  await page.waitForFunction("document.querySelector('.notification-toast') === null");
  const report = page.frameLocator("iframe.webview").last().frameLocator("iframe").locator("h1");
  await report.waitFor();
  await page.mouse.move(SIZE.width / 2, 4);
  await take("check", { x: 0, y: 0, ...SIZE });
  await run(window, "workbench.action.closeActiveEditor");
  await page.locator(".tab", { hasText: "Check of This Workspace" }).waitFor({ state: "detached" });

  await window.inside(
    (vscode, id) => void vscode.commands.executeCommand("workbench.action.openWalkthrough", id),
    `${extensionId}#gettingStarted`,
  );
  const shown = page.locator(".getting-started-media img");
  await shown.waitFor();
  await shown.evaluate("(image) => image.decode()");
  await page.screenshot({ path: join(pictures, `walkthrough-${name}.png`) });
  await run(window, "workbench.action.closeActiveEditor");
  await shown.waitFor({ state: "detached" });
}

/** The activity view, beside a file. */
async function takeActivityView(window: EditorWindow, agents: Agents, name: string, theme: string): Promise<void> {
  const { page } = window;
  await changeTheme(window, name, theme);
  await run(window, "mcpLspGateway.showActivity");
  await agents.callFor(0);
  const view = page.frameLocator("iframe.webview").last().frameLocator("iframe");
  await view.getByRole("option").filter({ hasText: "claude-code" }).first().waitFor();
  await page.mouse.move(SIZE.width / 2, 4);
  await page.screenshot({ path: join(media, `activity-view-${name}.png`) });
  await run(window, "workbench.action.closeSidebar");
  await page.locator("iframe.webview").waitFor({ state: "detached" });
}

async function changeTheme(window: EditorWindow, name: string, theme: string): Promise<void> {
  await window.inside(
    (vscode, value) =>
      vscode.workspace.getConfiguration("workbench").update("colorTheme", value, vscode.ConfigurationTarget.Global),
    theme,
  );
  await themed(window, name);
}

/** Resolves once the window is drawn in the theme. */
async function themed({ page }: EditorWindow, name: string): Promise<void> {
  const kind = { dark: "vs-dark", light: "vs", hc: "hc-black" }[name] ?? name;
  await page.locator(`.monaco-workbench.${kind}`).waitFor();
}

/** Runs a command and does not wait for what it asks of the person. */
function run(window: EditorWindow, name: string): Promise<void> {
  return window.inside((vscode, id) => void vscode.commands.executeCommand(id), name);
}

/** The place of an element, with some room around it. */
async function around(element: Locator): Promise<Clip> {
  const box = await element.boundingBox();
  const { x, y, width, height } = box ?? { x: 0, y: 0, ...SIZE };
  return { x: Math.max(0, x - 20), y: Math.max(0, y - 8), width: width + 40, height: height + 28 };
}
