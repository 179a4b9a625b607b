import { hash } from "node:crypto";

/** Of how many files it is remembered what was last published for them. */
export const MAX_FILES = 20_000;

/** What of a diagnostic clients get to see, in VS Code's shape. Extensions decide what is really there. */
export interface DiagnosticLike {
  readonly range: { readonly start: PositionLike; readonly end: PositionLike };
  readonly severity: unknown;
  readonly code?: unknown;
  readonly source?: unknown;
  readonly message: unknown;
}

interface PositionLike {
  readonly line: number;
  readonly character: number;
}

/**
 * Tells diagnostics that changed from diagnostics that were published once more (D37): language extensions do that
 * whenever a document is opened or closed, and no cursor has to become stale for it.
 */
export class PublishedDiagnostics {
  /** By URI. Files without diagnostics have no entry. */
  readonly #files = new Map<string, Remembered>();
  /** Whether there were ever more files with diagnostics than are remembered. */
  #forgetful = false;

  /**
   * Takes note of what is published for a file now, and returns whether that differs from before. Order and repetition do
   * not matter, as they never reach a client.
   */
  changed(uri: string, diagnostics: readonly DiagnosticLike[]): boolean {
    const before = this.#files.get(uri)?.digest;
    const now = diagnostics.length === 0 ? undefined : digestOf(diagnostics);
    if (now === undefined) {
      this.#files.delete(uri);
    } else if (before !== undefined || this.#files.size < MAX_FILES) {
      this.#files.set(uri, { digest: now, diagnostics });
    } else {
      this.#forgetful = true;
    }
    return now !== before || (before === undefined && this.#forgetful);
  }

  /**
   * As `changed`, for everything that is published now: what is no longer among it was taken away. What is not remembered,
   * or could not be read, is left to its event, and so is what does not count now (`counts`). The very objects of the last
   * look are not read again: of many files this took tens of milliseconds of the editor's thread with each question. An
   * extension that changes such an object and publishes it once more has an event for it as well.
   */
  anyChanged(
    all: readonly (readonly [uri: string, diagnostics: readonly DiagnosticLike[]])[],
    counts: (uri: string) => boolean = () => true,
  ): boolean {
    if (this.#forgetful) {
      return false;
    }
    const now = new Map(all);
    const known = [...this.#files]
      .filter(([uri, { digest, diagnostics }]) => typeof digest === "string" && !isSame(diagnostics, now.get(uri)))
      .map(([uri]) => uri);
    const unknown = [...now.keys()].filter((uri) => !this.#files.has(uri));
    const counted = [...known, ...unknown].filter(counts);
    // All of them are looked at, since each look is remembered.
    return counted.filter((uri) => this.changed(uri, now.get(uri) ?? [])).length > 0;
  }
}

interface Remembered {
  readonly digest: Digest;
  readonly diagnostics: readonly DiagnosticLike[];
}

/** Text of a fixed length; a symbol where it cannot be told what is there, so that it never equals anything. */
type Digest = string | symbol;

function digestOf(diagnostics: readonly DiagnosticLike[]): Digest {
  try {
    return hash("sha256", [...new Set(diagnostics.map(textOf))].sort().join("\n"), "base64");
  } catch {
    return Symbol("unreadable");
  }
}

/** Whether these are the same objects in the same order. */
function isSame(before: readonly unknown[], now: readonly unknown[] = []): boolean {
  return before.length === now.length && before.every((item, index) => item === now[index]);
}

function textOf({ range: { start, end }, severity, code, source, message }: DiagnosticLike): string {
  const place = [start.line, start.character, end.line, end.character];
  return JSON.stringify([place, severity, isObject(code) ? code.value : code, source, message]);
}

/** The other part of such a code is a link to more about it, which no client sees. */
function isObject(code: unknown): code is { readonly value?: unknown } {
  return typeof code === "object" && code !== null;
}
