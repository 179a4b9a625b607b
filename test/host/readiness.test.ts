import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Server } from "../../harness/editor/extensions/languages/extension.ts";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import { clangd, pyright, rustAnalyzer, startEditorAs } from "../../harness/languages/language-servers.ts";
import {
  type Asked,
  crate,
  isWhole,
  kindOf,
  SEMVER,
  seconds,
  told,
  watch,
  writeFleet,
} from "../../harness/languages/readiness.ts";

const PATIENCE_MS = 150_000;

/**
 * How much later the gateway may have the whole answer, without a mark, than the server calls itself ready. On a machine
 * that has nothing else to do it is less than a second; this only catches a sign that is never believed.
 */
const LATER_MS = 20_000;

describe("readiness: asked every 100 ms from the first connection, a part is never given unmarked", () => {
  test("by rust-analyzer on semver", async (context) => {
    const folder = temporaryFolder("rust");
    cpSync(await crate("semver", SEMVER), folder, { recursive: true });
    const version = { file: "src/lib.rs", position: { line: 157, character: 11 }, whole: 46 };
    await inNewWindow(context, "rust-analyzer", await rustAnalyzer(), folder, version, true);
  });

  test("by clangd on 300 files with compile commands", async (context) => {
    const folder = temporaryFolder("cpp");
    writeFleet(folder, 300);
    const launch = { file: "fleet.cpp", position: { line: 1, character: 4 }, whole: 4 };
    await inNewWindow(context, "clangd", await clangd(), folder, launch, true);
  });

  test("by pyright on a small project", async (context) => {
    const folder = temporaryFolder("python");
    cpSync(fileURLToPath(new URL("../../harness/languages/projects/python", import.meta.url)), folder, {
      recursive: true,
    });
    const boat = { file: "fleet.py", position: { line: 0, character: 6 }, whole: 6 };
    await inNewWindow(context, "languages", await pyright(), folder, boat, false);
  });
});

/** Asks until the answer is whole and not marked. `shows`: whether the server's extension shows when it is ready. */
async function inNewWindow(
  context: TestContext,
  extension: string,
  server: Server,
  folder: string,
  asked: Asked,
  shows: boolean,
): Promise<void> {
  const editor = await startEditorAs(extension, server);
  try {
    const { begun, answers, own, ready } = await watch(editor, folder, asked, PATIENCE_MS);
    context.diagnostic(`the gateway: ${told(answers, begun)}`);
    context.diagnostic(`VS Code's own command: ${told(own, begun)}`);
    if (ready !== undefined) {
      context.diagnostic(`the server calls itself ready from ${seconds(ready - begun)} on`);
    }

    for (const answer of answers) {
      const { at, found } = answer;
      const kind = kindOf(answer, asked);
      assert.ok(kind === "loading" || kind === "marked" || kind === "whole", `${kind}: ${found} at ${at - begun} ms`);
    }
    const whole = answers.find((answer) => isWhole(answer, asked));
    assert.deepEqual([whole?.found, own.at(-1)?.found], [asked.whole, asked.whole]);
    assert.equal(ready !== undefined, shows);
    if (ready !== undefined) {
      const later = (whole?.at ?? 0) - ready;
      assert.ok(later <= LATER_MS, `${later} ms later`);
    }
  } finally {
    await editor.stop();
    removeFolder(folder);
  }
}
