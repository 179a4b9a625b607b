// What the server tells of its clients, as native/server/src/activity writes it.

/** A call that has ended. */
export interface Call {
  /** Counts from 1, without gaps. */
  readonly number: number;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
  /** The client's name and version, as it gave them; empty if they are not known. */
  readonly client: readonly [name: string, version: string];
  readonly tool: string;
  /** The document it asked about, as the client wrote it. */
  readonly uri?: string;
  /** The place in the document, counted from 0. */
  readonly position?: { readonly line: number; readonly character: number };
  /** The name it looked for. */
  readonly query?: string;
  /** `answered`, or the name of the error. */
  readonly outcome: string;
  /** Whether what it asked about may be opened. */
  readonly open: boolean;
  readonly items: number;
  /** Size of the response; 0 for an error. */
  readonly bytes: number;
  readonly micros: number;
}

export interface Client {
  readonly name: string;
  readonly version: string;
  readonly calls: number;
  readonly failed: number;
  /** Whether it has a session that has not ended. */
  readonly open: boolean;
}

/** The calls that ended within five seconds; times are in microseconds. */
export interface Slice {
  readonly index: number;
  readonly calls: number;
  readonly failed: number;
  readonly p50: number;
  readonly p95: number;
}

/** How often a tool ended in one way. */
export type Count = readonly [tool: string, outcome: string, calls: number];

/** The news as they cross: each text once, and each call as numbers, some of them those of its texts. */
interface PackedNews extends Omit<News, "calls"> {
  readonly texts: readonly string[];
  readonly calls: readonly PackedCall[];
}

type Cell = number | null;
type PackedCall = readonly [
  ...ids: readonly [number: number, at: number, name: number, version: number, tool: number],
  ...about: readonly [uri: Cell, query: Cell, line: Cell, character: Cell],
  ...end: readonly [outcome: number, open: number, items: number, bytes: number, micros: number],
];

export function unpackNews(json: string): News {
  const { texts, calls, ...others }: PackedNews = JSON.parse(json);
  const text = (cell: number) => texts[cell] ?? "";
  return {
    ...others,
    calls: calls.map((cells) => {
      const [number, at, name, version, tool, uri, query, line, character, outcome, open, items, bytes, micros] = cells;
      return {
        ...{ number, at, client: [text(name), text(version)], tool: text(tool) },
        ...(uri === null ? {} : { uri: text(uri) }),
        ...(query === null ? {} : { query: text(query) }),
        ...(line === null || character === null ? {} : { position: { line, character } }),
        ...{ outcome: text(outcome), open: open === 1, items, bytes, micros },
      };
    }),
  };
}

/** What is new since the news before. */
export interface News {
  /** The slice of time that is not over. */
  readonly slice: number;
  /** Oldest first. */
  readonly calls: readonly Call[];
  /** All of them. */
  readonly clients: readonly Client[];
  /** All of them. */
  readonly counts: readonly Count[];
  /** Those that are new or were not over, oldest first. */
  readonly slices: readonly Slice[];
}

export const ANSWERED = "answered";
/** How many calls and slices are kept, here as in the server. */
export const MAX_CALLS = 200;
export const MAX_SLICES = 120;
export const SLICE_SECONDS = 5;

/** Everything that is shown of what clients did, brought up to date by one piece of news after the other. */
export class Activity {
  /** Newest first. */
  calls: readonly Call[] = [];
  clients: readonly Client[] = [];
  counts: readonly Count[] = [];
  /** Oldest first. */
  slices: readonly Slice[] = [];
  slice = 0;

  /** `isFresh`: whether the news begin anew, as after a restart of the gateway. */
  take(news: News, isFresh: boolean): void {
    if (isFresh) {
      this.calls = [];
      this.slices = [];
    }
    this.calls = [...news.calls.toReversed(), ...this.calls].slice(0, MAX_CALLS);
    this.clients = news.clients;
    this.counts = news.counts;
    this.slice = news.slice;
    const [first] = news.slices;
    const before = this.slices.filter(({ index }) => first === undefined || index < first.index);
    this.slices = [...before, ...news.slices].filter(({ index }) => index > news.slice - MAX_SLICES);
  }

  clear(): void {
    this.take({ slice: 0, calls: [], clients: [], counts: [], slices: [] }, true);
  }
}
