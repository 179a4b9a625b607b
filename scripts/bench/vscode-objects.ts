// What a provider's answer looks like inside VS Code's extension host: positions and ranges whose fields are getters over
// private ones, and a URI object for each item, revived from the text that came from another process. `URI` is VS Code's
// own, published as a package.

import { URI } from "vscode-uri";

class Position {
  readonly _line: number;
  readonly _character: number;

  constructor(line: number, character: number) {
    this._line = line;
    this._character = character;
  }

  get line(): number {
    return this._line;
  }

  get character(): number {
    return this._character;
  }
}

class Range {
  readonly _start: Position;
  readonly _end: Position;

  constructor(start: Position, end: Position) {
    this._start = start;
    this._end = end;
  }

  get start(): Position {
    return this._start;
  }

  get end(): Position {
    return this._end;
  }
}

export class Location {
  uri: URI;
  range: Range;

  constructor(uri: URI, range: Range) {
    this.uri = uri;
    this.range = range;
  }
}

export interface SymbolInformation {
  readonly name: string;
  readonly kind: number;
  readonly containerName: string;
  readonly location: Location;
}

export interface Diagnostic {
  readonly range: Range;
  readonly message: string;
  readonly severity: number;
  readonly source: string;
  readonly code: number;
}

/** `count` references, as many in each file, file by file, in the order in which language servers return them. */
export function references(files: readonly string[], count: number): Location[] {
  const uris = transferred(files, count);
  return uris.map((uri, index) => new Location(URI.revive(uri), range(index, count / files.length)));
}

/** `count` symbols with a name each. */
export function workspaceSymbols(files: readonly string[], count: number): SymbolInformation[] {
  return references(files, count).map((location, index) => ({
    name: `resolveConfiguration${index}`,
    kind: 11,
    containerName: `Container${index % 1_000}`,
    location,
  }));
}

/** Pairs of a file and its diagnostics. */
export function diagnostics(files: readonly string[], inEach: number): [URI, Diagnostic[]][] {
  return transferred(files, files.length).map((uri, file) => {
    const ofFile = Array.from({ length: inEach }, (_, index) => ({
      range: range(index, inEach),
      message: `Type 'Value${index}' is not assignable to type 'Target${file}'.`,
      severity: 0,
      source: "ts",
      code: 2322,
    }));
    return [URI.revive(uri), ofFile];
  });
}

/** As the URIs arrive: each with a text of its own, which it was sent with. */
function transferred(files: readonly string[], count: number): ReturnType<URI["toJSON"]>[] {
  const inEach = count / files.length;
  const uris = Array.from({ length: count }, (_, index) => URI.file(files[Math.floor(index / inEach)] ?? ""));
  for (const uri of uris) {
    uri.toString();
  }
  return JSON.parse(JSON.stringify(uris));
}

function range(index: number, inEach: number): Range {
  const line = 7 + 12 * (index % inEach);
  return new Range(new Position(line, 4), new Position(line, 21));
}
