// Cursors of one question: the second page of an answer, and what has moved since the first. And the moment at which
// what a test has done on disk is no news any more.

import assert from "node:assert/strict";
import { type GatewayClient, type Page, ToolFailure } from "../../harness/clients/gateway-client.ts";
import type { EditorWindow } from "../../harness/editor/real-vscode.ts";
import { eventually } from "../../harness/machine/eventually.ts";

/** A paged question whose answer has more than one item. */
export class PagedQuestion {
  readonly #client: GatewayClient;
  readonly #tool: string;
  readonly #input: Readonly<Record<string, unknown>>;

  constructor(client: GatewayClient, tool: string, input: Readonly<Record<string, unknown>>) {
    this.#client = client;
    this.#tool = tool;
    this.#input = input;
  }

  /** The cursor of the second page, and how many items there are in all. */
  async firstPage(): Promise<{ cursor: string; total: number }> {
    const { items, nextCursor } = await this.#ask(null, 1);
    assert.ok(nextCursor, "There is a second page.");
    const rest = await this.#ask(nextCursor, 200);
    return { cursor: nextCursor, total: items.length + rest.items.length };
  }

  /** What has moved since the cursor was made, as the gateway says it; empty if the cursor still works. */
  async changedSince(cursor: string): Promise<readonly string[]> {
    try {
      await this.#ask(cursor, 1);
      return [];
    } catch (error) {
      if (error instanceof ToolFailure && error.code === "CURSOR_STALE") {
        return error.details["changed"] as string[];
      }
      throw error;
    }
  }

  /** As `changedSince`, once something has moved. Whatever else the same event moves may come a little later. */
  changeSince(cursor: string, patience?: number): Promise<readonly string[]> {
    return eventually(
      () => this.changedSince(cursor),
      (changed) => changed.length > 0,
      patience,
    );
  }

  #ask(cursor: string | null, pageSize: number): Promise<Page<unknown>> {
    return this.#client.call(this.#tool, { ...this.#input, pageSize, cursor });
  }
}

/**
 * Waits until the editor has heard of everything that happened in this folder before. It may act on what was written,
 * such as settings, and tell its extensions only later that a file has changed. Leaves files in `dist`, which do not count.
 */
export async function untilHeardOfAll(window: EditorWindow, folder: string): Promise<void> {
  await window.inside(async (vscode, folder) => {
    const { mkdirSync, rmSync } = process.getBuiltinModule("node:fs");
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(vscode.Uri.file(folder), "dist/heard-*"),
    );
    rmSync(`${folder}/dist`, { recursive: true, force: true });
    const heard = new Set<string>();
    let waiting = (): void => {};
    watcher.onDidCreate(({ path }) => {
      heard.add(path);
      waiting();
    });
    let last = "";
    const make = (): void => {
      last = `${folder}/dist/heard-${Math.random()}`;
      mkdirSync(last, { recursive: true });
    };
    // A new watcher needs a moment before it sees anything. What it hears comes in the order in which it happened.
    make();
    const making = setInterval(make, 200);
    await new Promise<void>((resolve) => {
      waiting = resolve;
    });
    clearInterval(making);
    make();
    await new Promise<void>((resolve) => {
      waiting = () => heard.has(last) && resolve();
    });
    watcher.dispose();
  }, folder);
}
