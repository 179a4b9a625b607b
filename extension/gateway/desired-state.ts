import { realpath, stat } from "node:fs/promises";
import * as vscode from "vscode";
import type { Changes } from "../language/changes.ts";
import type { Editor } from "../language/editor.ts";
import type { WarmUp } from "../language/warm-up.ts";
import type { Consents } from "./consents.ts";
import type { DesiredState } from "./lifecycle.ts";
import { type Log, nameOf } from "./log.ts";
import { admitRoots } from "./roots.ts";
import { type Readers, readSettings } from "./settings.ts";
import type { Tokens } from "./tokens.ts";

export interface Parts {
  readonly version: string;
  readonly workspace: string;
  readonly log: Log;
  readonly consents: Consents;
  readonly changes: Changes;
  readonly editor: Editor;
  readonly warmUp: WarmUp;
  readonly readers: Readers;
  isInstalled(): boolean;
  /** Whether the person has paused the gateway in this window. */
  isPaused(): Promise<boolean>;
  /** Those that this workspace remembers from one window to the next. */
  endedSessions(): readonly string[];
  tokens(): Promise<Tokens>;
}

/** Reads the desired state of the gateway from trust, settings, folders and secrets. */
export class DesiredStateReader {
  readonly #parts: Parts;
  #problems: readonly string[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async read(): Promise<DesiredState> {
    const { version, workspace, log, consents, changes, editor, warmUp } = this.#parts;
    const configuration = vscode.workspace.getConfiguration("mcpLspGateway");
    // The addon is what can tell more, and no native code is loaded for a workspace that is not to be served.
    const { settings: unread, problems: told } = readSettings(configuration, {
      isGlob: () => true,
      isCatalog: () => true,
    });
    log.level = unread.logLevel;
    editor.mayOpenTabs = unread.openTab;
    warmUp.isWanted = unread.warmUp;
    const reason = !this.#parts.isInstalled()
      ? "uninstalled"
      : !vscode.workspace.isTrusted
        ? "untrusted"
        : !unread.enabled
          ? "disabled"
          : (await this.#parts.isPaused())
            ? "paused"
            : undefined;
    if (reason !== undefined) {
      this.#tell(told);
      changes.watch([]);
      return reason;
    }
    const { settings, problems } = readSettings(configuration, this.#parts.readers);
    const admission = await admitRoots(folders(), settings.additionalAllowedRoots, consents.allowed(), realFolder);
    const { roots, undecided } = admission;
    this.#tell([...problems, ...admission.problems]);
    const { tokens, sessionKey } = await this.#secrets();
    consents.ask(undecided);
    changes.watch(roots);
    return {
      version,
      workspace,
      roots,
      ignore: [...settings.watchIgnore],
      catalog: [...settings.catalog],
      tokens: [...tokens],
      sessionKey,
      endedSessions: [...this.#parts.endedSessions()],
      allowedOrigins: [...settings.allowedOrigins],
      protocolFallback: settings.protocolFallback,
      maxItemsPerPage: settings.maxItemsPerPage,
      maxResponseBytes: settings.maxResponseBytes,
      requestTimeoutMs: settings.requestTimeoutMs,
      logLevel: settings.logLevel,
      wish: { port: settings.port, ofWorkspace: settings.portOfWorkspace },
      // The other epochs start at 0, so this one has to be new each time the gateway starts (D25).
      rootsEpoch: Date.now(),
    };
  }

  async #secrets() {
    try {
      return await (await this.#parts.tokens()).read();
    } catch (error) {
      this.#parts.log.error(`The secret storage failed (${nameOf(error)}).`);
      throw new Error(
        "the token could not be read from the editor's secret storage; unlock your keyring, then run MCP LSP Gateway: Restart.",
      );
    }
  }

  /** Logs each problem, and shows one notification when they are not the ones already told. */
  #tell(problems: readonly string[]): void {
    const added = problems.filter((problem) => !this.#problems.includes(problem));
    this.#problems = problems;
    const [first, ...others] = added;
    if (first === undefined) {
      return;
    }
    for (const problem of added) {
      this.#parts.log.warn(problem);
    }
    const open = "Open Settings";
    const message = others.length === 0 ? first : `${first} The log names ${others.length} more.`;
    void vscode.window.showWarningMessage(message, open).then((chosen) => {
      if (chosen === open) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "mcpLspGateway");
      }
    });
  }
}

function folders(): string[] {
  const all = vscode.workspace.workspaceFolders ?? [];
  return all.filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}

async function realFolder(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
