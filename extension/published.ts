import { hash } from "node:crypto";

/** Of how many files it is remembered what was last published for them. */
export const MOST_FILES = 20_000;

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
  /** URI -> what its diagnostics amount to. Files without any have no entry. */
  readonly #digests = new Map<string, Digest>();
  /** Whether there were ever more files with diagnostics than are remembered. */
  #forgetful = false;

  /**
   * Takes note of what is published for a file now, and returns whether that differs from before. Order and repetition do
   * not matter, as they never reach a client.
   */
  changed(uri: string, diagnostics: readonly DiagnosticLike[]): boolean {
    const before = this.#digests.get(uri);
    const now = diagnostics.length === 0 ? undefined : digestOf(diagnostics);
    if (now === undefined) {
      this.#digests.delete(uri);
    } else if (before !== undefined || this.#digests.size < MOST_FILES) {
      this.#digests.set(uri, now);
    } else {
      this.#forgetful = true;
    }
    return now !== before || (before === undefined && this.#forgetful);
  }

  /**
   * As `changed`, for everything that is published now: what is no longer among it was taken away. What is not remembered,
   * or could not be read, is left to its event, and so is what does not count now (`counts`).
   */
  anyChanged(
    all: readonly (readonly [uri: string, diagnostics: readonly DiagnosticLike[]])[],
    counts: (uri: string) => boolean = () => true,
  ): boolean {
    if (this.#forgetful) {
      return false;
    }
    const now = new Map(all);
    const known = [...this.#digests].filter(([, digest]) => typeof digest === "string").map(([uri]) => uri);
    const unknown = [...now.keys()].filter((uri) => !this.#digests.has(uri));
    const counted = [...known, ...unknown].filter(counts);
    // All of them are looked at, since each look is remembered.
    return counted.filter((uri) => this.changed(uri, now.get(uri) ?? [])).length > 0;
  }
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

function textOf({ range: { start, end }, severity, code, source, message }: DiagnosticLike): string {
  const place = [start.line, start.character, end.line, end.character];
  return JSON.stringify([place, severity, isObject(code) ? code.value : code, source, message]);
}

/** The other part of such a code is a link to more about it, which no client sees. */
function isObject(code: unknown): code is { readonly value?: unknown } {
  return typeof code === "object" && code !== null;
}
