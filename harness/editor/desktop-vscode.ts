// The desktop VS Code that is installed here, with user data of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { succeed } from "../machine/processes.mjs";
import { onPath } from "../machine/system-packages.ts";
import { type HandoverFiles, handoverFiles } from "./handover.ts";
import { type Options, QUIET_SETTINGS } from "./real-vscode.ts";

/** One desktop editor with isolated user data. It is not a child of this process and is ended by a file. */
export class DesktopVsCode {
  readonly #program: string;
  readonly #folder: string;
  #window: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  private constructor(program: string, folder: string) {
    this.#program = program;
    this.#folder = folder;
  }

  /** Whether `code` is on PATH and has a screen to show itself on. */
  static isUsable(): boolean {
    const screen = process.platform !== "linux" || process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"];
    return Boolean(screen) && onPath(["code"]) !== undefined;
  }

  static async start({ extensions, settings = {} }: Options): Promise<DesktopVsCode> {
    const folder = mkdtempSync(join(tmpdir(), "gateway-vscode-"));
    mkdirSync(join(folder, "data", "User"), { recursive: true });
    mkdirSync(join(folder, "handover"));
    writeFileSync(join(folder, "data", "User", "settings.json"), JSON.stringify({ ...QUIET_SETTINGS, ...settings }));
    const editor = new DesktopVsCode(onPath(["code"]) ?? "code", folder);
    await succeed(
      "VS Code could not install the extension: read the lines above.",
      editor.#program,
      [...editor.#arguments(), ...extensions.flatMap((file) => ["--install-extension", file])],
      { env: editor.#environment() },
    );
    return editor;
  }

  /** What to tell a person who wants to see the folder. */
  addressOf(folder: string): string {
    return `the window of VS Code on ${folder}`;
  }

  /** Opens a window on a folder. */
  async openWindow(folder: string): Promise<{ readonly handover: HandoverFiles }> {
    const args = [...this.#arguments(), "--new-window", "--wait", folder];
    // With --wait the command line lives as long as the window does.
    const window = spawn(this.#program, args, { env: this.#environment(), stdio: "ignore" });
    this.#window = window;
    this.#ended = new Promise((resolve, reject) => window.once("exit", () => resolve()).once("error", reject));
    return { handover: handoverFiles(join(this.#folder, "handover"), folder) };
  }

  /** Resolves when the person has closed the window. */
  closed(): Promise<void> {
    return this.#ended;
  }

  /** Closes the editor and removes what it wrote. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    writeFileSync(join(this.#folder, "handover", "quit"), "");
    // An editor that does not listen any more is left to the person in front of it.
    const giveUp = setTimeout(() => this.#window?.kill(), 15_000);
    await this.#ended;
    clearTimeout(giveUp);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  #arguments(): string[] {
    const args = ["--user-data-dir", join(this.#folder, "data"), "--extensions-dir", join(this.#folder, "extensions")];
    // Electron's sandbox refuses to run for root.
    return process.getuid?.() === 0 ? [...args, "--no-sandbox"] : args;
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, MCP_LSP_GATEWAY_HANDOVER: join(this.#folder, "handover") };
  }
}
