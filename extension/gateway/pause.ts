import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Whether the person has paused the gateway of this workspace. It is an empty file and not a part of the workspace's
 * state, as the editor writes that down a moment later: a window that is loaded again at once would open the port again.
 */
export class Pause {
  readonly #folder: string;
  readonly #file: string;
  #isPaused: boolean | undefined;

  /** `workspace` is an identity that can be the name of a file. */
  constructor(folder: string, workspace: string) {
    this.#folder = folder;
    this.#file = join(folder, workspace);
  }

  async read(): Promise<boolean> {
    const isPaused = await stat(this.#file).then(
      () => true,
      () => false,
    );
    this.#isPaused ??= isPaused;
    return this.#isPaused;
  }

  /** In force at once for `read`. Resolves once it is written down, and rejects if it cannot be. */
  async set(isPaused: boolean): Promise<void> {
    this.#isPaused = isPaused;
    if (isPaused) {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(this.#file, "");
    } else {
      await rm(this.#file, { force: true });
    }
  }
}
