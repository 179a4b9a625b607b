import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cached } from "../../scripts/cache.mjs";
import { type GatewayClient, type Page, type Position, ToolFailure } from "../../scripts/gateway-client.ts";
import { succeed } from "../../scripts/processes.mjs";
import type { EditorWindow } from "../../scripts/real-vscode.ts";
import type { Server } from "./extensions/languages/extension.ts";
import { openGateway, removeFolder, temporaryFolder } from "./gateway-window.ts";
import { UNCONFIRMED } from "./language-project.ts";
import { clangd, pyright, rustAnalyzer, startEditorAs } from "./language-servers.ts";

const SEMVER = "1.0.28";
const EVERY_MS = 100;
const PATIENCE_MS = 150_000;

/**
 * How much later the gateway may have the whole answer, without a mark, than the server calls itself ready. On a machine
 * that has nothing else to do it is less than a second; this only catches a sign that is never believed.
 */
const LATER_MS = 20_000;

interface Asked {
  readonly file: string;
  readonly position: Position;
  /** How many references there are. */
  readonly whole: number;
}

interface Answer {
  readonly at: number;
  /** How many were found, or why none. */
  readonly found: number | string;
  readonly isMarked: boolean;
}

describe("readiness: asked every 100 ms from the first connection, a part is never given unmarked", () => {
  test("by rust-analyzer on semver", async (context) => {
    const folder = temporaryFolder("rust");
    cpSync(await semver(), folder, { recursive: true });
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
    cpSync(fileURLToPath(new URL("projects/python", import.meta.url)), folder, { recursive: true });
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
  { file, position, whole }: Asked,
  shows: boolean,
): Promise<void> {
  const editor = await startEditorAs(extension, server);
  try {
    const { client, window } = await openGateway(editor, folder);
    const begun = Date.now();
    const uri = pathToFileURL(join(folder, file)).href;
    const editorsOwn = ownAnswers(window, uri, position, whole);
    const answers = await everyAnswer(client, uri, position, whole);
    const own = await editorsOwn;
    const ready = await readySince(window);
    context.diagnostic(`the gateway: ${told(answers, begun)}`);
    context.diagnostic(`VS Code's own command: ${told(own, begun)}`);
    if (ready !== undefined) {
      context.diagnostic(`the server calls itself ready from ${seconds(ready - begun)} on`);
    }

    const [last, ownLast] = [answers.at(-1), own.at(-1)];
    for (const { at, found, isMarked } of answers) {
      // On a busy machine opening a document may take longer than a call may: that is an error, too, that says to try again.
      const isLoading = found === "warming_up" || found === "timeout";
      const isRight = isLoading || (typeof found === "number" && (isMarked || found === whole));
      assert.ok(isRight, `${found} at ${at - begun} ms`);
    }
    assert.deepEqual([last?.found, last?.isMarked, ownLast?.found], [whole, false, whole]);
    assert.equal(ready !== undefined, shows);
    if (ready !== undefined) {
      const later = (last?.at ?? 0) - ready;
      assert.ok(later <= LATER_MS, `${later} ms later`);
    }
    await client.close();
  } finally {
    await editor.stop();
    removeFolder(folder);
  }
}

/** Every answer of the gateway, in the order in which they came, up to the first that is whole and not marked. */
async function everyAnswer(
  client: GatewayClient,
  uri: string,
  position: Position,
  whole: number,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const isDone = () => answers.some(({ found, isMarked }) => found === whole && !isMarked);
  const input = { uri, position, includeDeclaration: true, pageSize: 200 };
  const calls: Promise<unknown>[] = [];
  for (const deadline = Date.now() + PATIENCE_MS; !isDone() && Date.now() < deadline; await delay(EVERY_MS)) {
    calls.push(
      client.callOnce<Page<unknown>>("vscode.lsp.references", input).then(
        ({ items, summary }) => {
          const isMarked = summary?.endsWith(UNCONFIRMED) === true;
          answers.push({ at: Date.now(), found: items.length, isMarked });
        },
        (error: unknown) => {
          const reason = error instanceof ToolFailure ? String(error.details["reason"] ?? error.code) : String(error);
          answers.push({ at: Date.now(), found: reason, isMarked: false });
        },
      ),
    );
  }
  await Promise.all(calls);
  return answers.slice(0, answers.findIndex(({ found, isMarked }) => found === whole && !isMarked) + 1 || undefined);
}

/** What VS Code's own command answers meanwhile, up to the whole. */
function ownAnswers(window: EditorWindow, uri: string, position: Position, whole: number): Promise<readonly Answer[]> {
  return window.inside(
    async (vscode, { uri, line, character, whole, every, patience }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      const answers: { at: number; found: number; isMarked: boolean }[] = [];
      for (const deadline = Date.now() + patience; Date.now() < deadline; ) {
        const at = new vscode.Position(line, character);
        const found = await vscode.commands.executeCommand<unknown[]>(
          "vscode.executeReferenceProvider",
          document.uri,
          at,
        );
        answers.push({ at: Date.now(), found: found.length, isMarked: false });
        if (found.length === whole) {
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, every));
      }
      return answers;
    },
    { uri, ...position, whole, every: EVERY_MS, patience: PATIENCE_MS },
  );
}

/** The answers, equal ones in a row told once, with when they began. */
function told(answers: readonly Answer[], begun: number): string {
  const told: string[] = [];
  let before: string | undefined;
  for (const { at, found, isMarked } of answers) {
    const answer = `${found}${isMarked ? " marked" : ""}`;
    if (answer !== before) {
      told.push(`${answer} from ${seconds(at - begun)}`);
      before = answer;
    }
  }
  return told.join(", ");
}

/** Since when the server calls itself ready, if it does; its extension hears that in its own way. */
function readySince(window: EditorWindow): Promise<number | undefined> {
  return window.inside((vscode) => {
    const [exports] = ["rust-lang.rust-analyzer", "llvm-vs-code-extensions.vscode-clangd"]
      .map((id) => vscode.extensions.getExtension(id)?.exports as { readonly readySince?: number } | undefined)
      .filter((found) => found !== undefined);
    return exports?.readySince;
  }, undefined);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** The crate from crates.io, by Cargo. */
function semver(): Promise<string> {
  const failed = "Downloading semver failed: read the lines above, check the connection to crates.io, and try again.";
  return cached(`semver-${SEMVER}`, "Cargo.toml", `Downloading semver ${SEMVER}`, async (partial) => {
    const user = temporaryFolder("vendor");
    const manifest = `[package]\nname = "user"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n[dependencies]\nsemver = "=${SEMVER}"\n`;
    writeFileSync(join(user, "Cargo.toml"), manifest);
    writeFileSync(join(user, "lib.rs"), "");
    await succeed(failed, "cargo", ["vendor", "vendor"], { cwd: user }, failed);
    cpSync(join(user, "vendor", "semver"), partial, { recursive: true });
    removeFolder(user);
  });
}

/** A function that is declared in a header, defined and called in one file, and called in the last of all others. */
function writeFleet(folder: string, files: number): void {
  const sources = ["fleet.cpp", ...Array.from({ length: files - 1 }, (_, index) => `boat${index}.cpp`)];
  writeFileSync(join(folder, "fleet.h"), "#pragma once\nint launch(int length);\n");
  for (const [index, source] of sources.entries()) {
    const body =
      index === 0
        ? "int launch(int length) { return length; }\nint fleet() { return launch(1); }"
        : `int boat${index}() { return ${index === files - 1 ? "launch(2)" : index}; }`;
    // Some take a while, so that the index is not whole before anybody can ask.
    const more = index % 10 === 9 ? "#include <string>\n" : "";
    writeFileSync(join(folder, source), `#include "fleet.h"\n${body}\n${more}`);
  }
  const commands = sources.map((file) => ({ directory: folder, file, arguments: ["c++", "-std=c++17", "-c", file] }));
  writeFileSync(join(folder, "compile_commands.json"), JSON.stringify(commands));
}
