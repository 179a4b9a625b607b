// Finds something real in a folder to ask about, by looking at the text of its files.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Position } from "../clients/gateway-client.ts";
import { Failure } from "../machine/progress.mjs";

export interface Place {
  readonly file: string;
  readonly uri: string;
  readonly position: Position;
}

export interface Subject {
  readonly name: string;
  /** Where the text declares it. */
  readonly declaration: Place;
  /** Where else the text mentions it, in another file if there is one; the declaration if it is mentioned nowhere else. */
  readonly use: Place;
}

/** Declarations that other files are likely to use, by the first line of each; `name` is what they declare. */
const DECLARATIONS: readonly { readonly extensions: readonly string[]; readonly pattern: RegExp }[] = [
  {
    extensions: [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"],
    pattern:
      /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+(?<name>[A-Za-z_$][\w$]*)/gm,
  },
  {
    extensions: [
      ".py",
      ".rs",
      ".go",
      ".java",
      ".kt",
      ".cs",
      ".php",
      ".rb",
      ".swift",
      ".c",
      ".h",
      ".cc",
      ".cpp",
      ".hpp",
    ],
    pattern:
      /^\s*(?:pub\s+|public\s+)?(?:def|class|fn|func|fun|function|struct|interface|trait|enum)\s+(?<name>[A-Za-z_]\w*)/gm,
  },
  {
    // Functions, which have no word before them.
    extensions: [".c", ".h", ".cc", ".cpp", ".hpp"],
    pattern:
      /^(?!(?:return|else|typedef|using|namespace|case|goto)\b)[A-Za-z_][\w:<>,*& \t]*?[ \t*&](?<name>[A-Za-z_]\w*)(?=[ \t]*\()/gm,
  },
];

const NOT_SOURCES = new Set(["node_modules", "dist", "out", "build", "target", "coverage", "vendor", "__pycache__"]);

/** More files than this say nothing new about what a good example is. */
const MAX_FILES = 400;
const MAX_BYTES = 512 * 1024;

/**
 * The declared name, no plain word if there is another, that the text of the folder mentions most, among the languages that this editor surely knows if the
 * folder has any of them.
 */
export function pickSubject(folder: string): Subject {
  for (const { extensions, pattern } of DECLARATIONS) {
    const texts = new Map(sourceFiles(folder, extensions).map((file) => [file, readFileSync(file, "utf8")]));
    const mentions = countWords(texts);
    let best: { name: string; file: string; offset: number; weight: number } | undefined;
    for (const [file, text] of texts) {
      for (const match of text.matchAll(pattern)) {
        const name = match.groups?.["name"] ?? "";
        // A plain word such as `from` is a keyword or prose in most of the places that mention it.
        const weight = /[A-Z_$\d]/.test(name) ? (mentions.get(name) ?? 0) : 0;
        if (best === undefined || weight > best.weight) {
          best = { name, file, offset: match.index + match[0].length - name.length, weight };
        }
      }
    }
    if (best !== undefined) {
      const { name, file, offset } = best;
      const declaration = place(file, texts.get(file) ?? "", offset);
      return { name, declaration, use: findUse(name, file, texts) ?? declaration };
    }
  }
  throw new Failure(
    `Nothing to ask about was found in ${folder}: give a folder with source files that declare something.`,
  );
}

/** The files with these endings of their names, of those that were written by people: at most `MAX_FILES`. */
export function sourceFiles(folder: string, extensions: readonly string[]): string[] {
  const files: string[] = [];
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined && files.length < MAX_FILES; next = folders.shift()) {
    for (const entry of readdirSync(next, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(next, entry.name);
      if (entry.isDirectory() && !entry.name.startsWith(".") && !NOT_SOURCES.has(entry.name)) {
        folders.push(path);
      } else if (entry.isFile() && extensions.includes(extname(entry.name)) && statSync(path).size <= MAX_BYTES) {
        files.push(path);
      }
    }
  }
  return files.slice(0, MAX_FILES);
}

function countWords(texts: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts.values()) {
    for (const [word] of text.matchAll(/[A-Za-z_$][\w$]*/g)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  return counts;
}

/** The first mention in another file that is code and not prose, as far as a look at the line can tell. */
function findUse(name: string, declaredIn: string, texts: ReadonlyMap<string, string>): Place | undefined {
  const mention = new RegExp(`(?<![\\w$.'"/-])${name.replaceAll("$", "\\$")}(?![\\w$'"/-])`, "g");
  for (const [file, text] of texts) {
    if (file === declaredIn) {
      continue;
    }
    for (const { index } of text.matchAll(mention)) {
      const line = text.slice(text.lastIndexOf("\n", index - 1) + 1, index);
      if (!/^\s*(\*|#)|\/\/|\/\*|['"`]/.test(line)) {
        return place(file, text, index);
      }
    }
  }
  return undefined;
}

function place(file: string, text: string, offset: number): Place {
  const lines = text.slice(0, offset).split("\n");
  const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  return { file, uri: pathToFileURL(file).href, position };
}
