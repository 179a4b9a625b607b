// Writes test/golden/uris.json: generated paths with the URIs that the `vscode-uri` package makes of them (D30). The
// seed is fixed, so it always writes the same file. With --check it only tells whether the file is what it would write.

import { Failure } from "../harness/machine/progress.mjs";
import { writeOrCheck } from "./written-file.ts";

interface Sample {
  readonly style: "posix" | "windows";
  readonly path: string;
  readonly uri: string;
}

const SAMPLES_OF_EACH_STYLE = 2_500;

// Each pool is drawn from with the same probability, so that rare kinds of characters are not rare here.
const POOLS = [
  "abcdefghijklmnopqrstuvwxyz",
  "ABCXYZ0123456789-._~",
  ":/?#[]@!$&'()*+,;= ",
  '%"<>^`{|}\\',
  "\u0001\u0009\u000a\u001f\u007f\u0080\u00a0",
  "äßéñøŁžşΩЖ中文字日本語한글عبرית",
  "e\u0301a\u0308\u200d\ufeff\uffff\ufffd\u2028",
  "😀🦀𝒳𐐷🏳️‍🌈👩‍💻",
].map((pool) => [...pool]);

const SHAPES = {
  posix: ["/", "/", "/", "/C:/", "/c:", "/Z:", "//host/", "//HOST", "//user:pass@Host:80/", "", "a/"],
  windows: [
    "C:\\",
    "c:\\",
    "Z:/",
    "C:",
    "\\\\server\\share\\",
    "\\\\SERVER\\Share",
    "//Server/",
    "\\\\ÄÖ.example\\x\\",
    "\\\\u@Host:445\\",
    "\\",
    "/",
    "a\\",
  ],
} as const;

const random = mulberry32(0x5eed);
const samples = [...(await samplesOf("posix")), ...(await samplesOf("windows"))];
writeOrCheck(
  "test/golden/uris.json",
  `[\n${samples.map((sample) => `  ${JSON.stringify(sample)}`).join(",\n")}\n]\n`,
  "node scripts/golden-uris.ts",
);

/** The package looks at the platform once, when it is loaded: each style has an instance of its own. */
async function samplesOf(style: Sample["style"]): Promise<Sample[]> {
  const platform = process.platform;
  Object.defineProperty(process, "platform", { value: style === "windows" ? "win32" : "linux" });
  const { URI } = (await import(`${import.meta.resolve("vscode-uri")}?${style}`)) as typeof import("vscode-uri");
  Object.defineProperty(process, "platform", { value: platform });
  const found = new Map<string, Sample>();
  while (found.size < SAMPLES_OF_EACH_STYLE) {
    const path = anyOf(SHAPES[style]) + Array.from({ length: below(5) }, segment).join(anyOf(["/", "/", "\\"]));
    // The package refuses three slashes in a row at the beginning, which no real path has.
    if (!(style === "windows" ? /^[/\\]{3}/ : /^\/{3}/).test(path)) {
      found.set(path, { style, path, uri: URI.file(path).toString() });
    }
  }
  if (URI.file("a\\b").toString() !== (style === "windows" ? "file:///a/b" : "file:///a%5Cb")) {
    throw new Failure("vscode-uri did not take on the style asked for: see how it finds out the platform.");
  }
  return [...found.values()];
}

function segment(): string {
  return Array.from({ length: 1 + below(8) }, () => anyOf(anyOf(POOLS))).join("");
}

function anyOf<T>(items: readonly T[]): T {
  return items[below(items.length)] as T;
}

function below(end: number): number {
  return Math.floor(random() * end);
}

/** A small generator with a seed, which the language lacks. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
