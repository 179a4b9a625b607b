// Calls at an even rate, for measurements of what else happens meanwhile.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { RawClient } from "../../harness/clients/raw-client.ts";
import { root } from "../../harness/layout.ts";

const CALLS_A_SECOND = 100;

/** Calls at an even rate, whatever is measured meanwhile. */
export class SteadyLoad {
  readonly #begun = performance.now();
  #made = 0;
  #isEnded = false;
  #running: Promise<void> = Promise.resolve();

  static async start(client: RawClient): Promise<SteadyLoad> {
    const uri = `file://${join(root, "harness", "workspace", "src", "ship.ts")}`;
    const args = { uri, position: { line: 1, character: 17 }, pageSize: 1 };
    let cursor = await firstPage(client, args);
    const load = new SteadyLoad();
    load.#running = load.#run(async () => {
      try {
        await client.call("vscode.lsp.references", { ...args, cursor });
      } catch {
        // The workspace is not what it was, as when a language server has learned more of it.
        cursor = await firstPage(client, args);
      }
    });
    return load;
  }

  /** Resolves to how many calls were made a second. */
  async end(): Promise<number> {
    const rate = this.#made / ((performance.now() - this.#begun) / 1e3);
    this.#isEnded = true;
    await this.#running;
    return rate;
  }

  async #run(call: () => Promise<unknown>): Promise<void> {
    while (!this.#isEnded) {
      const due = this.#begun + (this.#made * 1e3) / CALLS_A_SECOND;
      await delay(Math.max(0, due - performance.now()));
      await call();
      this.#made += 1;
    }
  }
}

/** The cursor of the second page: a page that is held takes the extension host no work, which would drown the view's. */
async function firstPage(client: RawClient, args: object): Promise<string> {
  for (;;) {
    try {
      const body = JSON.parse(await client.call("vscode.lsp.references", { ...args }));
      return String(body.result.structuredContent.nextCursor);
    } catch {
      // The language server is still starting.
      await delay(500);
    }
  }
}
