// Fills in the keys, cursors and ids of the cases under test/golden and puts what is expected in order, by the contract's
// own rules and without any code of the gateway, so that a case never holds what the gateway itself has computed. With
// --check it only tells whether the files are what it would write. test/golden/README.md says what the members of a case
// mean.

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/layout.ts";
import { itemsWrittenOut } from "../harness/results/golden-notation.ts";
import { writeOrCheck } from "./written-file.ts";

interface Epochs {
  readonly roots?: number;
  readonly text?: number;
  readonly fs?: number;
  readonly diagnostics?: number;
}

interface Case {
  readonly tool: string;
  readonly arguments: {
    readonly position?: { readonly line: number; readonly character: number };
    readonly includeDeclaration?: boolean;
    readonly query?: string;
    cursor?: string | null;
    readonly at?: string;
    readonly declarations?: boolean;
    readonly detail?: string;
    readonly lines?: boolean;
    readonly paths?: readonly string[];
    ifState?: string;
  };
  readonly epochs?: Epochs;
  readonly cursor?: {
    readonly o?: number;
    readonly with?: Readonly<Record<string, unknown>>;
    readonly epochs?: Epochs;
  };
  readonly keys?: {
    readonly uri?: string;
    readonly roots: readonly string[];
    rootsKey?: string;
    k?: string;
    s?: string;
  };
  readonly expect: { readonly nextOffset?: number; readonly payload?: Payload; readonly whole?: object };
}

interface Payload {
  locations?: Item[];
  items?: Item[];
  symbols?: Item[];
  contents?: Item[];
  diagnostics?: Item[];
  readonly uri?: string;
  nextCursor?: string | null;
  state?: string;
}

/** An item of a list that is returned, with all notations written out. */
interface Item {
  readonly uri: string;
  readonly range: Range;
  readonly selectionRange: Range;
  readonly location: { readonly uri: string; readonly range: Range };
  readonly name: string;
  readonly containerName?: string;
  readonly severity?: number;
  readonly code?: string;
  readonly source?: string;
  readonly message: string;
  readonly kind: string | number;
  readonly value: string;
  diagnostics: Item[];
}

interface Range {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };
}

/** What an item is ordered by, most important first; undefined is missing, and comes last. */
type SortKey = readonly (string | number | undefined)[];

for (const file of globSync("test/golden/*/*.json", { cwd: root }).sort()) {
  const content: Case = JSON.parse(readFileSync(join(root, file), "utf8"));
  fillIn(content, file);
  writeOrCheck(file, `${laidOut(content, "")}\n`, "node scripts/golden-keys.ts");
}

function fillIn(content: Case, file: string): void {
  const { cursor, expect, keys } = content;
  if (expect.payload !== undefined) {
    fillInLists(expect.payload, content, file);
  }
  if (expect.payload?.state !== undefined) {
    fillInState(content, expect.payload);
  }
  if (keys === undefined) {
    if (cursor !== undefined || expect.nextOffset !== undefined) {
      throw new Error(`${file}: a cursor can't be made without \`keys\``);
    }
    return;
  }
  // The canonical JSON of an array of ASCII strings is what JSON.stringify gives.
  const rootsKey = sha256(JSON.stringify([...keys.roots].sort()));
  keys.rootsKey = rootsKey;
  const request = requestOf(content);
  if (request === undefined) {
    return;
  }
  const k = sha256(`v1|${content.tool}${request}`);
  const snapshotOf = (epochs: Epochs) =>
    sha256(`v1|snapshot|${k}|roots:${rootsKey}|epochs:${epochTuple(content.tool, epochs)}`);
  const epochs = content.epochs ?? {};
  const s = snapshotOf(epochs);
  Object.assign(keys, { k, s });
  if (cursor !== undefined) {
    content.arguments.cursor = encoded({
      v: 2,
      o: cursor.o,
      k,
      s: snapshotOf(cursor.epochs ?? epochs),
      ...cursor.with,
    });
  }
  if (expect.nextOffset !== undefined && expect.payload !== undefined) {
    expect.payload.nextCursor = encoded({ v: 2, o: expect.nextOffset, k, s });
  }
}

/** Fills in what tells a compact list from others: its digest, on one page, without what belongs to the page or the machine. */
function fillInState(content: Case, payload: Payload): void {
  const {
    root: _,
    roots: __,
    nextCursor: ___,
    state: ____,
    summary: _____,
    ...listed
  } = payload as Record<string, unknown>;
  payload.state = sha256(JSON.stringify(content.expect.whole ?? listed)).slice(0, 16);
  if (content.arguments.ifState !== undefined) {
    content.arguments.ifState = payload.state;
  }
}

/** What follows the name of a paged tool in the text behind `k`; undefined if the tool is not paged. */
function requestOf({ tool, arguments: asked, keys }: Case): string | undefined {
  switch (tool) {
    case "vscode.lsp.references":
      return `|${keys?.uri}|${asked.position?.line}|${asked.position?.character}|${asked.includeDeclaration ?? false}`;
    case "vscode.lsp.usages": {
      const [line, character] = (asked.at ?? "").split("-")[0]?.split(":") ?? [];
      const words = [
        asked.declarations ? "declarations" : "",
        asked.detail === "places" ? "" : (asked.detail ?? ""),
        asked.lines ? "lines" : "",
      ];
      return `|${keys?.uri}|${line}|${character}||${words.join("|")}|${JSON.stringify(asked.paths ?? [])}`;
    }
    case "vscode.lsp.workspaceSymbols":
      return `|${asked.query?.trim()}`;
    case "vscode.lsp.diagnostics.workspace":
      return "";
    default:
      return undefined;
  }
}

function epochTuple(tool: string, { roots = 0, text = 0, fs = 0, diagnostics = 0 }: Epochs): string {
  return tool === "vscode.lsp.diagnostics.workspace" ? `${roots},${fs},${diagnostics}` : `${roots},${text},${fs}`;
}

/** Fills in the ids of everything that is returned, and puts it in order. */
function fillInLists(payload: Payload, { tool, keys }: Case, file: string): void {
  const ordered = (items: Item[], keyOf: (item: Item) => SortKey) => inOrder(items, keyOf, file);
  switch (tool) {
    case "vscode.lsp.references":
      payload.items = ordered(payload.items ?? [], locationKey);
      break;
    case "vscode.lsp.hover":
      payload.contents = ordered(payload.contents ?? [], ({ kind, value }) => [kind, value]);
      break;
    case "vscode.lsp.documentSymbols":
      payload.symbols = ordered(withIds(payload.symbols ?? [], documentSymbolText(keys?.uri)), documentSymbolKey);
      break;
    case "vscode.lsp.workspaceSymbols":
      payload.items = ordered(withIds(payload.items ?? [], workspaceSymbolText), workspaceSymbolKey);
      break;
    case "vscode.lsp.diagnostics.document":
      payload.diagnostics = ordered(withIds(payload.diagnostics ?? [], diagnosticText(payload.uri)), diagnosticKey);
      break;
    case "vscode.lsp.diagnostics.workspace":
      for (const group of payload.items ?? []) {
        group.diagnostics = ordered(withIds(group.diagnostics, diagnosticText(group.uri)), diagnosticKey);
      }
      payload.items = ordered(payload.items ?? [], ({ uri }) => [uri]);
      break;
    default:
      for (const [member, items] of Object.entries(payload)) {
        // Compact lists are written in order by hand.
        if (payload.state === undefined && Array.isArray(items)) {
          Object.assign(payload, { [member]: ordered(items, rangedKey) });
        }
      }
  }
}

/** Of a list that has no order of its own: a location, or a range of the file that was asked about. */
function rangedKey({ uri, range, kind }: Item): SortKey {
  return [uri ?? "", ...rangeKey(range), kind ?? 0];
}

function locationKey({ uri, range }: Item): SortKey {
  return [uri, ...rangeKey(range)];
}

function documentSymbolKey({ range, name, kind, containerName }: Item): SortKey {
  return [...rangeKey(range), name, kind, containerName];
}

function workspaceSymbolKey({ location, name, kind, containerName }: Item): SortKey {
  return [location.uri, ...rangeKey(location.range), name, kind, containerName];
}

function diagnosticKey({ range, severity, code, source, message }: Item): SortKey {
  return [range.start.line, range.start.character, severity, code, source, message];
}

function rangeKey({ start, end }: Range): SortKey {
  return [start.line, start.character, end.line, end.character];
}

function documentSymbolText(uri: string | undefined): (item: Item) => string {
  return ({ name, kind, range, selectionRange, containerName }) =>
    [uri, name, kind, ...placesOf(range), ...placesOf(selectionRange), containerName ?? ""].join("|");
}

function workspaceSymbolText({ location, name, kind, containerName }: Item): string {
  return [location.uri, name, kind, ...placesOf(location.range), containerName ?? ""].join("|");
}

function diagnosticText(uri: string | undefined): (item: Item) => string {
  return ({ range, severity, code, source, message }) =>
    [uri, ...placesOf(range), severity ?? "", code ?? "", source ?? "", message].join("|");
}

function placesOf({ start, end }: Range): string[] {
  return [start, end].map(({ line, character }) => `${line}:${character}`);
}

/** The items with their ids; one that stands for several gets one for each line. */
function withIds(items: Item[], textOf: (item: Item) => string): Item[] {
  return items.map((item) => {
    const ids = (itemsWrittenOut(item) as Item[]).map((one) => `sha256:${sha256(textOf(one))}`);
    return "onLines" in item ? { ...item, ids } : Object.assign({ id: ids[0] }, item, { id: ids[0] });
  });
}

/** The items in canonical order. What one stands for has to follow upon each other in that order, without duplicates. */
function inOrder(items: Item[], keyOf: (item: Item) => SortKey, file: string): Item[] {
  const sorted = items
    .map((item) => ({ item, all: itemsWrittenOut(item) as Item[] }))
    .sort((one, other) => compared(one.all[0] as Item, other.all[0] as Item, keyOf));
  const all = sorted.flatMap((entry) => entry.all);
  for (const [index, item] of all.entries()) {
    if (index > 0 && compared(all[index - 1] as Item, item, keyOf) >= 0) {
      throw new Error(`${file}: item ${index} of what is expected does not come after the one before it`);
    }
  }
  return sorted.map(({ item }) => item);
}

function compared(one: Item, other: Item, keyOf: (item: Item) => SortKey): number {
  const otherKey = keyOf(other);
  for (const [index, value] of keyOf(one).entries()) {
    const difference = comparedValues(value, otherKey[index]);
    if (difference !== 0) {
      return difference;
    }
  }
  return comparedValues(canonicalJson(one), canonicalJson(other));
}

function comparedValues(one: string | number | undefined, other: string | number | undefined): number {
  if (one === other) {
    return 0;
  }
  return other === undefined || (one !== undefined && one < other) ? -1 : 1;
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => comparedValues(one, other)))
      : member,
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function encoded(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor), "utf8").toString("base64url");
}

/** JSON for people: what fits on a line is on one line. */
function laidOut(value: unknown, indent: string): string {
  const onOneLine = compact(value);
  if (typeof value !== "object" || value === null || indent.length + onOneLine.length <= 110) {
    return indent === "" && typeof value === "object" ? expanded(value, indent) : onOneLine;
  }
  return expanded(value, indent);
}

function expanded(value: object | null, indent: string): string {
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => deeper + laidOut(item, deeper)).join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value ?? {}).filter(([, member]) => member !== undefined);
  return `{\n${members.map(([name, member]) => `${deeper}${JSON.stringify(name)}: ${laidOut(member, deeper)}`).join(",\n")}\n${indent}}`;
}

function compact(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(compact).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${compact(member)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return JSON.stringify(value);
}
