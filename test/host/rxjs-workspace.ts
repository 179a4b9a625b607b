// A TypeScript project of real size: the sources of rxjs, as npm has them.

import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cached, npmInstall } from "../../scripts/cache.mjs";
import type { Position } from "../../scripts/gateway-client.ts";

const VERSION = "7.8.1";

/** Without it the editor sees single files and finds a fraction of the references. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: "ES2019",
    module: "commonjs",
    moduleResolution: "node",
    lib: ["ES2019", "DOM"],
    baseUrl: "src",
    paths: { rxjs: ["./"], "rxjs/*": ["./*"] },
    ignoreDeprecations: "6.0",
  },
  include: ["src/**/*.ts"],
};

export interface Place {
  readonly uri: string;
  readonly position: Position;
  /** What the text says there, for messages. */
  readonly word: string;
}

/** A copy of rxjs' sources that nobody else touches. */
export class RxjsWorkspace {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<RxjsWorkspace> {
    const source = join("node_modules", "rxjs", "src");
    const download = await cached(
      `rxjs-${VERSION}`,
      join(source, "index.ts"),
      `Downloading rxjs ${VERSION}`,
      (partial) => npmInstall(partial, { rxjs: VERSION }),
    );
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "gateway-rxjs-")));
    cpSync(join(download, source), join(folder, "src"), { recursive: true });
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
    return new RxjsWorkspace(folder);
  }

  uri(file: string): string {
    return pathToFileURL(join(this.folder, file)).href;
  }

  text(file: string): string {
    return readFileSync(join(this.folder, file), "utf8");
  }

  /** Where `file` has the first `word` at or after the first `after`. */
  find(file: string, word: string, after = ""): Place {
    const text = this.text(file);
    const offset = text.indexOf(word, text.indexOf(after));
    if (offset === -1) {
      throw new Error(`${file} has no ${word} after ${after}`);
    }
    return this.#place(file, text, offset, word);
  }

  /** `count` different identifiers anywhere in the sources, always the same ones for the same seed. */
  sample(count: number, seed: number): Place[] {
    const random = generator(seed);
    const files = globSync("src/**/*.ts", { cwd: this.folder }).sort();
    const places = new Map<string, Place>();
    while (places.size < count) {
      const file = files[Math.floor(random() * files.length)] ?? "";
      const text = this.text(file);
      const words = [...blankProse(text).matchAll(/[A-Za-z_$][\w$]*/g)];
      const word = words[Math.floor(random() * words.length)];
      if (word !== undefined) {
        places.set(`${file}:${word.index}`, this.#place(file, text, word.index, word[0]));
      }
    }
    return [...places.values()];
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #place(file: string, text: string, offset: number, word: string): Place {
    const lines = text.slice(0, offset).split("\n");
    return {
      uri: this.uri(file),
      position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 },
      word,
    };
  }
}

/** Comments and strings as spaces, at the same length, so that most identifiers in the rest mean something. */
function blankProse(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|"[^"\n]*"/g, (prose) => prose.replaceAll(/[^\n]/g, " "));
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
