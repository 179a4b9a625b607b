// Places in source files to ask about, picked at random and always the same ones.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Position } from "../clients/gateway-client.ts";

export interface Place {
  readonly uri: string;
  readonly position: Position;
  /** What the text says there, for messages. */
  readonly word: string;
}

/** What in a language is no code: comments and texts. */
export const PROSE = {
  typescript: /\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|"[^"\n]*"/g,
  python: /"""[\s\S]*?"""|'''[\s\S]*?'''|#.*|'[^'\n]*'|"[^"\n]*"/g,
  rust: /\/\*[\s\S]*?\*\/|\/\/.*|"[^"\n]*"/g,
  cpp: /\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|"[^"\n]*"|^#.*/gm,
} as const;

/** `count` different identifiers in the files that match `pattern`, always the same ones for the same seed. */
export function sample(
  folder: string,
  pattern: string,
  language: keyof typeof PROSE,
  count: number,
  seed: number,
): Place[] {
  const random = generator(seed);
  const files = globSync(pattern, { cwd: folder }).sort();
  const places = new Map<string, Place>();
  while (places.size < count) {
    const file = files[Math.floor(random() * files.length)] ?? "";
    const text = readFileSync(join(folder, file), "utf8");
    const words = [...blank(text, PROSE[language]).matchAll(/[A-Za-z_$][\w$]*/g)];
    const word = words[Math.floor(random() * words.length)];
    if (word !== undefined) {
      places.set(`${file}:${word.index}`, placeOf(folder, file, text, word.index, word[0]));
    }
  }
  return [...places.values()];
}

/** Where `file` has the first `word` at or after the first `after`. */
export function placeIn(folder: string, file: string, word: string, after = ""): Place {
  const text = readFileSync(join(folder, file), "utf8");
  const offset = text.indexOf(word, text.indexOf(after));
  if (offset === -1) {
    throw new Error(`${file} has no ${word} after ${after}`);
  }
  return placeOf(folder, file, text, offset, word);
}

function placeOf(folder: string, file: string, text: string, offset: number, word: string): Place {
  const lines = text.slice(0, offset).split("\n");
  return {
    uri: pathToFileURL(join(folder, file)).href,
    position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 },
    word,
  };
}

export function describePlace({ word, uri, position }: Place): string {
  return `${word} at ${uri}:${position.line}:${position.character}`;
}

/** The prose as spaces, at the same length, so that most identifiers in the rest mean something. */
function blank(text: string, prose: RegExp): string {
  return text.replaceAll(prose, (found) => found.replaceAll(/[^\n]/g, " "));
}

/** Mulberry32: numbers from 0 to 1 that are the same on every machine. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
