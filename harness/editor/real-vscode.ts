// Drives a real VS Code: code-server, with a window for each folder in the system's Chromium. Everything it writes lies
// in a temporary folder of its own, and every process it starts is ended by its own id.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { screenshots } from "../layout.ts";
import { withNodeFirst } from "../machine/cache.mjs";
import { succeed } from "../machine/processes.mjs";
import { Failure } from "../machine/progress.mjs";
import { chromiumBinary } from "../machine/system-packages.ts";
import { type CodeServerFiles, codeServer } from "./code-server.ts";
import type { Api } from "./extensions/handover/inside.ts";
import { type HandoverFiles, handoverFiles, runInside } from "./handover.ts";
import { LoopbackFront } from "./loopback-front.ts";

export interface Options {
  /** VSIX files to install. */
  readonly extensions: readonly string[];
  /** Added to the settings that keep the editor quiet; a test of trust sets it on. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whether the editor shows itself as it does after its installation: without those settings. */
  readonly fresh?: true;
}

/** Settings under which nothing unasked-for shows itself or is downloaded. */
export const QUIET_SETTINGS = {
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "workbench.startupEditor": "none",
  "extensions.ignoreRecommendations": true,
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "git.openRepositoryInParentFolders": "never",
  // Otherwise each window has npm look for the types of packages.
  "js/ts.tsserver.automaticTypeAcquisition.enabled": false,
  // In a browser the default is to save by itself after a while; on the desktop it is this.
  "files.autoSave": "off",
};

const CHROMIUM_ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How long the editor may take for anything that is not an answer of a language server. */
const PATIENCE = 180_000;

/** How long the windows may take to close. */
const UNTIL_CLOSED = 20_000;

/** How long a message may take to show itself. Afterwards it is looked for in the list of those that did not. */
const UNTIL_SHOWN = 30_000;

/** One installation of VS Code with its extensions, its user and its browser. */
export class RealVsCode {
  readonly url: string;
  readonly #files: CodeServerFiles;
  readonly #folder: string;
  readonly #server: ChildProcess;
  readonly #front: LoopbackFront;
  readonly #browser: Browser;
  readonly #person: BrowserContext;
  #stopped: Promise<void> | undefined;

  private constructor(
    files: CodeServerFiles,
    folder: string,
    server: ChildProcess,
    front: LoopbackFront,
    browser: Browser,
    person: BrowserContext,
  ) {
    this.url = front.url;
    this.#files = files;
    this.#folder = folder;
    this.#server = server;
    this.#front = front;
    this.#browser = browser;
    this.#person = person;
  }

  /** Installs what is missing of the editor and of the browser. */
  static async install(): Promise<{ files: CodeServerFiles; executablePath: string }> {
    const [files, executablePath] = await Promise.all([codeServer(), chromiumBinary()]);
    return { files, executablePath };
  }

  static async start({ extensions, settings = {}, fresh }: Options): Promise<RealVsCode> {
    const { files, executablePath } = await RealVsCode.install();
    const folder = mkdtempSync(join(tmpdir(), "gateway-vscode-"));
    for (const file of ["User/settings.json", "Machine/settings.json"]) {
      mkdirSync(join(folder, "data", dirname(file)), { recursive: true });
      writeFileSync(
        join(folder, "data", file),
        JSON.stringify({ ...(fresh === true ? {} : QUIET_SETTINGS), ...settings }),
      );
    }
    mkdirSync(handoverFolder(folder));
    if (extensions.length > 0) {
      await commandLine(
        files,
        folder,
        extensions.flatMap((file) => ["--install-extension", file]),
      );
    }
    const server = await serve(files, folder);
    let front: LoopbackFront | undefined;
    try {
      front = await LoopbackFront.start(editorSocket(folder));
      const browser = await chromium.launch({
        executablePath,
        args: CHROMIUM_ARGUMENTS,
        // On a signal the windows have to be closed before the browser, which stopOnSignals sees to.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      });
      const person = await browser.newContext({ viewport: { width: 1400, height: 900 } });
      await person.grantPermissions(["clipboard-read", "clipboard-write"], { origin: front.url });
      return new RealVsCode(files, folder, server, front, browser, person);
    } catch (error) {
      await front?.close();
      await end(server);
      throw error;
    }
  }

  /** Where the editor's own logs and the extensions' are. */
  get logs(): string {
    return join(this.#folder, "data", "logs");
  }

  /** What a person would type into a browser to see the folder. */
  addressOf(folder: string): string {
    return `${this.url}/?folder=${encodeURIComponent(folder)}`;
  }

  /**
   * Opens a window on a folder, or on a `.code-workspace` file whose first folder it is. Its extension host starts with
   * it.
   */
  async openWindow(folder: string, workspaceFile?: string): Promise<EditorWindow> {
    const page = await this.#person.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(
      workspaceFile === undefined
        ? this.addressOf(folder)
        : `${this.url}/?workspace=${encodeURIComponent(workspaceFile)}`,
    );
    await page.waitForSelector(".monaco-workbench");
    return new EditorWindow(page, handoverFiles(handoverFolder(this.#folder), folder));
  }

  async install(vsix: string): Promise<void> {
    await commandLine(this.#files, this.#folder, ["--install-extension", vsix]);
  }

  async uninstall(id: string): Promise<void> {
    await commandLine(this.#files, this.#folder, ["--uninstall-extension", id]);
  }

  /** Resolves when the editor's server has ended. */
  async closed(): Promise<void> {
    if (this.#server.exitCode === null && this.#server.signalCode === null) {
      await new Promise((resolve) => this.#server.once("exit", resolve));
    }
  }

  /** Ends the windows, the browser and the server, and removes what they wrote. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    // The windows first: closing a page ends its extension host, closing the browser alone does not. One that is just
    // being loaded again may never be closed, and its extension host ends with the server.
    const closed = Promise.all(this.#person.pages().map((page) => page.close()));
    await Promise.race([closed, delay(UNTIL_CLOSED, undefined, { ref: false })]);
    await this.#browser.close();
    await this.#front.close();
    await end(this.#server);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** One window: a folder with an extension host of its own. */
export class EditorWindow {
  readonly page: Page;
  /** How the helper extension in this window is reached. */
  readonly handover: HandoverFiles;

  constructor(page: Page, handover: HandoverFiles) {
    this.page = page;
    this.handover = handover;
  }

  /** Runs a function inside the window's extension host. */
  inside<Argument, Result>(
    work: (vscode: Api, argument: Argument) => Result | PromiseLike<Result>,
    argument: Argument,
  ): Promise<Result> {
    return runInside(this.handover, work, argument);
  }

  /** Runs a command as a person does: F1, its title, Enter. */
  async runCommand(title: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await this.page.keyboard.press("F1");
    await input.fill(`>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: title }).waitFor();
    await this.page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
  }

  clipboard(): Promise<string> {
    return this.page.evaluate("navigator.clipboard.readText()");
  }

  /** Shows a file of the folder in a tab. */
  async openFile(path: string): Promise<void> {
    await this.page.keyboard.press("Control+P");
    const input = this.page.locator(".quick-input-widget input[type=text]");
    await input.fill(path);
    await this.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: basename(path) }).waitFor();
    await this.page.keyboard.press("Enter");
    await this.page.locator(".tab.active", { hasText: basename(path) }).waitFor();
  }

  /** Types into the file that was opened last. */
  async type(text: string): Promise<void> {
    await this.page.locator(".editor-group-container.active .monaco-editor.focused").waitFor();
    await this.page.keyboard.type(text);
  }

  /** Waits for a notification with this text. */
  async notification(text: string): Promise<void> {
    await this.#notified(text);
  }

  /** Clicks a button of the notification with this text, which goes away then. */
  async answerNotification(text: string, button: string): Promise<void> {
    const notification = await this.#notified(text);
    // This very one is waited for: what the button does may bring up another with the same text.
    await notification.evaluate("shown => shown.setAttribute('data-answered', '')");
    await notification.getByRole("button", { name: button, exact: true }).click();
    await this.page.locator("[data-answered]", { hasText: text }).waitFor({ state: "detached" });
  }

  /** Of notifications that come all at once, the editor shows the first three by themselves, and the others in its list. */
  async #notified(text: string): Promise<Locator> {
    const shown = this.page.locator(".notification-toast", { hasText: text });
    const isShown = await shown.waitFor({ timeout: UNTIL_SHOWN }).then(
      () => true,
      () => false,
    );
    if (isShown) {
      return shown;
    }
    await this.inside((vscode) => void vscode.commands.executeCommand("notifications.showList"), undefined);
    const listed = this.page.locator(".notifications-center .notification-list-item", { hasText: text });
    await listed.waitFor();
    return listed;
  }

  /** What the status bar says of the gateway, once it says something that `pattern` matches. */
  async status(pattern: RegExp): Promise<string> {
    const item = this.page.locator(".statusbar-item", { hasText: /^\s*MCP/ }).filter({ hasText: pattern });
    await item.first().waitFor();
    const label = await item.first().locator("[aria-label]").first().getAttribute("aria-label");
    return label ?? "";
  }

  /** Resolves to the file's path. */
  async screenshot(name: string): Promise<string> {
    mkdirSync(screenshots, { recursive: true });
    const path = join(screenshots, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}

/** Ends the editor when this process is told to end, and the process after it. */
export function stopOnSignals(editor: { stop(): Promise<void> }, exitCode: number): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void editor.stop().finally(() => process.exit(exitCode)));
  }
}

function handoverFolder(folder: string): string {
  return join(folder, "handover");
}

/** Where the editor's server listens. Nobody else can enter the folder, so it asks for no login. */
function editorSocket(folder: string): string {
  return join(folder, "editor.socket");
}

function environment(files: CodeServerFiles, folder: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(withNodeFirst(files.node)).filter(
    // An editor that this runs inside of, or an npm, must not speak to the new one through its environment.
    ([name]) => !/^(VSCODE_|CODE_SERVER|npm_|NODE_OPTIONS|ELECTRON_|PORT$|NODE_TEST_CONTEXT)/.test(name),
  );
  return { ...Object.fromEntries(inherited), MCP_LSP_GATEWAY_HANDOVER: handoverFolder(folder) };
}

function editorArguments(folder: string): string[] {
  return ["--user-data-dir", join(folder, "data"), "--extensions-dir", join(folder, "extensions")];
}

async function commandLine(files: CodeServerFiles, folder: string, args: readonly string[]): Promise<void> {
  await succeed(
    `VS Code refused ${args.join(" ")}: read the lines above.`,
    files.node,
    [files.entry, ...editorArguments(folder), ...args],
    { env: environment(files, folder) },
  );
}

/** Starts the server, and resolves when it listens. */
async function serve(files: CodeServerFiles, folder: string): Promise<ChildProcess> {
  const socket = editorSocket(folder);
  const server = spawn(
    files.node,
    [
      ...[files.entry, ...editorArguments(folder)],
      ...["--auth", "none", "--socket", socket],
      ...["--disable-telemetry", "--disable-update-check"],
      // A closed window's extension host, and the port it holds, are given up after this many seconds.
      ...["--reconnection-grace-time", "2"],
    ],
    // Its own process group, so that its extension hosts end with it.
    { env: environment(files, folder), stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  let output = "";
  return new Promise((resolve, reject) => {
    const read = (text: string): void => {
      output += text;
      if (output.includes(`HTTP server listening on ${socket}`)) {
        resolve(server);
      }
    };
    server.stdout.setEncoding("utf8").on("data", read);
    server.stderr.setEncoding("utf8").on("data", read);
    server.on("error", reject);
    server.on("exit", () =>
      reject(new Failure(`${output}\nVS Code's server ended before it listened: read the lines above.`)),
    );
  });
}

/** Ends the server and what it has started, which is its process group. */
async function end(server: ChildProcess): Promise<void> {
  const { pid, exitCode, signalCode } = server;
  if (pid === undefined || exitCode !== null || signalCode !== null) {
    return;
  }
  const ended = new Promise((resolve) => server.once("exit", resolve));
  process.kill(-pid, "SIGTERM");
  const force = setTimeout(() => process.kill(-pid, "SIGKILL"), 10_000);
  await ended;
  clearTimeout(force);
}
