// Trials of whether an answer that is asked for right after a write is about the files after it. The test and the benchmark
// share them.

import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type Location, type Page, type Position, ToolFailure } from "../clients/gateway-client.ts";
import type { EditorWindow } from "../editor/real-vscode.ts";
import { eventually } from "../machine/eventually.ts";

const MAX_CALLS = 3;
/** How long VS Code's own commands are asked, in milliseconds. */
const PATIENCE = 20_000;
/** The file begins with fewer empty lines than this. */
const MAX_PADDING = 9;

const WRITES = ["create", "edit", "replace", "rename", "delete"] as const;
/** The file and these others at once. */
const CHECKOUT = "checkout";
const CHECKED_OUT = 60;
const QUESTIONS = ["references", "symbols", "definition", "diagnostics"] as const;

type Write = (typeof WRITES)[number] | typeof CHECKOUT;
export type Question = (typeof QUESTIONS)[number];

/** The files of the trials in one language: one that is written, one that it uses, and one that uses it. */
export interface Language {
  readonly base: { readonly file: string; readonly text: string; readonly at: Position };
  readonly user: { readonly file: string; readonly text: string; readonly at: Position };
  /** Where the written file is, at first and once it is renamed. */
  readonly files: readonly [string, string];
  /** Other files that the project needs, by name, where it is not part of another. */
  readonly project?: (folder: string) => Readonly<Record<string, string>>;
  /** What it holds: these empty lines, then a use of the base, a value that fits the user or not, and a function. */
  written(padding: number, fits: boolean, name: string): string;
  /** On which lines of that, without the empty ones, the base is used. */
  readonly uses: readonly number[];
  /** Whether a diagnostic of the user tells that the file is missing. */
  readonly tellsOfMissing: boolean;
  /** What begins a comment. */
  readonly comment: string;
  /** Whether the user finds it in its second place as well, as in a package of Go. */
  readonly isFoundAnywhere?: boolean;
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
  ...{ uses: [0, 2, 3], tellsOfMissing: true, comment: "//" },
};

export const PYTHON: Language = {
  base: { file: "own_base.py", text: "class Hull:\n    pass\n", at: { line: 0, character: 6 } },
  user: { file: "own_user.py", text: "from own import own\ndepth: int = own\n", at: { line: 1, character: 13 } },
  files: ["own.py", "own_moved.py"],
  written: (padding, fits, name) =>
    `${"\n".repeat(padding)}from own_base import Hull\nown = ${fits ? "1" : '"x"'}\ndef ${name}() -> Hull:\n    return Hull()\n`,
  ...{ uses: [0, 2, 3], tellsOfMissing: true, comment: "#" },
};

export const CPP: Language = {
  base: { file: "own_base.h", text: "#pragma once\nstruct Hull {};\n", at: { line: 1, character: 7 } },
  user: { file: "own_user.cpp", text: '#include "own.cpp"\nint depth = own;\n', at: { line: 1, character: 12 } },
  files: ["own.cpp", "own_moved.cpp"],
  project: (directory) => {
    const commands = ["own_user.cpp", "own.cpp", "own_moved.cpp"].map((file) => ({
      directory,
      file,
      arguments: ["c++", "-c", file],
    }));
    return { "compile_commands.json": JSON.stringify(commands) };
  },
  written: (padding, fits, name) =>
    `${"\n".repeat(padding)}#include "own_base.h"\nconst ${fits ? "int own = 1" : 'char *const own = "x"'};\ninline Hull ${name}() {\n  return Hull();\n}\n`,
  ...{ uses: [2, 3], tellsOfMissing: true, comment: "//" },
};

export const RUST: Language = {
  base: {
    file: "src/lib.rs",
    text: "pub struct Hull;\npub mod own;\npub mod own_moved;\npub mod own_user;\n",
    at: { line: 0, character: 11 },
  },
  user: {
    file: "src/own_user.rs",
    text: "use crate::own::OWN;\npub fn depth() -> i32 { OWN }\n",
    at: { line: 1, character: 24 },
  },
  files: ["src/own.rs", "src/own_moved.rs"],
  project: () => ({ "Cargo.toml": '[package]\nname = "own"\nversion = "0.0.0"\nedition = "2021"\n' }),
  written: (padding, fits, name) =>
    `${"\n".repeat(padding)}use crate::Hull;\npub const OWN: ${fits ? "i32 = 1" : '&str = "x"'};\npub fn ${name}() -> Hull {\n    Hull\n}\n`,
  // What is missing is told by the compiler's checks, which do not run.
  ...{ uses: [0, 2, 3], tellsOfMissing: false, comment: "//" },
};

export const GO: Language = {
  base: { file: "own_base.go", text: "package own\n\ntype Hull struct{}\n", at: { line: 2, character: 5 } },
  user: { file: "own_user.go", text: "package own\n\nvar depth int = own\n", at: { line: 2, character: 16 } },
  files: ["own.go", "own_moved.go"],
  project: () => ({ "go.mod": "module own\n\ngo 1.19\n" }),
  written: (padding, fits, name) =>
    `${"\n".repeat(padding)}package own\nvar own = ${fits ? "1" : '"x"'}\nfunc ${name}() Hull {\n\treturn Hull{}\n}\n`,
  ...{ uses: [2, 3], tellsOfMissing: true, comment: "//", isFoundAnywhere: true },
};

interface Options {
  /** Whether some of the writes are checkouts of many files. */
  readonly checkouts?: boolean;
  /** How often a question may be put until it counts as not answered. */
  readonly maxCalls?: number;
  /** What is asked; all if it is not given. A trial writes until one of these has another answer. */
  readonly questions?: readonly Question[];
}

/** The written file at one moment. */
interface State {
  /** Which of its two places it has; undefined where it is not there. */
  readonly at: 0 | 1 | undefined;
  readonly revision: number;
  readonly padding: number;
  readonly fits: boolean;
}

/** What came of one trial. */
export interface Trial {
  readonly write: Write;
  readonly question: Question;
  /** `server`: the language server itself stayed wrong, however long it was asked. */
  readonly outcome: "right" | "stale" | "unanswered" | "server";
  readonly calls: number;
  /** From the end of the write to the end of the last answer. */
  readonly ms: number;
  /** What was answered, if it was not right. */
  readonly answer?: string;
}

/** What calls a tool once, and rejects with the tool's error as a `ToolFailure`. */
interface Caller {
  callOnce<Payload>(name: string, input: object): Promise<Payload>;
}

/** Whom the questions are put to. */
interface Answerer {
  references(uri: string, at: Position): Promise<Location[]>;
  symbols(query: string): Promise<{ readonly name: string; readonly uri: string }[]>;
  definition(uri: string, at: Position): Promise<Location[]>;
  hasDiagnostics(uri: string): Promise<boolean>;
}

/** Writes a file in a folder again and again, each time so that the question that follows has another answer than before. */
export class OwnWrites {
  readonly #folder: string;
  readonly #language: Language;
  readonly #writes: readonly Write[];
  readonly #maxCalls: number;
  readonly #questions: readonly Question[];
  #random: number;
  #state: State = { at: undefined, revision: 0, padding: 0, fits: true };

  private constructor(folder: string, language: Language, seed: number, options: Required<Options>) {
    const { checkouts, maxCalls, questions } = options;
    this.#folder = folder;
    this.#language = language;
    this.#writes = checkouts ? [...WRITES, CHECKOUT] : WRITES;
    this.#maxCalls = maxCalls;
    this.#questions = questions;
    this.#random = seed;
  }

  /** Writes the files that the trials need. The same seed gives the same trials. */
  static begin(
    folder: string,
    language: Language,
    seed: number,
    { checkouts = false, maxCalls = MAX_CALLS, questions = QUESTIONS }: Options = {},
  ): OwnWrites {
    const files = Object.entries(language.project?.(folder) ?? {}).map(([file, text]) => ({ file, text }));
    for (const { file, text } of [...files, language.base, language.user]) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    return new OwnWrites(folder, language, seed, { checkouts, maxCalls, questions });
  }

  /** Resolves once a question about the base is answered: then the language server has started. */
  async begun(client: Caller): Promise<void> {
    const { base } = this.#language;
    const ask = () => new ThroughGateway(client).references(this.#uri(base.file), base.at);
    await eventually(ask, () => true);
  }

  /** Writes something, and asks the gateway about it at once, until it answers. */
  async next(client: Caller): Promise<Trial> {
    const gateway = new ThroughGateway(client);
    const { write, written, question } = this.#write();
    let answer = "";
    for (let calls = 1; calls <= this.#maxCalls; calls++) {
      try {
        const found = await this.#ask(gateway, question);
        const ms = performance.now() - written;
        const expected = this.#expected(question, this.#state);
        return isDeepStrictEqual(found, expected)
          ? { write, question, outcome: "right", calls, ms }
          : { write, question, outcome: "stale", calls, ms, answer: JSON.stringify({ found, expected }) };
      } catch (error) {
        if (!(error instanceof ToolFailure && error.retryable)) {
          throw error;
        }
        answer = error.message;
      }
    }
    return { write, question, outcome: "unanswered", calls: this.#maxCalls, ms: performance.now() - written, answer };
  }

  /** Writes something, and asks VS Code's own commands about it until they are right. */
  async nextInEditor(window: EditorWindow): Promise<Trial> {
    const { write, written, question } = this.#write();
    return { write, question, ...(await this.againInEditor(window, question, written)) };
  }

  /** Asks VS Code's own commands this until they are right about what was written last. */
  async againInEditor(
    window: EditorWindow,
    question: Question,
    written = performance.now(),
  ): Promise<Omit<Trial, "write" | "question">> {
    const commands = new ByCommands(window);
    for (let calls = 1; ; calls++) {
      const found = await this.#ask(commands, question);
      const ms = performance.now() - written;
      if (isDeepStrictEqual(found, this.#expected(question, this.#state))) {
        return { outcome: "right", calls, ms };
      }
      if (ms > PATIENCE) {
        return { outcome: "stale", calls, ms, answer: JSON.stringify(found) };
      }
    }
  }

  #write(): { readonly write: Write; readonly written: number; readonly question: Question } {
    const before = this.#state;
    const write = before.at === undefined ? "create" : this.#pick(this.#writes.slice(1));
    const at = before.at ?? (this.#below(2) as 0 | 1);
    const path = join(this.#folder, this.#language.files[at]);
    if (write === "rename") {
      const other = at === 0 ? 1 : 0;
      renameSync(path, join(this.#folder, this.#language.files[other]));
      this.#state = { ...before, at: other };
    } else if (write === "delete") {
      rmSync(path);
      this.#state = { ...before, at: undefined };
    } else {
      const padding = (before.padding + 1 + this.#below(MAX_PADDING - 1)) % MAX_PADDING;
      this.#state = { at, revision: before.revision + 1, padding, fits: this.#below(2) === 0 };
      const text = this.#language.written(padding, this.#state.fits, `ownMark${this.#state.revision}`);
      if (write === CHECKOUT) {
        this.#checkOut();
      }
      const first = write === "replace" ? `${path}.tmp` : path;
      writeFileSync(first, text);
      if (first !== path) {
        renameSync(first, path);
      }
    }
    const written = performance.now();
    const [now, old] = [this.#state, before];
    const isNews = (question: Question): boolean =>
      !isDeepStrictEqual(this.#expected(question, old), this.#expected(question, now));
    const news = this.#questions.filter(isNews);
    return news.length === 0 ? this.#write() : { write, written, question: this.#pick(news) };
  }

  #checkOut(): void {
    const { comment, files } = this.#language;
    const folder = join(this.#folder, dirname(files[0]), "others");
    mkdirSync(folder, { recursive: true });
    for (let number = 0; number < CHECKED_OUT; number += 1) {
      const text = `${comment} ${this.#state.revision}\n`;
      writeFileSync(join(folder, `other${number}${extname(files[0])}`), text);
    }
  }

  async #ask(answerer: Answerer, question: Question): Promise<unknown> {
    const { base, user, files } = this.#language;
    const uris = files.map((file) => this.#uri(file));
    const inside = (found: readonly Location[]): string[] =>
      [...new Set(found.filter(({ uri }) => uris.includes(uri)).map(lineOf))].sort();
    switch (question) {
      case "references":
        return inside(await answerer.references(this.#uri(base.file), base.at));
      case "symbols": {
        const found = await answerer.symbols("ownMark");
        return [...new Set(found.map(({ name, uri }) => `${name.replace("()", "")} ${uri}`))].sort();
      }
      case "definition":
        return inside(await answerer.definition(this.#uri(user.file), user.at));
      case "diagnostics":
        return answerer.hasDiagnostics(this.#uri(user.file));
    }
  }

  #expected(question: Question, { at, revision, padding, fits }: State): unknown {
    const here = at === undefined ? undefined : this.#uri(this.#language.files[at]);
    const isFound = at === 0 || (at === 1 && this.#language.isFoundAnywhere === true);
    switch (question) {
      case "references":
        return here === undefined ? [] : this.#language.uses.map((line) => `${here} ${line + padding}`).sort();
      case "symbols":
        return here === undefined ? [] : [`ownMark${revision} ${here}`];
      case "definition":
        return isFound ? [`${here} ${1 + padding}`] : [];
      case "diagnostics":
        return isFound ? !fits : this.#language.tellsOfMissing;
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

class ThroughGateway implements Answerer {
  readonly #client: Caller;

  constructor(client: Caller) {
    this.#client = client;
  }

  async references(uri: string, position: Position): Promise<Location[]> {
    const input = { uri, position, includeDeclaration: false, pageSize: 200 };
    return [...(await this.#client.callOnce<Page<Location>>("vscode.lsp.references", input)).items];
  }

  async symbols(query: string): Promise<{ name: string; uri: string }[]> {
    type Found = Page<{ readonly name: string; readonly location: Location }>;
    const { items } = await this.#client.callOnce<Found>("vscode.lsp.workspaceSymbols", { query, pageSize: 200 });
    return items.map(({ name, location }) => ({ name, uri: location.uri }));
  }

  async definition(uri: string, position: Position): Promise<Location[]> {
    const input = { uri, position };
    return (await this.#client.callOnce<{ locations: Location[] }>("vscode.lsp.definition", input)).locations;
  }

  async hasDiagnostics(uri: string): Promise<boolean> {
    const input = { uri };
    const found = await this.#client.callOnce<{ diagnostics: unknown[] }>("vscode.lsp.diagnostics.document", input);
    return found.diagnostics.length > 0;
  }
}

/** Asks VS Code's own commands inside the window. */
class ByCommands implements Answerer {
  readonly #window: EditorWindow;

  constructor(window: EditorWindow) {
    this.#window = window;
  }

  references(uri: string, at: Position): Promise<Location[]> {
    return this.#locations("vscode.executeReferenceProvider", uri, at);
  }

  symbols(query: string): Promise<{ name: string; uri: string }[]> {
    return this.#window.inside(async (vscode, query) => {
      const found = await vscode.commands.executeCommand<import("vscode").SymbolInformation[]>(
        "vscode.executeWorkspaceSymbolProvider",
        query,
      );
      return found.map(({ name, location }) => ({ name, uri: location.uri.toString() }));
    }, query);
  }

  definition(uri: string, at: Position): Promise<Location[]> {
    return this.#locations("vscode.executeDefinitionProvider", uri, at);
  }

  hasDiagnostics(uri: string): Promise<boolean> {
    return this.#window.inside((vscode, uri) => vscode.languages.getDiagnostics(vscode.Uri.parse(uri)).length > 0, uri);
  }

  #locations(command: string, uri: string, at: Position): Promise<Location[]> {
    return this.#window.inside(
      async (vscode, { command, uri, at }) => {
        type Found = import("vscode").Location & import("vscode").LocationLink;
        const position = new vscode.Position(at.line, at.character);
        const found = await vscode.commands.executeCommand<Found[]>(command, vscode.Uri.parse(uri), position);
        return found.map((item) => {
          const range = item.targetSelectionRange ?? item.targetRange ?? item.range;
          const { start, end } = range;
          return {
            uri: (item.targetUri ?? item.uri).toString(),
            range: {
              start: { line: start.line, character: start.character },
              end: { line: end.line, character: end.character },
            },
          };
        });
      },
      { command, uri, at },
    );
  }
}

function lineOf({ uri, range }: Location): string {
  return `${uri} ${range.start.line}`;
}
