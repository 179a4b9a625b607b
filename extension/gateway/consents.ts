import * as vscode from "vscode";

const ALLOWED = "allowedRoots";
const ALLOW = "Allow";

/**
 * Which folders outside the workspace the person has let this workspace's settings add (D48). Asked once for each real
 * path, one after the other; a refusal holds until the window is loaded again, so that the question does not come back
 * with every change of the settings.
 */
export class Consents {
  readonly #memory: vscode.Memento;
  readonly #granted: () => void;
  readonly #refused = new Set<string>();
  #undecided: readonly string[] = [];
  #asking = false;

  constructor(memory: vscode.Memento, granted: () => void) {
    this.#memory = memory;
    this.#granted = granted;
  }

  /** Real paths that were allowed. */
  allowed(): ReadonlySet<string> {
    const known = this.#memory.get<unknown>(ALLOWED);
    return new Set(Array.isArray(known) ? known.filter((path) => typeof path === "string") : []);
  }

  /** Asks about these real paths, and no longer about others. Does not wait for the person. */
  ask(undecided: readonly string[]): void {
    this.#undecided = undecided;
    if (!this.#asking) {
      this.#asking = true;
      void this.#askAll().finally(() => {
        this.#asking = false;
      });
    }
  }

  async #askAll(): Promise<void> {
    for (let path = this.#next(); path !== undefined; path = this.#next()) {
      await this.#askAbout(path);
    }
  }

  #next(): string | undefined {
    const allowed = this.allowed();
    return this.#undecided.find((path) => !allowed.has(path) && !this.#refused.has(path));
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
