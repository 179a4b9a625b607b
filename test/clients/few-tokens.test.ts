// What the tools in few tokens give, beside what the language servers give that are asked directly.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type GatewayClient, type Location, type Position, ToolFailure } from "../../harness/clients/gateway-client.ts";
import { type AskedProject, ON_FLASK, ON_RXJS, ON_SEMVER, ON_ZLIB } from "../../harness/languages/asked-projects.ts";
import { type DocumentSymbol, LanguageServer } from "../../harness/languages/language-server.ts";
import {
  clangd,
  type InstalledServer,
  OPTIONS_IN_TABLE,
  pyright,
  rustAnalyzer,
  typescript7,
} from "../../harness/languages/language-servers.ts";
import { startProgram } from "../../harness/languages/program.ts";
import { type Place, type PROSE, placeIn, sample } from "../../harness/languages/sample.ts";
import { root } from "../../harness/layout.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";
import { temporaryFolder } from "./replay-host.ts";

type Range = Location["range"];

interface Project extends AskedProject {
  readonly name: string;
  readonly files: string;
  readonly language: keyof typeof PROSE;
  readonly server: () => Promise<InstalledServer>;
  /** The options that the program's table has for the server. */
  readonly options?: object;
  /** Resolves once the server that is asked directly has shown that it has loaded the project. */
  readonly ready: (server: LanguageServer, uri: string) => Promise<void>;
  /** How many references there are then. */
  readonly whole: number;
  /** How the names of files end that the server reads by themselves, where a name from elsewhere means nothing. */
  readonly readsAlone?: string;
}

/** The first in `npm test`. */
const PROJECTS: readonly Project[] = [
  {
    name: "TypeScript 7 on rxjs",
    ...ON_RXJS,
    ...{ files: "src/**/*.ts", language: "typescript", server: typescript7, whole: 117 },
    options: OPTIONS_IN_TABLE.typescript7,
    // It lets questions wait until it can answer them.
    ready: async () => {},
  },
  {
    name: "pyright on flask",
    ...ON_FLASK,
    ...{ files: "flask/**/*.py", language: "python", server: pyright, whole: 46 },
    ready: (server, uri) => server.countedFrom(uri),
  },
  {
    name: "clangd on zlib",
    ...ON_ZLIB,
    // Not the headers: in trees.h by itself ZLIB_INTERNAL is a variable, and clangd finds its definition now here, now there.
    ...{ files: "*.c", language: "cpp", server: clangd, whole: 101, readsAlone: ".h" },
    ready: (server, uri) => server.indexedFrom(uri),
  },
  {
    name: "rust-analyzer on semver",
    ...ON_SEMVER,
    ...{ files: "src/*.rs", language: "rust", server: rustAnalyzer, whole: 46 },
    options: OPTIONS_IN_TABLE.rustAnalyzer,
    ready: (server, uri) => server.quiescentFrom(uri),
  },
];

const PLACES = unlessLonger(10, 50);
/** Of the uses in one answer, and of the symbols of a file, so many are asked about in turn. */
const [LEADS, SYMBOLS] = [unlessLonger(3, 10), unlessLonger(5, 10_000)];
const SEED = 20_261_124;
/** What the program tells language servers of itself. */
const CAPABILITIES = JSON.parse(readFileSync(join(root, "native", "lsp", "src", "client_capabilities.json"), "utf8"));
/** So that most answers have one page, and many have several. */
const [LARGE_PAGE, SMALL_PAGE] = [20_000, 300];

/** LSP's names of the kinds of symbols, from 1 on. */
const KINDS =
  "file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enumMember struct event operator typeParameter".split(
    " ",
  );

for (const project of PROJECTS.slice(0, unlessLonger(1, PROJECTS.length))) {
  test(`the tools in few tokens give what the server gives: ${project.name}`, async (t) => {
    const [folder, own] = [await temporaryFolder(t), await temporaryFolder(t)];
    await project.copyTo(folder);
    const installed = await project.server();
    const client = await startProgram(folder, own, installed, "core");
    t.after(() => client.close());
    const server = await LanguageServer.of(installed, folder, project.options, CAPABILITIES);
    t.after(() => server.stop());
    const pair = new Pair(server, client, folder, project);
    await pair.untilReady();

    const places = sample(folder, project.files, project.language, PLACES, SEED);
    for (const place of places) {
      await pair.compareUses(place);
      await pair.compareLeads(place);
    }
    for (const uri of new Set(places.map(({ uri }) => uri))) {
      await pair.compareSymbols(uri);
    }
    for (const [tool, { answers, items }] of pair.compared) {
      t.diagnostic(`${tool}: ${answers} answers with ${items} items`);
    }
    assert.deepEqual(pair.differences, []);
    const uses = pair.compared.get("usages")?.items ?? 0;
    assert.ok(uses > PLACES, "Most of the places mean something.");
  });
}

interface FoundSymbol {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly at: string;
}

/** A symbol of a file with the names of what it is in, the innermost last. */
interface Nested extends DocumentSymbol {
  readonly around: readonly string[];
}

/** A server that is asked directly, and the program with the same. */
class Pair {
  readonly #server: LanguageServer;
  readonly #client: GatewayClient;
  readonly #folder: string;
  readonly #project: Project;
  /** By what was compared, in how many answers how many items. */
  readonly compared = new Map<string, { answers: number; items: number }>();
  readonly differences: object[] = [];

  constructor(server: LanguageServer, client: GatewayClient, folder: string, project: Project) {
    this.#server = server;
    this.#client = client;
    this.#folder = folder;
    this.#project = project;
  }

  async untilReady(): Promise<void> {
    const { file, word, after, ready, whole } = this.#project;
    const { uri, position } = placeIn(this.#folder, file, word, after);
    await ready(this.#server, uri);
    const items = await eventually(
      () => this.#server.references(uri, position),
      (items) => items.length === whole,
    );
    assert.equal(items.length, whole);
    const { summary } = await eventually(
      () => this.#client.call<{ summary: string }>("vscode.lsp.usages", { file, at: placed(position) }),
      ({ summary }) => !summary.includes("there may be more"),
    );
    assert.ok(!summary.includes("there may be more"), summary);
  }

  /** The uses of what is there, and of what some of them lead back to. */
  async compareUses({ uri, position }: Place): Promise<void> {
    const all = await this.#compareAllUses("usages, declarations too", uri, position);
    const declared = new Set((await this.#server.declared(uri, position)).map((item) => JSON.stringify(item)));
    const uses = all.filter((item) => !declared.has(JSON.stringify(item)));
    const input = { file: this.#path(uri), at: placed(position), maxTokens: SMALL_PAGE };
    await this.#comparePlaces("usages", "usages", input, uses, begun);
    for (const use of some(uses, LEADS)) {
      const { start } = use.range;
      const back = await this.#compareAllUses("usages, led back", use.uri, start);
      const isThere = back.some((item) => item.uri === use.uri && placed(item.range.start) === placed(start));
      const { readsAlone } = this.#project;
      if (!isThere && (readsAlone === undefined || !use.uri.endsWith(readsAlone))) {
        this.differences.push({ what: "not led back", from: input, place: `${this.#path(use.uri)} ${placed(start)}` });
      }
    }
  }

  /** Compares the uses and declarations, and gives those of the server. */
  async #compareAllUses(what: string, uri: string, position: Position): Promise<readonly Location[]> {
    const all = await this.#server.references(uri, position);
    const input = { file: this.#path(uri), at: placed(position), declarations: true, maxTokens: LARGE_PAGE };
    await this.#comparePlaces(what, "usages", input, all, begun);
    return all;
  }

  async compareLeads({ uri, position }: Place): Promise<void> {
    const input = { file: this.#path(uri), at: placed(position), maxTokens: LARGE_PAGE };
    for (const question of ["implementation", "typeDefinition", "declaration"] as const) {
      if (this.#server.offers(question)) {
        const expected = await this.#server.places(question, uri, position);
        await this.#comparePlaces(question, question, input, expected, written);
      } else {
        const isUnknown = (error: unknown) => error instanceof ToolFailure && error.code === "PROVIDER_UNAVAILABLE";
        await assert.rejects(this.#client.call(`vscode.lsp.${question}`, input), isUnknown);
      }
    }
  }

  /** The outline of a file, and some of its symbols by their names and with their sources. */
  async compareSymbols(uri: string): Promise<void> {
    const file = this.#path(uri);
    const symbols = [...nested(await this.#server.outline(uri))];
    const lines = symbols.map(
      ({ around, kind, range, name }) => `${" ".repeat(around.length)}${KINDS[kind - 1]} ${written(range)} ${name}`,
    );
    const outline = await this.#pages<{ symbols: string[] }>("outline", { file, maxTokens: LARGE_PAGE });
    const given = outline.flatMap((page) => page.symbols);
    this.#compare("outline", { file }, withContainers(given).sort(), [...new Set(withContainers(lines))].sort());

    const text = readFileSync(fileURLToPath(uri), "utf8").split(/\r?\n/);
    for (const { around, name, kind, range, selectionRange } of some(symbols, SYMBOLS)) {
      const at = written(selectionRange);
      const sought = { symbol: [...around, name].join("."), file, maxTokens: SMALL_PAGE };
      const found = (await this.#pages<{ symbols: FoundSymbol[] }>("symbol.find", sought)).flatMap(
        (page) => page.symbols,
      );
      const expected = `${KINDS[kind - 1]} ${file} ${at} ${name}`;
      const same = found.map((symbol) => `${symbol.kind} ${symbol.path} ${symbol.at} ${symbol.name}`);
      this.#compare(
        "symbol.find",
        sought,
        same.filter((row) => row === expected),
        [expected],
      );

      const pages = await this.#pages<{ range: string; source: string[] }>("symbol.source", {
        file,
        at,
        maxTokens: SMALL_PAGE,
      });
      // It begins with the comment above, of which the server tells nothing.
      const [first = "", from = ""] = /^(\d+):/.exec(pages[0]?.range ?? "") ?? [];
      const start = Math.min(Number(from), range.start.line);
      this.#compare(
        "symbol.source",
        { file, at },
        [first, ...pages.flatMap((page) => page.source)],
        [`${start}:`, ...text.slice(start, range.end.line + 1)],
      );
    }
  }

  async #comparePlaces(
    what: string,
    tool: string,
    input: object,
    expected: readonly Location[],
    text: (range: Range) => string,
  ): Promise<void> {
    const pages = await this.#pages<{ files: { path: string; at: string[] }[] }>(tool, input);
    const given = pages.flatMap(({ files }) => files).flatMap(({ path, at }) => at.map((place) => `${path} ${place}`));
    // Two uses may begin at one place.
    const places = new Set(expected.map(({ uri, range }) => `${this.#path(uri)} ${text(range)}`));
    this.#compare(what, input, given.sort(), [...places].sort());
  }

  #compare(what: string, input: object, given: readonly string[], expected: readonly string[]): void {
    const { answers, items } = this.compared.get(what) ?? { answers: 0, items: 0 };
    this.compared.set(what, { answers: answers + 1, items: items + expected.length });
    if (JSON.stringify(given) !== JSON.stringify(expected)) {
      const [missing, added] = [without(expected, given), without(given, expected)];
      this.differences.push({ what, input, missing, added, given: given.length, expected: expected.length });
    }
  }

  /** All pages of an answer. */
  async #pages<Answer>(tool: string, input: object): Promise<Answer[]> {
    const pages: Answer[] = [];
    let cursor: string | null = null;
    do {
      const page: Answer & { nextCursor: string | null } = await this.#client.call(`vscode.lsp.${tool}`, {
        ...input,
        cursor,
      });
      pages.push(page);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return pages;
  }

  #path(uri: string): string {
    return relative(this.#folder, fileURLToPath(uri));
  }
}

function* nested(symbols: readonly DocumentSymbol[], around: readonly string[] = []): Generator<Nested> {
  for (const symbol of symbols) {
    yield { ...symbol, around };
    yield* nested(symbol.children ?? [], [...around, symbol.name]);
  }
}

/** The lines of an outline, each after those of what it is in. The order of the symbols that one contains is lost. */
function withContainers(lines: readonly string[]): string[] {
  const around: string[] = [];
  return lines.map((line) => {
    around.splice(line.search(/\S/), around.length, line.trimStart());
    return around.join(" > ");
  });
}

/** At most so many, from the whole list. */
function some<Item>(items: readonly Item[], count: number): Item[] {
  return items.filter((_, index) => index % Math.ceil(items.length / count) === 0);
}

/** What of one list the other lacks. */
function without(items: readonly string[], others: readonly string[]): string[] {
  return items.filter((item) => !others.includes(item));
}

function placed({ line, character }: Position): string {
  return `${line}:${character}`;
}

/** A range as the tools write it. */
function written({ start, end }: Range): string {
  const [from, to] = [placed(start), placed(end)];
  if (from === to) {
    return from;
  }
  return start.line === end.line ? `${from}-${end.character}` : `${from}-${to}`;
}

/** A use: in one line, only where it begins. */
function begun({ start, end }: Range): string {
  return written({ start, end: start.line === end.line ? start : end });
}
