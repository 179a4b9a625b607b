import type { Clock } from "../clock.ts";

/** How long a language has to rest until what was published counts as all. */
export const LANGUAGE_QUIET_MS = 1_000;

/** How soon after a write elsewhere a report can be about it. */
export const SOONEST_REPORT_MS = 1_250;

/** How much sooner than it is sure a server may have known of a write, and how long to wait after a report from then. */
const TOLD_LATE_MS = 300;
export const AFTER_EARLY_REPORT_MS = 1_400;

/**
 * A language server that has taken long to publish anything is as slow with what follows: a language's first signs have
 * to rest for as long as the first of them took, within these bounds.
 */
export const LONGEST_QUIET_MS = 5_000;

/** After this long without a sign, nobody is expected to give one any more (D28). */
export const NO_SIGN_MS = 20_000;

/** How long a document waits for a first report where nothing leads to expect one. */
export const UNEXPECTED_MS = 1_500;

const NEVER = Number.NEGATIVE_INFINITY;

interface Analysed {
  readonly language: string;
  /** Whether somebody has reported on it since it was opened. */
  readonly isReported: boolean;
  /** When it was opened or last changed, by whomever, or shown while nobody had reported on it. */
  readonly changedAt: number;
  /** When diagnostics were last published for it, if they were after that and still are. */
  readonly publishedAt: number | undefined;
}

interface Language {
  /** When a text in it was last changed. */
  changedAt: number | undefined;
  /** When its first document was seen, or extensions came that may know more of it. */
  since: number;
  /** How long after that something was published for it at first, in milliseconds. */
  firstAfter: number | undefined;
  publishedAt: number | undefined;
  /** How many questions about it are under way. */
  asked: number;
  /** When something was last published for it or asked about it. */
  busyAt: number;
  /** When its last long enough rest began. */
  restedAt: number;
  /** Something was published for it, and then nothing for a while. It stays so. */
  settled: boolean;
  /** Something was published for a document that was in no tab. */
  reportsOnUnseen: boolean;
}

/** When something was written that language servers have to know of. */
interface Written {
  readonly at: number;
  /** It is when the servers were sure to know, and not when a text was changed in the editor. */
  readonly isTold: boolean;
}

/** What somebody waits for: that it is there, or the milliseconds until it may be if nothing happens before. */
type Look<T> = { readonly found: T } | { readonly wait: number };

/**
 * How far the editor's extensions have come with the documents that are open, as far as it shows: diagnostics that are
 * published say that somebody has looked (D28, D29). Nothing is kept of documents that are closed.
 */
export class Analysis {
  readonly #clock: Clock;
  /** URI -> an open document. */
  readonly #documents = new Map<string, Analysed>();
  readonly #languages = new Map<string, Language>();
  /** Each looks again at what it waits for. */
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  opened(uri: string, language: string): void {
    const now = this.#clock.now();
    this.#documents.set(uri, {
      language,
      isReported: false,
      changedAt: now,
      publishedAt: undefined,
    });
    if (!this.#languages.has(language)) {
      this.#languages.set(language, {
        changedAt: undefined,
        since: now,
        firstAfter: undefined,
        publishedAt: undefined,
        asked: 0,
        busyAt: now,
        restedAt: NEVER,
        settled: false,
        reportsOnUnseen: false,
      });
    }
    this.#happened();
  }

  changed(uri: string): void {
    const document = this.#documents.get(uri);
    if (document !== undefined) {
      const now = this.#clock.now();
      this.#documents.set(uri, { ...document, changedAt: now, publishedAt: undefined });
      const language = this.#languageOf(document);
      if (language !== undefined) {
        language.changedAt = now;
      }
      this.#happened();
    }
  }

  /** A tab shows the document, which is when some extensions begin to look at it. */
  shown(uri: string): void {
    const document = this.#documents.get(uri);
    if (document !== undefined && document.publishedAt === undefined) {
      this.#documents.set(uri, { ...document, changedAt: this.#clock.now() });
      this.#happened();
    }
  }

  closed(uri: string): void {
    this.#documents.delete(uri);
  }

  /** Diagnostics were published for this URI, be they other ones than before or not. `isShown`: whether it is in a tab. */
  published(uri: string, isShown: () => boolean): void {
    const document = this.#documents.get(uri);
    if (document === undefined) {
      return;
    }
    const now = this.#clock.now();
    this.#documents.set(uri, { ...document, isReported: true, publishedAt: now });
    const language = this.#languageOf(document);
    if (language !== undefined) {
      settle(language, now);
      language.firstAfter ??= now - language.since;
      language.publishedAt = now;
      busy(language, now);
      language.reportsOnUnseen ||= !isShown();
    }
    this.#happened();
  }

  /** What was published for this URI is taken back, as extensions do once they no longer look at a document. */
  withdrawn(uri: string): void {
    const document = this.#documents.get(uri);
    if (document !== undefined) {
      this.#documents.set(uri, { ...document, isReported: false, publishedAt: undefined });
    }
  }

  /**
   * Runs a question about documents of a language, or without one, of any. Some language servers check nothing while they
   * are asked things, so it counts as no rest.
   */
  async during<T>(languageId: string | undefined, question: () => PromiseLike<T>): Promise<T> {
    const one = this.#languages.get(languageId ?? "");
    const asked = languageId === undefined ? [...this.#languages.values()] : one === undefined ? [] : [one];
    const count = (difference: 1 | -1): void => {
      for (const language of asked) {
        busy(language, this.#clock.now());
        language.asked += difference;
      }
    };
    count(1);
    try {
      return await question();
    } finally {
      count(-1);
      this.#happened();
    }
  }

  /** Extensions came or went: a language that has given no sign so far gets its time anew. */
  extensionsChanged(): void {
    const now = this.#clock.now();
    for (const language of this.#languages.values()) {
      language.since = now;
    }
    this.#happened();
  }

  /**
   * Resolves once diagnostics were published for the document after it was opened or last changed and its language has
   * rested since, or nobody is expected to publish any. A server that has several documents to check may publish of each
   * first what its syntax shows, and the rest when it comes to it. What is published while a language starts may be about a
   * text that is no more: it counts once the language is settled, too. And what was published before something else was
   * written counts once nothing has come of that for a while.
   *
   * @param isShown whether it is in a tab
   * @param unexpected how long to wait for a report that nothing leads to expect
   * @param knownFor for how long, in milliseconds, language servers have known of what was written last
   */
  documentSettled(uri: string, isShown: boolean, knownFor?: number, unexpected = UNEXPECTED_MS): Promise<void> {
    const asked = this.#clock.now();
    const { changedAt: changed = NEVER } = this.#languageOf(this.#documents.get(uri)) ?? {};
    // Of its own change, it is told by what is published for it.
    const isOwn = changed === this.#documents.get(uri)?.changedAt;
    const [toldAt, changedAt] = [this.#writtenAt(knownFor), isOwn ? NEVER : changed];
    const written = { at: Math.max(toldAt, changedAt), isTold: toldAt >= changedAt };
    return this.#once(() => {
      const document = this.#documents.get(uri);
      const { changedAt = asked, publishedAt } = document ?? {};
      const wait =
        publishedAt === undefined
          ? this.#remaining(changedAt, this.#isExpected(document, isShown) ? NO_SIGN_MS : unexpected)
          : Math.max(
              this.#untilRested(document, publishedAt, asked),
              this.#untilSettled(document),
              this.#untilReportedAgain(written, publishedAt, this.#languageOf(document)?.publishedAt),
            );
      return wait > 0 ? { wait } : { found: undefined };
    });
  }

  /**
   * The milliseconds until what was published for a document is about what was written elsewhere. Somebody reports on it, so
   * it is reported on again if that concerns it: a server that is busy reports late, and first on the file that was written.
   */
  #untilReportedAgain({ at: writtenAt, isTold }: Written, publishedAt: number, ofLanguage = NEVER): number {
    if (writtenAt === NEVER) {
      return 0;
    }
    const late = (at: number): number => Math.max(0, at - writtenAt);
    const unlessReported = (atLeast: number): number =>
      writtenAt + Math.max(atLeast, LANGUAGE_QUIET_MS + late(ofLanguage));
    let known = unlessReported(2 * LANGUAGE_QUIET_MS);
    if (publishedAt >= writtenAt) {
      // What is published at once may be about the files before.
      known = Math.max(writtenAt + SOONEST_REPORT_MS, publishedAt + 0.75 * late(publishedAt));
    } else if (isTold && publishedAt >= writtenAt - TOLD_LATE_MS) {
      known = unlessReported(AFTER_EARLY_REPORT_MS);
    }
    // What is published long after that has another reason.
    return Math.min(known, writtenAt + LONGEST_QUIET_MS) - this.#clock.now();
  }

  /** Resolves once nothing has come of what was written, in any language, for a while. */
  allSettled(knownFor: number | undefined): Promise<void> {
    const writtenAt = this.#writtenAt(knownFor);
    return this.#once(() => {
      const published = [...this.#languages.values()].map(({ publishedAt }) => publishedAt ?? NEVER);
      const wait = this.#untilQuiet(writtenAt, Math.max(NEVER, ...published));
      return wait > 0 ? { wait } : { found: undefined };
    });
  }

  #writtenAt(knownFor: number | undefined): number {
    return knownFor === undefined ? NEVER : this.#clock.now() - knownFor;
  }

  /**
   * The milliseconds until nothing was published for long enough after something was written: longer after what has come
   * late, since more may.
   */
  #untilQuiet(writtenAt: number, publishedAt: number): number {
    if (writtenAt === NEVER) {
      return 0;
    }
    const quiet = Math.max(LANGUAGE_QUIET_MS, 1.5 * (publishedAt - writtenAt));
    const quietUntil = Math.max(writtenAt, publishedAt) + quiet;
    // What is published long after that has another reason.
    return Math.min(quietUntil, writtenAt + LONGEST_QUIET_MS) - this.#clock.now();
  }

  #languageOf(document: Analysed | undefined): Language | undefined {
    return this.#languages.get(document?.language ?? "");
  }

  /** The milliseconds until the document's language has rested since this was published, or for too long has not. */
  #untilRested(document: Analysed | undefined, publishedAt: number, asked: number): number {
    const language = this.#languageOf(document);
    if (language === undefined || publishedAt <= language.restedAt) {
      return 0;
    }
    const atMost = this.#remaining(Math.max(asked, publishedAt), LONGEST_QUIET_MS);
    return language.asked > 0 ? atMost : Math.min(atMost, this.#remaining(language.busyAt, LANGUAGE_QUIET_MS));
  }

  /** The milliseconds until the document's language, of which something was published, is settled or is believed to be. */
  #untilSettled(document: Analysed | undefined): number {
    const language = this.#languageOf(document);
    if (language?.publishedAt === undefined || settle(language, this.#clock.now())) {
      return 0;
    }
    const { since, publishedAt } = language;
    return Math.min(this.#remaining(since, NO_SIGN_MS), this.#remaining(publishedAt, restOf(language)));
  }

  /** Whether somebody reports on documents like this one, as far as has shown. */
  #isExpected(document: Analysed | undefined, isShown: boolean): boolean {
    const language = this.#languageOf(document);
    if (document === undefined || language === undefined) {
      return false;
    }
    return document.isReported || language.reportsOnUnseen || (isShown && settle(language, this.#clock.now()));
  }

  /**
   * Resolves to true once diagnostics were published for documents of the language, and then no more for a while; to
   * false if that has not happened for so long after its first document that it is not expected to.
   */
  languageSettled(language: string): Promise<boolean> {
    const asked = this.#clock.now();
    return this.#once(() => {
      const known = this.#languages.get(language);
      if (known !== undefined && settle(known, this.#clock.now())) {
        return { found: true };
      }
      const wait = this.#remaining(known?.since ?? asked, NO_SIGN_MS);
      if (wait <= 0) {
        return { found: false };
      }
      return {
        wait:
          known?.publishedAt === undefined ? wait : Math.min(wait, this.#remaining(known.publishedAt, restOf(known))),
      };
    });
  }

  #remaining(since: number, milliseconds: number): number {
    return since + milliseconds - this.#clock.now();
  }

  #happened(): void {
    for (const look of this.#waiting) {
      look();
    }
  }

  #once<T>(look: () => Look<T>): Promise<T> {
    return new Promise((resolve) => {
      let cancel = (): void => {};
      const again = (): void => {
        cancel();
        const seen = look();
        if ("found" in seen) {
          this.#waiting.delete(again);
          resolve(seen.found);
        } else {
          cancel = this.#clock.after(seen.wait, again);
        }
      };
      this.#waiting.add(again);
      again();
    });
  }
}

/** Takes note that something happens in the language, and of the rest before it. */
function busy(language: Language, now: number): void {
  if (language.asked === 0 && now - language.busyAt >= LANGUAGE_QUIET_MS) {
    language.restedAt = language.busyAt;
  }
  language.busyAt = now;
}

/** How long nothing may be published for a language that is not settled until it is. */
function restOf({ firstAfter = 0 }: Language): number {
  return Math.min(Math.max(firstAfter, LANGUAGE_QUIET_MS), LONGEST_QUIET_MS);
}

/** Takes note of it if nothing was published for the language for long enough, and returns whether that was ever so. */
function settle(language: Language, now: number): boolean {
  language.settled ||= language.publishedAt !== undefined && now - language.publishedAt >= restOf(language);
  return language.settled;
}
