// The same questions to a real VS Code and to the program without an editor, about one folder and with the same servers.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type GatewayClient, type Page, ToolFailure } from "../clients/gateway-client.ts";
import { eventually } from "../machine/eventually.ts";
import { UNCONFIRMED } from "./language-project.ts";
import type { Place } from "./sample.ts";

type Input = Readonly<Record<string, unknown>>;

/** An answer as text, or the code of its error. Of a cursor, which belongs to one session, it has only whether there is one. */
type Answer = string;

/** A question and two answers to it that are not the same. */
export interface Difference {
  readonly tool: string;
  readonly input: Input;
  readonly window: Answer;
  readonly program: Answer;
}

/** What was compared. */
export interface Compared {
  /** Of answers with pages, each page counts. */
  answers: number;
  /** What the window answered, in bytes. */
  bytes: number;
  /** How many are not the same, and as they should be, by the name of the rule. */
  readonly known: Map<string, number>;
  /** All others that are not the same. */
  readonly differences: Difference[];
}

/** A difference that is known. */
interface Rule {
  readonly name: string;
  readonly tools: readonly string[];
  /** What the program says of that, where it is always the same. */
  readonly program?: Answer;
  readonly isIt: (window: Answer, place: Place) => boolean;
}

/** The rows of the table in docs/HEADLESS.md. */
const RULES: readonly Rule[] = [
  {
    name: "nobody to ask",
    tools: ["implementation", "declaration"],
    program: "PROVIDER_UNAVAILABLE",
    isIt: (window) => window.includes('"files":[],"nextCursor":null,'),
  },
  {
    name: "the same word",
    tools: ["documentHighlights"],
    program: '{"highlights":[],"summary":"Returned no highlights."}',
    isIt: (window, place) => window === JSON.stringify(sameWord(place)),
  },
];

/** Large pages, since it takes fewer calls. */
const PAGE_SIZE = 200;

/** How often a question is asked that fails. */
const TRIES = 5;

/** A window and a program that answer for the same folder. */
export class Twin {
  readonly #window: GatewayClient;
  readonly #program: GatewayClient;

  constructor(window: GatewayClient, program: GatewayClient) {
    this.#window = window;
    this.#program = program;
  }

  /** Waits until both are ready to answer about a place, so that nothing is a part. */
  async untilReady({ uri, position }: Place): Promise<void> {
    const input = { uri, position, pageSize: PAGE_SIZE };
    await Promise.all([this.#window, this.#program].map((client) => confirmed(client, "references", input)));
  }

  /** Waits until both are ready to answer about all languages. */
  async untilAllReady(query: string): Promise<void> {
    const input = { query, pageSize: PAGE_SIZE };
    await Promise.all([this.#window, this.#program].map((client) => confirmed(client, "workspaceSymbols", input)));
  }

  /** Asks both by every tool about each place, about the file of each once, and for the word of each in the whole folder. */
  async compare(places: readonly Place[]): Promise<Compared> {
    const compared: Compared = { answers: 0, bytes: 0, known: new Map(), differences: [] };
    for (const place of places) {
      const { uri, position } = place;
      for (const tool of ["definition", "hover", "documentHighlights"]) {
        await this.#ask(tool, { uri, position }, place, compared);
      }
      const at = `${position.line}:${position.character}`;
      for (const tool of ["usages", "implementation", "typeDefinition", "declaration", "symbol.source"]) {
        await this.#ask(tool, { file: uri, at }, place, compared);
      }
      for (const includeDeclaration of [true, false]) {
        await this.#ask("references", { uri, position, includeDeclaration, pageSize: PAGE_SIZE }, place, compared);
      }
    }
    for (const [uri, place] of new Map(places.map((place) => [place.uri, place]))) {
      await this.#ask("documentSymbols", { uri }, place, compared);
      await this.#ask("outline", { file: uri }, place, compared);
      const { line, character } = place.position;
      await this.#ask("usages", { file: uri, at: `${line}:${character}`, lines: true }, place, compared);
      await this.#ask("diagnostics.document", { uri }, place, compared);
    }
    for (const [query, place] of new Map(places.map((place) => [place.word, place]))) {
      await this.#ask("workspaceSymbols", { query, pageSize: PAGE_SIZE }, place, compared);
      await this.#ask("symbol.find", { symbol: query, file: place.uri }, place, compared);
      await this.#ask("symbol.find", { symbol: query }, place, compared);
    }
    return compared;
  }

  async #ask(tool: string, input: Input, place: Place, compared: Compared): Promise<void> {
    const [window, program] = await Promise.all([
      answersOf(this.#window, tool, input),
      answersOf(this.#program, tool, input),
    ]);
    for (let page = 0; page < Math.max(window.length, program.length); page += 1) {
      const [one = "", other = ""] = [window[page], program[page]];
      compared.answers += 1;
      compared.bytes += Buffer.byteLength(one);
      if (one === other) {
        continue;
      }
      const isIt = (rule: Rule) =>
        rule.tools.includes(tool) && (rule.program === undefined || rule.program === other) && rule.isIt(one, place);
      const rule = RULES.find(isIt);
      if (rule !== undefined) {
        compared.known.set(rule.name, (compared.known.get(rule.name) ?? 0) + 1);
      } else {
        compared.differences.push({ tool, input, window: one, program: other });
      }
    }
  }
}

async function confirmed(client: GatewayClient, tool: string, input: Input): Promise<void> {
  const { summary } = await eventually(
    () => client.call<Page<unknown>>(`vscode.lsp.${tool}`, input),
    ({ summary }) => summary?.endsWith(UNCONFIRMED) === false,
  );
  if (summary?.endsWith(UNCONFIRMED) !== false) {
    throw new Error(`${tool} ${JSON.stringify(input)} never was whole: ${summary}`);
  }
}

/** All pages of an answer, in the order of their members; one for a tool that has no pages. */
async function answersOf(client: GatewayClient, tool: string, input: Input): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  let cursor: string | null = null;
  do {
    try {
      const asked: Input = cursor === null ? input : { ...input, cursor };
      const payload = await untilNotBusy(() => client.call<Partial<Page<unknown>>>(`vscode.lsp.${tool}`, asked));
      cursor = payload.nextCursor ?? null;
      answers.push(JSON.stringify(cursor === null ? payload : { ...payload, nextCursor: "there is one" }));
    } catch (error) {
      if (!(error instanceof ToolFailure)) {
        throw error;
      }
      return [...answers, error.code];
    }
  } while (cursor !== null);
  return answers;
}

/** On a busy machine a server may take longer than the program waits for it. The error says to call again. */
async function untilNotBusy<T>(call: () => Promise<T>): Promise<T> {
  for (let more = TRIES - 1; ; more -= 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ToolFailure && error.code === "INTERNAL") || more === 0) {
        throw error;
      }
    }
  }
}

/** Each place in the file that has the same word, as a text. */
function sameWord({ uri, word }: Place): object {
  const lines = readFileSync(fileURLToPath(uri), "utf8").split(/\r?\n/);
  const highlights = lines.flatMap((text, line) =>
    [...text.matchAll(new RegExp(`\\b${word}\\b`, "g"))].map(({ index }) => ({
      range: { start: { line, character: index }, end: { line, character: index + word.length } },
      kind: 1,
    })),
  );
  const [count, noun] = [highlights.length, highlights.length === 1 ? "highlight" : "highlights"];
  return { highlights, summary: `Returned ${count} ${noun}.` };
}
