import * as vscode from "vscode";

const ALLOWED = "allowedRoots";
const ALLOW = "Allow";

/**
 * Which folders outside the workspace the person has let this workspace's settings add (D48). Asked once for each real
 * path; a refusal holds until the window is loaded again, so that the question does not come back with every change of
 * the settings.
 */
export class Consents {
  readonly #memory: vscode.Memento;
  readonly #refused = new Set<string>();
  readonly #asking = new Set<string>();
  readonly #granted: () => void;

  constructor(memory: vscode.Memento, granted: () => void) {
    this.#memory = memory;
    this.#granted = granted;
  }

  /** Real paths that were allowed. */
  allowed(): ReadonlySet<string> {
    const known = this.#memory.get<unknown>(ALLOWED);
    return new Set(Array.isArray(known) ? known.filter((path) => typeof path === "string") : []);
  }

  /** Asks about those of these real paths that nobody decided on. Does not wait for the person. */
  ask(paths: readonly string[]): void {
    for (const path of paths) {
      if (!this.#refused.has(path) && !this.#asking.has(path)) {
        this.#asking.add(path);
        void this.#askAbout(path).finally(() => this.#asking.delete(path));
      }
    }
  }

  async #askAbout(path: string): Promise<void> {
    const chosen = await vscode.window.showWarningMessage(
      `This workspace's settings ask to let MCP clients read code under ${path}; allow it only if you trust whoever wrote them.`,
      ALLOW,
      "Don't Allow",
    );
    if (chosen === ALLOW) {
      await this.#memory.update(ALLOWED, [...this.allowed(), path]);
      this.#granted();
    } else {
      this.#refused.add(path);
    }
  }
}
