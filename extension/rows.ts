// Packs what VS Code's providers return into rows: the form in which answers cross to Rust. Distinct strings are interned
// and joined into one text, and every item is a fixed number of 32-bit cells, because twenty thousand objects cost the
// extension host's thread twenty times as much as one text and one array. Nothing is decided here.
//
// Cells are `[number of strings, UTF-16 length of each string, then the items]`; a cell of all ones stands for something
// absent. The shapes are VS Code's, taken structurally: this module does not import `vscode`, so that the replay host and
// tests run it in plain Node.

import type { Answer } from "./native.d.ts";

/** The questions that the gateway asks, by the numbers under which they cross. */
export const QUESTION = {
  /** `{uri, line}`: open the document; answered by `packOpen`. */
  open: 0,
  /** `{uri, line, character}`: answered by `packTargets`. */
  definition: 1,
  /** `{uri, line, character}`: answered by `packTargets`. */
  declaration: 2,
  /** `{uri, line, character}`: answered by `packLocations`. */
  references: 3,
  hover: 4,
  documentSymbols: 5,
  workspaceSymbols: 6,
  documentDiagnostics: 7,
  allDiagnostics: 8,
  /** `["id", …]`: every session that has ended and is still remembered, to be kept across a reload. Any answer will do. */
  sessionsEnded: 9,
} as const;

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

/**
 * What is known of an open document.
 *
 * @param lineLength UTF-16 length of the line asked about without its line break; undefined if there is no such line
 */
export function packOpen(lineCount: number, lineLength: number | undefined): Answer {
  const cells = new Uint32Array(3);
  cells[1] = coordinate(lineCount, 0, "lineCount");
  cells[2] = lineLength === undefined ? ABSENT : coordinate(lineLength, 0, "lineLength");
  return { outcome: 0, text: "", cells };
}

/** Packs an array of `Location`. Throws a TypeError that names the item and the field if it is anything else. */
export function packLocations(locations: unknown): Answer {
  const items = list(locations);
  const strings = new Strings();
  const rows = new Uint32Array(items.length * 5);
  let cell = 0;
  for (let index = 0; index < items.length; index++) {
    const location = object(items[index], index, "item") as LocationShape;
    rows[cell] = strings.index(text(location.uri, index, "uri"));
    packRange(location.range, rows, cell + 1, index, "range");
    cell += 5;
  }
  return strings.answer(rows);
}

/**
 * Packs an array of `Location` and `LocationLink`, mixed. Throws a TypeError that names the item and the field if it is
 * anything else.
 */
export function packTargets(targets: unknown): Answer {
  const items = list(targets);
  const strings = new Strings();
  const rows = new Uint32Array(items.length * 9);
  let cell = 0;
  for (let index = 0; index < items.length; index++) {
    const target = object(items[index], index, "item") as LocationShape & LinkShape;
    if (target.targetUri === undefined) {
      rows[cell] = strings.index(text(target.uri, index, "uri"));
      packRange(target.range, rows, cell + 1, index, "range");
      rows.fill(ABSENT, cell + 5, cell + 9);
    } else {
      rows[cell] = strings.index(text(target.targetUri, index, "targetUri"));
      packRange(target.targetRange, rows, cell + 1, index, "targetRange");
      if (target.targetSelectionRange === undefined || target.targetSelectionRange === null) {
        rows.fill(ABSENT, cell + 5, cell + 9);
      } else {
        packRange(target.targetSelectionRange, rows, cell + 5, index, "targetSelectionRange");
      }
    }
    cell += 9;
  }
  return strings.answer(rows);
}

interface LocationShape {
  readonly uri?: unknown;
  readonly range?: unknown;
}

interface LinkShape {
  readonly targetUri?: unknown;
  readonly targetRange?: unknown;
  readonly targetSelectionRange?: unknown;
}

interface RangeShape {
  readonly start?: unknown;
  readonly end?: unknown;
}

interface PositionShape {
  readonly line?: unknown;
  readonly character?: unknown;
}

/** Distinct strings in the order of their first use. */
class Strings {
  readonly #indices = new Map<string, number>();

  index(string: string): number {
    const known = this.#indices.get(string);
    if (known !== undefined) {
      return known;
    }
    const index = this.#indices.size;
    this.#indices.set(string, index);
    return index;
  }

  answer(rows: Uint32Array): Answer {
    const strings = [...this.#indices.keys()];
    const cells = new Uint32Array(1 + strings.length + rows.length);
    cells[0] = strings.length;
    for (const [index, string] of strings.entries()) {
      cells[1 + index] = string.length;
    }
    cells.set(rows, 1 + strings.length);
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
    throw new TypeError(`item ${index}: ${field} is not an object`);
  }
  return value;
}

/** The text of a URI: a string, or an object that has its own way of turning into one, as `vscode.Uri` does. */
function text(value: unknown, index: number, field: string): string {
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
  throw new TypeError(`item ${index}: ${field} is not a URI`);
}

function packRange(value: unknown, rows: Uint32Array, cell: number, index: number, field: string): void {
  const range = object(value, index, field) as RangeShape;
  const start = object(range.start, index, field) as PositionShape;
  const end = object(range.end, index, field) as PositionShape;
  rows[cell] = coordinate(start.line, index, field);
  rows[cell + 1] = coordinate(start.character, index, field);
  rows[cell + 2] = coordinate(end.line, index, field);
  rows[cell + 3] = coordinate(end.character, index, field);
}

/** Providers write "to the end" as the largest number they know, which is more than the contract's numbers hold. */
function coordinate(value: unknown, index: number, field: string): number {
  if (typeof value !== "number" || !(value >= 0) || (value < LARGEST && !Number.isInteger(value))) {
    throw new TypeError(`item ${index}: ${field} has a number that is not a whole number from 0`);
  }
  return value < LARGEST ? value : LARGEST;
}
