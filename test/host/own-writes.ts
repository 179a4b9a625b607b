// Trials of whether an answer that is asked for right after a write is about the files after it. The test and the benchmark
// share them.

import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type GatewayClient,
  type Location,
  type Page,
  type Position,
  ToolFailure,
} from "../../scripts/gateway-client.ts";

/** How often a trial may be asked until it counts as not answered. */
const MOST_CALLS = 3;

const WRITES = ["create", "edit", "replace", "rename", "delete"] as const;
const QUESTIONS = ["references", "symbols", "definition", "diagnostics"] as const;

type Write = (typeof WRITES)[number];
type Question = (typeof QUESTIONS)[number];

/** The files of the trials in one language: one that is written, one that it uses, and one that uses it. */
interface Language {
  readonly base: { readonly file: string; readonly text: string; readonly at: Position };
  readonly user: { readonly file: string; readonly text: string; readonly at: Position };
  /** Where the written file is, at first and once it is renamed. */
  readonly files: readonly [string, string];
  /** What it holds: these empty lines, then a use of the base, a value that fits the user or not, and a function. */
  written(padding: number, fits: boolean, name: string): string;
}

export const TYPESCRIPT: Language = {
  base: { file: "src/own-base.ts", text: "export class Hull {}\n", at: { line: 0, character: 13 } },
  user: {
    file: "src/own-user.ts",
    text: 'import { own } from "./own";\nexport const depth: number = own;\n',
    at: { line: 1, character: 29 },
  },
  files: ["src/own.ts", "src/own-moved.ts"],
  written: (padding, fits, name) =>
    `${"\n".repeat(padding)}import { Hull } from "./own-base";\nexport const own = ${fits ? "1" : '"x"'};\nexport function ${name}(): Hull {\n  return new Hull();\n}\n`,
};

export const PYTHON: Language = {
  base: { file: "own_base.py", text: "class Hull:\n    pass\n", at: { line: 0, character: 6 } },
  user: { file: "own_user.py", text: "from own import own\ndepth: int = own\n", at: { line: 1, character: 13 } },
  files: ["own.py", "own_moved.py"],
  written: (padding, fits, name) =>
    `${"\n".repeat(padding)}from own_base import Hull\nown = ${fits ? "1" : '"x"'}\ndef ${name}() -> Hull:\n    return Hull()\n`,
};

/** What came of one trial. */
export interface Trial {
  readonly write: Write;
  readonly question: Question;
  readonly outcome: "right" | "stale" | "unanswered";
  readonly calls: number;
  /** From the end of the write to the end of the last answer. */
  readonly ms: number;
  /** What was answered, if it was not right. */
  readonly answer?: string;
}

export class OwnWrites {
  readonly #client: GatewayClient;
  readonly #folder: string;
  readonly #language: Language;
  #random: number;
  #at: number | undefined;
  #revision = 0;
  #padding = 0;
  #fits = true;

  private constructor(client: GatewayClient, folder: string, language: Language, seed: number) {
    this.#client = client;
    this.#folder = folder;
    this.#language = language;
    this.#random = seed;
  }

  /** Trials in a folder, with the files that they need. The same seed gives the same trials. */
  static async begin(client: GatewayClient, folder: string, language: Language, seed: number): Promise<OwnWrites> {
    const trials = new OwnWrites(client, folder, language, seed);
    for (const { file, text } of [language.base, language.user]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return trials;
  }

  /** Writes something, and asks something about it at once. */
  async next(): Promise<Trial> {
    const write = this.#write();
    const written = performance.now();
    const question = this.#pick(QUESTIONS);
    let answer = "";
    for (let calls = 1; calls <= MOST_CALLS; calls++) {
      try {
        const found = await this.#ask(question);
        const ms = performance.now() - written;
        return found === undefined
          ? { write, question, outcome: "right", calls, ms }
          : { write, question, outcome: "stale", calls, ms, answer: found };
      } catch (error) {
        if (!(error instanceof ToolFailure) || error.details["retryable"] !== true) {
          throw error;
        }
        answer = error.message;
      }
    }
    return { write, question, outcome: "unanswered", calls: MOST_CALLS, ms: performance.now() - written, answer };
  }

  #write(): Write {
    const write = this.#at === undefined ? "create" : this.#pick(WRITES.slice(1));
    const path = (at: number): string => join(this.#folder, this.#language.files[at] ?? "");
    const now = this.#at ?? this.#below(2);
    if (write === "rename") {
      renameSync(path(now), path(1 - now));
      this.#at = 1 - now;
    } else if (write === "delete") {
      rmSync(path(now));
      this.#at = undefined;
    } else {
      this.#revision += 1;
      this.#padding = this.#below(9);
      this.#fits = this.#below(2) === 0;
      const text = this.#language.written(this.#padding, this.#fits, `ownMark${this.#revision}`);
      writeFileSync(write === "replace" ? `${path(now)}.tmp` : path(now), text);
      if (write === "replace") {
        renameSync(`${path(now)}.tmp`, path(now));
      }
      this.#at = now;
    }
    return write;
  }

  /** What is wrong with the answer, if anything is. */
  async #ask(question: Question): Promise<string | undefined> {
    const { base, user, files } = this.#language;
    const uris = files.map((file) => this.#uri(file));
    const here = this.#at === undefined ? undefined : uris[this.#at];
    const compare = (found: unknown, expected: unknown): string | undefined =>
      JSON.stringify(found) === JSON.stringify(expected)
        ? undefined
        : `${JSON.stringify(found)} in place of ${JSON.stringify(expected)}`;
    switch (question) {
      case "references": {
        const input = { uri: this.#uri(base.file), position: base.at, includeDeclaration: false, pageSize: 200 };
        const { items } = await this.#client.callOnce<Page<Location>>("vscode.lsp.references", input);
        const found = items.filter(({ uri }) => uris.includes(uri)).map(lineOf);
        const uses = [0, 2, 3].map((line) => `${here} ${line + this.#padding}`);
        return compare(found, here === undefined ? [] : uses);
      }
      case "symbols": {
        const input = { query: "ownMark", pageSize: 200 };
        const { items } = await this.#client.callOnce<Page<{ name: string; location: Location }>>(
          "vscode.lsp.workspaceSymbols",
          input,
        );
        const found = items.map(({ name, location }) => `${name.replace("()", "")} ${location.uri}`);
        return compare([...new Set(found)], here === undefined ? [] : [`ownMark${this.#revision} ${here}`]);
      }
      case "definition": {
        const input = { uri: this.#uri(user.file), position: user.at };
        const { locations } = await this.#client.callOnce<{ locations: Location[] }>("vscode.lsp.definition", input);
        const found = locations.filter(({ uri }) => uris.includes(uri)).map(lineOf);
        return compare(found, this.#at === 0 ? [`${here} ${1 + this.#padding}`] : []);
      }
      case "diagnostics": {
        const input = { uri: this.#uri(user.file) };
        const { diagnostics } = await this.#client.callOnce<{ diagnostics: unknown[] }>(
          "vscode.lsp.diagnostics.document",
          input,
        );
        return compare(diagnostics.length === 0, this.#at === 0 && this.#fits);
      }
    }
  }

  #uri(file: string): string {
    return pathToFileURL(join(this.#folder, file)).href;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }

  #below(bound: number): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * bound);
  }
}

function lineOf({ uri, range }: Location): string {
  return `${uri} ${range.start.line}`;
}
