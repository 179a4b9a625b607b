// Packs what VS Code's providers return into rows: the form in which answers cross to Rust. Distinct strings are interned
// and joined into one text, and every item is a fixed number of 32-bit cells, because twenty thousand objects cost the
// extension host's thread twenty times as much as one text and one array. Nothing is decided here.
//
// Cells are `[number of strings, UTF-16 length of each string, then the items]`; a cell of all ones stands for something
// absent. The shapes are VS Code's, taken structurally: this module does not import `vscode`, so that the replay host and
// tests run it in plain Node.

import type { Answer } from "../native.d.ts";

/** The questions that the gateway asks, by the numbers under which they cross. */
export const QUESTION = {
  /** An `OpenRequest`: open the document; answered by `packOpen`. */
  open: 0,
  /** A `ReadyRequest`: wait until the language of the document is ready, or believed to be; answered by `packReady`. */
  ready: 1,
  /** `{}`: open a document of each main language of the workspace; answered by `packMainDocuments`. */
  mainDocuments: 2,
  /**
   * An `AskRequest`: ask language servers; answered in the shape that belongs to the method. `textDocument/diagnostic` waits
   * until what is known of the document's diagnostics is up to date, and is answered by `packDiagnostics`, as
   * `workspace/diagnostic` is, with everything that is published; if nobody has reported on the document, it is not among
   * them.
   */
  ask: 3,
  /** `["id", …]`: every session that has ended and is still remembered, to be kept across a reload. Any answer will do. */
  sessionsEnded: 4,
} as const;

/** A document to open. */
export interface OpenRequest {
  readonly uri: string;
  /** Where in the document, if a place is asked about. */
  readonly line?: number;
  readonly character?: number;
}

/** A language to wait for. */
export interface ReadyRequest {
  /** A document in that language. */
  readonly uri: string;
  /** Whether it is enough that it is about to be ready. */
  readonly orResting: boolean;
}

/** What is asked of language servers. */
export interface AskRequest {
  /** The method of LSP. */
  readonly method: string;
  /** The document that it is about, if it is about one. */
  readonly uri?: string;
  /** Where in the document, if it is about a place. */
  readonly line?: number;
  readonly character?: number;
  /** What to look for in the workspace. */
  readonly query?: string | null;
  /** For how long language servers have known of what was written last, if anything was. */
  readonly knownForMs?: number;
}

const ABSENT = 0xffff_ffff;
const LARGEST = 0x7fff_ffff;

/** The answer to a question that nothing in the editor answers for this document. */
export function noProvider(): Answer {
  return { outcome: 1, text: "", cells: new Uint32Array(1) };
}

/** The answer to a question about a document that cannot be opened as text. */
export function notFound(): Answer {
  return { outcome: 2, text: "", cells: new Uint32Array(1) };
}

/** The answer to a question that only tells the editor something. */
export function noted(): Answer {
  return { outcome: 0, text: "", cells: new Uint32Array(1) };
}

export interface OpenDocument {
  readonly lineCount: number;
  /** UTF-16 length of the line asked about without its line break; undefined if there is no such line. */
  readonly lineLength: number | undefined;
  /** The editor's id of its language. */
  readonly language: string;
  /** Whether something shows when its language is ready. */
  readonly hasReadinessProbe: boolean;
  /** Whether it has shown, just now, that it is ready. */
  readonly ready: boolean;
  /** Whether the document is in an editor tab. */
  readonly inTab: boolean;
}

/** What is known of an open document: a row of these, in this order. */
export function packOpen({ lineCount, lineLength, language, hasReadinessProbe, ready, inTab }: OpenDocument): Answer {
  const strings = new Strings();
  const row = Uint32Array.of(
    wholeNumber(lineCount, 0, "lineCount"),
    lineLength === undefined ? ABSENT : wholeNumber(lineLength, 0, "lineLength"),
    strings.index(language),
    Number(hasReadinessProbe),
    Number(ready),
    Number(inTab),
  );
  return strings.answer(row);
}

/**
 * Why a language is not waited for any longer: it is believed to be ready, after a time without a sign; it has shown it; or it
 * has shown that it soon will be, unless it begins to work again before that.
 */
export type Readiness = "assumed" | "shown" | "resting";

const READINESS = { assumed: 0, shown: 1, resting: 2 } as const;

export function packReady(readiness: Readiness): Answer {
  return new Strings().answer(Uint32Array.of(READINESS[readiness]));
}

/** An open document that stands for its language. */
export interface MainDocument {
  readonly uri: string;
  /** The editor's id of its language. */
  readonly language: string;
  /** Whether something shows when its language is ready. */
  readonly hasReadinessProbe: boolean;
}

/** A row of URI, language and `hasReadinessProbe` for each document. */
export function packMainDocuments(documents: readonly MainDocument[]): Answer {
  const strings = new Strings();
  const rows = documents.flatMap(({ uri, language, hasReadinessProbe }) => [
    strings.index(uri),
    strings.index(language),
    Number(hasReadinessProbe),
  ]);
  return strings.answer(Uint32Array.from(rows));
}

/**
 * Packs an array of `Location`, of which each may lack a usable range. Throws a TypeError that names the item and the field
 * if it is anything else.
 */
export function packLocations(locations: unknown): Answer {
  const items = list(locations);
  const strings = new Strings(items.length / ITEMS_FOR_A_REPEATED_STRING);
  // There are no more strings than items, and their lengths get the room before the rows.
  const room = 1 + items.length;
  const rows = new Uint32Array(room + items.length * 5);
  let cell = room;
  let last: string | undefined;
  let lastIndex = 0;
  for (let index = 0; index < items.length; index++) {
    const location = object(items[index], index, "item") as LocationShape;
    const uri = uriText(location.uri, index, "uri");
    // References come file by file, each with a copy of its own of the text of its URI. Comparing one with the copy before
    // it takes a fraction of the time of looking it up, for which it has to be hashed.
    if (uri !== last) {
      last = uri;
      lastIndex = strings.index(uri);
    }
    rows[cell] = lastIndex;
    packUsableRange(location.range, rows, cell + 1);
    cell += 5;
  }
  return strings.answer(rows, room);
}

/**
 * Packs an array of `Location` and `LocationLink`, mixed, of which each may lack a usable range. Throws a TypeError that
 * names the item and the field if it is anything else.
 */
export function packTargets(targets: unknown): Answer {
  const items = list(targets);
  const strings = new Strings();
  const rows = new Uint32Array(items.length * 9);
  let cell = 0;
  for (let index = 0; index < items.length; index++) {
    const target = object(items[index], index, "item") as LocationShape & LinkShape;
    if (target.targetUri === undefined) {
      rows[cell] = strings.index(uriText(target.uri, index, "uri"));
      packUsableRange(target.range, rows, cell + 1);
      rows.fill(ABSENT, cell + 5, cell + 9);
    } else {
      rows[cell] = strings.index(uriText(target.targetUri, index, "targetUri"));
      packUsableRange(target.targetRange, rows, cell + 1);
      packOptionalRange(target.targetSelectionRange, rows, cell + 5, index, "targetSelectionRange");
    }
    cell += 9;
  }
  return strings.answer(rows);
}

/**
 * Packs an array of `Hover`: a row for each fragment of each hover's contents, with the hover's range. What is no text
 * among the contents is packed as an empty one. Throws a TypeError that names the hover and the field if it is anything
 * else.
 */
export function packHovers(hovers: unknown): Answer {
  const fragments: { readonly index: number; readonly range: unknown; readonly content: unknown }[] = [];
  for (const [index, item] of list(hovers).entries()) {
    const { range, contents } = object(item, index, "item") as HoverShape;
    for (const content of Array.isArray(contents) ? contents : [contents]) {
      fragments.push({ index, range, content });
    }
  }
  const strings = new Strings();
  const rows = new Uint32Array(fragments.length * 6);
  let cell = 0;
  for (const { index, range, content } of fragments) {
    packOptionalRange(range, rows, cell, index, "range");
    const { language, value } = typeof content === "string" ? { value: content } : ((content ?? {}) as TaggedShape);
    rows[cell + 4] = strings.optional(textOf(language));
    rows[cell + 5] = strings.index(textOf(value) ?? "");
    cell += 6;
  }
  return strings.answer(rows);
}

/**
 * Packs an array of `DocumentSymbol` and `SymbolInformation`, mixed, in the order of an outline: a symbol, then what it
 * contains. Throws a TypeError that names the outermost symbol and the field if it is anything else.
 */
export function packDocumentSymbols(symbols: unknown): Answer {
  const outline: OutlineEntry[] = [];
  for (const [index, item] of list(symbols).entries()) {
    addToOutline(item, index, ABSENT, outline);
  }
  const strings = new Strings();
  const rows = new Uint32Array(outline.length * 12);
  let cell = 0;
  for (const { index, symbol, parent } of outline) {
    rows[cell] = strings.optional(textOf(symbol.name));
    rows[cell + 1] = wholeNumber(symbol.kind, index, "kind");
    if (isInformationOnly(symbol)) {
      const location = object(symbol.location, index, "location") as LocationShape;
      packRange(location.range, rows, cell + 2, index, "location");
      rows.fill(ABSENT, cell + 6, cell + 10);
      rows[cell + 10] = strings.optional(textOf(symbol.containerName));
    } else {
      packRange(symbol.range, rows, cell + 2, index, "range");
      packOptionalRange(symbol.selectionRange, rows, cell + 6, index, "selectionRange");
      rows[cell + 10] = ABSENT;
    }
    rows[cell + 11] = parent;
    cell += 12;
  }
  return strings.answer(rows);
}

/**
 * Packs an array of `SymbolInformation`, of which each may lack a usable range. Throws a TypeError that names the item and
 * the field if it is anything else.
 */
export function packWorkspaceSymbols(symbols: unknown): Answer {
  const items = list(symbols);
  const strings = new Strings();
  const rows = new Uint32Array(items.length * 8);
  let cell = 0;
  for (const [index, item] of items.entries()) {
    const symbol = object(item, index, "item") as SymbolShape;
    const location = object(symbol.location, index, "location") as LocationShape;
    rows[cell] = strings.optional(textOf(symbol.name));
    rows[cell + 1] = wholeNumber(symbol.kind, index, "kind");
    rows[cell + 2] = strings.optional(textOf(symbol.containerName));
    rows[cell + 3] = strings.index(uriText(location.uri, index, "location"));
    packUsableRange(location.range, rows, cell + 4);
    cell += 8;
  }
  return strings.answer(rows);
}

/**
 * Packs an array of `DocumentHighlight`, of which each may lack a usable range. A kind that VS Code does not have is none.
 * Throws a TypeError that names the item if it is anything else.
 */
export function packHighlights(highlights: unknown): Answer {
  const items = list(highlights);
  const rows = new Uint32Array(items.length * 5);
  let cell = 0;
  for (const [index, item] of items.entries()) {
    const { range, kind } = object(item, index, "item") as HighlightShape;
    packUsableRange(range, rows, cell);
    rows[cell + 4] = kind === 0 || kind === 1 || kind === 2 ? kind : ABSENT;
    cell += 5;
  }
  return new Strings().answer(rows);
}

/**
 * Packs an array of pairs of a URI and its `Diagnostic`s. A URI without any is a row of its own, since to have nothing to
 * report is not the same as to have reported nothing. VS Code hands on whatever extensions publish: a diagnostic without a
 * usable range or a message is a row without a range, to be counted, so that one extension's mistake keeps nothing of what
 * the others have found from anybody. Throws a TypeError that names the pair and the field if it is anything else.
 */
export function packDiagnostics(diagnostics: unknown): Answer {
  const reports: { readonly uri: string; readonly diagnostic: unknown }[] = [];
  for (const [index, pair] of list(diagnostics).entries()) {
    if (!Array.isArray(pair) || !Array.isArray(pair[1])) {
      throw new TypeError(`item ${index}: item is not a pair of a URI and a list`);
    }
    const uri = uriText(pair[0], index, "uri");
    for (const diagnostic of pair[1].length === 0 ? [NOTHING] : pair[1]) {
      reports.push({ uri, diagnostic });
    }
  }
  const strings = new Strings();
  const rows = new Uint32Array(reports.length * 9);
  let cell = 0;
  for (const { uri, diagnostic } of reports) {
    rows[cell] = strings.index(uri);
    if (diagnostic === NOTHING) {
      rows.fill(ABSENT, cell + 1, cell + 9);
    } else {
      const { range, severity, code, source, message } = (diagnostic ?? {}) as DiagnosticShape;
      if (typeof message === "string" && packUsableRange(range, rows, cell + 1)) {
        rows[cell + 5] = knownSeverity(severity);
        rows[cell + 6] = strings.optional(codeText(code));
        rows[cell + 7] = strings.optional(textOf(source));
        rows[cell + 8] = strings.index(message);
      } else {
        rows.fill(ABSENT, cell + 1, cell + 8);
        rows[cell + 8] = strings.index("");
      }
    }
    cell += 9;
  }
  return strings.answer(rows);
}

/** How far a language has come, by the numbers by which Rust knows it. */
export const STAGES = ["ready", "loading", "idle", "unavailable", "unknown"] as const;

/** A language, and how far it has come. Who answers for it, and what cannot be asked, VS Code does not tell. */
export interface LanguageStatus {
  readonly language: string;
  readonly stage: (typeof STAGES)[number];
}

export function packStatus(languages: readonly LanguageStatus[]): Answer {
  const strings = new Strings();
  const rows = new Uint32Array(languages.length * 5).fill(ABSENT);
  for (const [index, { language, stage }] of languages.entries()) {
    rows[5 * index] = strings.index(language);
    rows[5 * index + 2] = STAGES.indexOf(stage);
  }
  return strings.answer(rows);
}

/** Packs an array of documents, of which each may lack the text. Throws a TypeError that names the item if it is anything else. */
export function packTexts(documents: unknown): Answer {
  const items = list(documents);
  const strings = new Strings();
  const rows = new Uint32Array(items.length * 2);
  for (const [index, item] of items.entries()) {
    const { uri, text } = object(item, index, "item") as DocumentShape;
    rows[2 * index] = strings.index(uriText(uri, index, "uri"));
    rows[2 * index + 1] = strings.optional(textOf(text));
  }
  return strings.answer(rows);
}

/** A severity that VS Code does not have is none: the diagnostic tells what is wrong all the same. */
function knownSeverity(severity: unknown): number {
  return typeof severity === "number" && [0, 1, 2, 3].includes(severity) ? severity : ABSENT;
}

/** Stands for the diagnostics of a URI that was published without any. */
const NOTHING = Symbol("nothing");

interface LocationShape {
  readonly uri?: unknown;
  readonly range?: unknown;
}

interface LinkShape {
  readonly targetUri?: unknown;
  readonly targetRange?: unknown;
  readonly targetSelectionRange?: unknown;
}

interface HoverShape {
  readonly contents?: unknown;
  readonly range?: unknown;
}

/** A `MarkdownString`, which has no language, or a text in a language. */
interface TaggedShape {
  readonly language?: unknown;
  readonly value?: unknown;
}

/** What VS Code returns is a `SymbolInformation` and a `DocumentSymbol` at once. */
interface SymbolShape {
  readonly name?: unknown;
  readonly kind?: unknown;
  readonly containerName?: unknown;
  readonly location?: unknown;
  readonly range?: unknown;
  readonly selectionRange?: unknown;
  readonly children?: unknown;
}

interface OutlineEntry {
  /** Of the outermost symbol, in what the provider returned. */
  readonly index: number;
  readonly symbol: SymbolShape;
  /** The row of the symbol that contains this one. */
  readonly parent: number;
}

interface DocumentShape {
  readonly uri?: unknown;
  readonly text?: unknown;
}

interface HighlightShape {
  readonly range?: unknown;
  readonly kind?: unknown;
}

interface DiagnosticShape {
  readonly range?: unknown;
  readonly severity?: unknown;
  readonly code?: unknown;
  readonly source?: unknown;
  readonly message?: unknown;
}

interface RangeShape {
  readonly start?: PositionShape | null;
  readonly end?: PositionShape | null;
}

interface PositionShape {
  readonly line?: unknown;
  readonly character?: unknown;
}

/** For each so many items, one string may cross a second time, which costs less than looking all of them up. */
const ITEMS_FOR_A_REPEATED_STRING = 8;

/** Strings in the order of their first use; distinct ones, but for the first `unchecked`. */
class Strings {
  readonly #strings: string[] = [];
  readonly #unchecked: number;
  #indices: Map<string, number> | undefined;

  constructor(unchecked = 0) {
    this.#unchecked = unchecked;
  }

  index(string: string): number {
    if (this.#strings.length < this.#unchecked) {
      return this.#add(string);
    }
    this.#indices ??= new Map(this.#strings.map((known, index) => [known, index]));
    let index = this.#indices.get(string);
    if (index === undefined) {
      index = this.#add(string);
      this.#indices.set(string, index);
    }
    return index;
  }

  #add(string: string): number {
    // Half a character at the end of one string, left there by whoever cut it, would become a whole one with the half at
    // the start of the next, and no longer belong to either.
    return this.#strings.push(string.toWellFormed()) - 1;
  }

  optional(string: string | undefined): number {
    return string === undefined ? ABSENT : this.index(string);
  }

  /** The answer of these strings and of `rows`, at whose beginning `room` cells are free: for all lengths, or none. */
  answer(rows: Uint32Array, room = 0): Answer {
    const strings = this.#strings;
    const before = 1 + strings.length;
    const cells = room === 0 ? new Uint32Array(before + rows.length) : rows.subarray(room - before);
    if (room === 0) {
      cells.set(rows, before);
    }
    cells[0] = strings.length;
    // Iterators here made the engine throw its compiled code away with every call.
    for (let index = 0; index < strings.length; index++) {
      cells[1 + index] = strings[index]?.length ?? 0;
    }
    return { outcome: 0, text: strings.join(""), cells };
  }
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new TypeError("the provider's answer is not a list");
  }
  return value;
}

function object(value: unknown, index: number, field: string): object {
  if (typeof value !== "object" || value === null) {
    throw notAnObject(index, field);
  }
  return value;
}

function notAnObject(index: number, field: string): TypeError {
  return new TypeError(`item ${index}: ${field} is not an object`);
}

function addToOutline(item: unknown, index: number, parent: number, outline: OutlineEntry[]): void {
  const symbol = object(item, index, "item") as SymbolShape;
  const row = outline.length;
  outline.push({ index, symbol, parent });
  if (isAbsent(symbol.children)) {
    return;
  }
  if (!Array.isArray(symbol.children)) {
    throw new TypeError(`item ${index}: children is not a list`);
  }
  for (const child of symbol.children) {
    addToOutline(child, index, row, outline);
  }
}

/** Children are looked for first (D13): an object that has both shapes is a symbol with its contents. */
function isInformationOnly(symbol: SymbolShape): boolean {
  return isAbsent(symbol.children) && !isAbsent(symbol.location);
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** What is no text is none: one extension's mistake is no reason to refuse what others have answered with it. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The code of a diagnostic: a text, a number, or an object with one of them as its `value`. */
function codeText(code: unknown): string | undefined {
  const value = typeof code === "object" && code !== null ? (code as TaggedShape).value : code;
  if (typeof value === "number" && Number.isFinite(value)) {
    // From 1e21 on, a number's own text is no longer decimal.
    return Number.isInteger(value) ? BigInt(value).toString() : String(value);
  }
  return textOf(value);
}

/** The text of a URI: a string, or an object that has its own way of turning into one, as `vscode.Uri` does. */
function uriText(value: unknown, index: number, field: string): string {
  if (typeof value === "string") {
    return value;
  }
  const uri = object(value, index, field);
  if (typeof uri.toString === "function" && uri.toString !== Object.prototype.toString) {
    const asText: unknown = uri.toString();
    if (typeof asText === "string") {
      return asText;
    }
  }
  throw notAUri(index, field);
}

function notAUri(index: number, field: string): TypeError {
  return new TypeError(`item ${index}: ${field} is not a URI`);
}

function packOptionalRange(value: unknown, rows: Uint32Array, cell: number, index: number, field: string): void {
  if (isAbsent(value)) {
    rows.fill(ABSENT, cell, cell + 4);
  } else {
    packRange(value, rows, cell, index, field);
  }
}

function packRange(value: unknown, rows: Uint32Array, cell: number, index: number, field: string): void {
  if (!packUsableRange(value, rows, cell)) {
    throw new TypeError(`item ${index}: ${field} is not a range`);
  }
}

/** Packs a range, or its absence in the place of what is not one. Tells whether there was one. */
function packUsableRange(value: unknown, rows: Uint32Array, cell: number): boolean {
  // The engine copies this into the loops that call it only as long as it is short, so what is out of the ordinary is
  // dealt with elsewhere.
  const { start, end } = (value ?? NO_RANGE) as RangeShape;
  const startLine = start?.line;
  const startCharacter = start?.character;
  const endLine = end?.line;
  const endCharacter = end?.character;
  if (isCell(startLine) && isCell(startCharacter) && isCell(endLine) && isCell(endCharacter)) {
    rows[cell] = startLine;
    rows[cell + 1] = startCharacter;
    rows[cell + 2] = endLine;
    rows[cell + 3] = endCharacter;
    return true;
  }
  return packUnusualRange(rows, cell, [startLine, startCharacter, endLine, endCharacter]);
}

const NO_RANGE = {};

function isCell(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LARGEST;
}

/** Packs a range with a number beyond the largest, or the absence of one if the numbers are no places in a text. */
function packUnusualRange(rows: Uint32Array, cell: number, numbers: readonly unknown[]): boolean {
  if (!numbers.every(isWholeNumber)) {
    rows.fill(ABSENT, cell, cell + 4);
    return false;
  }
  rows.set(numbers.map(atMostLargest), cell);
  return true;
}

function wholeNumber(value: unknown, index: number, field: string): number {
  if (!isWholeNumber(value)) {
    throw new TypeError(`item ${index}: ${field} has a number that is not a whole number from 0`);
  }
  return atMostLargest(value);
}

function isWholeNumber(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && (value >= LARGEST || Number.isInteger(value));
}

/** Providers write "to the end" as the largest number they know, which is more than the contract's numbers hold. */
function atMostLargest(value: number): number {
  return Math.min(value, LARGEST);
}
