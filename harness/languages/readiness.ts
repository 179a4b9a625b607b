// What a gateway answers while a language server is loading, asked from its first connection on.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type GatewayClient, type Location, type Page, type Position, ToolFailure } from "../clients/gateway-client.ts";
import { openGateway, removeFolder, temporaryFolder } from "../editor/gateway-window.ts";
import type { EditorWindow, RealVsCode } from "../editor/real-vscode.ts";
import { cached } from "../machine/cache.mjs";
import { succeed } from "../machine/processes.mjs";
import { UNCONFIRMED } from "./language-project.ts";

/** The version of semver that is asked about. */
export const SEMVER = "1.0.28";

const EVERY_MS = 100;

/** The references that are asked for. All of them fit on one page. */
export interface Asked {
  readonly file: string;
  readonly position: Position;
  /** How many references there are. */
  readonly whole: number;
  /** Whether as many are the right ones, where they are known. */
  readonly areRight?: (items: readonly Location[]) => boolean;
}

export interface Answer {
  readonly at: number;
  /** How many were found, or why none. */
  readonly found: number | string;
  readonly isMarked: boolean;
  readonly items: readonly Location[];
}

/** What happened in a window, in milliseconds of the clock. */
export interface Course {
  /** When the gateway was first connected to. */
  readonly begun: number;
  /** Every answer of the gateway, in the order in which they came. */
  readonly answers: readonly Answer[];
  /** What VS Code's own command answered meanwhile, up to the whole. */
  readonly own: readonly Answer[];
  /** Since when the server has called itself ready, if its extension shows that. */
  readonly ready: number | undefined;
}

/**
 * Opens a window on the folder, and asks until the answer is whole and not marked, and for `longer` milliseconds more, but
 * for `patience` milliseconds at most.
 */
export async function watch(
  editor: RealVsCode,
  folder: string,
  asked: Asked,
  patience: number,
  longer = 0,
): Promise<Course> {
  const { client, window } = await openGateway(editor, folder);
  const begun = Date.now();
  const uri = pathToFileURL(join(folder, asked.file)).href;
  const editorsOwn = ownAnswers(window, uri, asked, patience);
  const answers = await everyAnswer(client, uri, asked, patience, longer);
  const course = { begun, answers, own: await editorsOwn, ready: await readySince(window) };
  await client.close();
  await window.close();
  return course;
}

/** What an answer is: "part" and "error" are what must not be. */
export function kindOf(answer: Answer, asked: Asked): "loading" | "marked" | "whole" | "part" | "error" {
  if (typeof answer.found === "string") {
    // On a busy machine opening a document may take longer than a call may: that is an error, too, that says to try again.
    return answer.found === "warming_up" || answer.found === "timeout" ? "loading" : "error";
  }
  if (answer.isMarked) {
    return "marked";
  }
  return isWhole(answer, asked) ? "whole" : "part";
}

/** Whether the answer has all there is, and says so. */
export function isWhole({ found, isMarked, items }: Answer, { whole, areRight }: Asked): boolean {
  return found === whole && !isMarked && areRight?.(items) !== false;
}

async function everyAnswer(
  client: GatewayClient,
  uri: string,
  asked: Asked,
  patience: number,
  longer: number,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const isDone = () => {
    const whole = answers.find((answer) => isWhole(answer, asked));
    return whole !== undefined && Date.now() - whole.at >= longer;
  };
  const input = { uri, position: asked.position, includeDeclaration: true, pageSize: 200 };
  const calls: Promise<unknown>[] = [];
  for (const deadline = Date.now() + patience; !isDone() && Date.now() < deadline; await delay(EVERY_MS)) {
    calls.push(
      client.callOnce<Page<Location>>("vscode.lsp.references", input).then(
        ({ items, summary }) => {
          const isMarked = summary?.endsWith(UNCONFIRMED) === true;
          answers.push({ at: Date.now(), found: items.length, isMarked, items });
        },
        (error: unknown) => {
          const reason = error instanceof ToolFailure ? String(error.details["reason"] ?? error.code) : String(error);
          answers.push({ at: Date.now(), found: reason, isMarked: false, items: [] });
        },
      ),
    );
  }
  await Promise.all(calls);
  return answers;
}

/** What VS Code's own command answers meanwhile, up to the whole. */
function ownAnswers(
  window: EditorWindow,
  uri: string,
  { position, whole }: Asked,
  patience: number,
): Promise<readonly Answer[]> {
  return window.inside(
    async (vscode, { uri, line, character, whole, every, patience }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      const answers: { at: number; found: number; isMarked: boolean; items: [] }[] = [];
      for (const deadline = Date.now() + patience; Date.now() < deadline; ) {
        const at = new vscode.Position(line, character);
        const found = await vscode.commands.executeCommand<unknown[]>(
          "vscode.executeReferenceProvider",
          document.uri,
          at,
        );
        answers.push({ at: Date.now(), found: found.length, isMarked: false, items: [] });
        if (found.length === whole) {
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, every));
      }
      return answers;
    },
    { uri, ...position, whole, every: EVERY_MS, patience },
  );
}

/** The answers, equal ones in a row told once, with when they began. */
export function told(answers: readonly Answer[], begun: number): string {
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

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}

/** A crate from crates.io, by Cargo. */
export function crate(name: string, version: string): Promise<string> {
  const failed = `Downloading ${name} failed: read the lines above, check the connection to crates.io, and try again.`;
  return cached(`${name}-${version}`, "Cargo.toml", `Downloading ${name} ${version}`, async (partial) => {
    const user = temporaryFolder("vendor");
    const manifest = `[package]\nname = "user"\nversion = "0.0.0"\n[lib]\npath = "lib.rs"\n[dependencies]\n${name} = "=${version}"\n`;
    writeFileSync(join(user, "Cargo.toml"), manifest);
    writeFileSync(join(user, "lib.rs"), "");
    await succeed(failed, "cargo", ["vendor", "vendor"], { cwd: user }, failed);
    cpSync(join(user, "vendor", name), partial, { recursive: true });
    removeFolder(user);
  });
}

/** A function that is declared in a header, defined and called in one file, and called in the last of all others. */
export function writeFleet(folder: string, files: number): void {
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
