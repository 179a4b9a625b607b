import type { Clock } from "../clock.ts";

/** How many documents are held, and for how long after their last use (D33). */
export const MAX_HELD = 32;
export const HELD_FOR_MS = 10 * 60_000;

/**
 * VS Code lets go of a document 180 s after an extension opened it. One that it closes much earlier was pushed out by
 * other documents; to open it again would push out the next.
 */
const LET_GO_AFTER_MS = 170_000;

/** The language of what no language server reads. */
const PLAIN = "plaintext";

/** How long the editor may take to read a file again that another program has written. */
const LONGEST_TAKE_OVER_MS = 10_000;

/** What this module needs of VS Code's `TextDocument`. */
export interface TextDocumentLike {
  readonly uri: { toString(): string };
  /** Still false in the close event that announces a change of language. */
  readonly isClosed: boolean;
  readonly isDirty: boolean;
  readonly languageId: string;
  getText(): string;
}

export interface DocumentHost<D> extends Clock {
  open(uri: string): PromiseLike<D>;
  /** The text of the document's file, read now. */
  textOnDisk(document: D): PromiseLike<string>;
  /** A text that differs once the document's file was written anew; undefined if there is no such file. */
  stampOnDisk(document: D): PromiseLike<string | undefined>;
  isShown(document: D): boolean;
  /** For extensions, the document is closed in its language, and opened in this one. */
  setLanguage(document: D, language: string): PromiseLike<unknown>;
}

/** The editor still has another text than the file, and nobody has changed it there. */
export class NotInStep extends Error {
  constructor() {
    super("the editor has not taken over what another program wrote into the file");
  }
}

interface OwnOpen {
  readonly at: number;
  /** Settled once it is known whether the open counts. */
  readonly compared: Promise<void>;
  counts: boolean;
}

/**
 * Holds the documents in use open, and knows which opens and closes are the gateway's own doing (D21): those do not
 * change the workspace, unless they bring a text into play that differs from the file on disk.
 */
export class Documents<D extends TextDocumentLike> {
  readonly #host: DocumentHost<D>;
  readonly #textChanged: () => void;
  /** URI -> last use, least recently used first. */
  readonly #held = new Map<string, number>();
  /** URI -> questions of the gateway that are under way. */
  readonly #underWay = new Map<string, number>();
  readonly #own = new WeakMap<D, OwnOpen>();
  /** URI -> the document that was opened under it, until it is closed. */
  readonly #opened = new Map<string, D>();
  /** The stamp of the file whose text the document was last seen to have. */
  readonly #stamps = new WeakMap<D, string>();
  /** URI -> the language of a document that is set aside, once it is. */
  readonly #setAside = new Map<string, Promise<string | undefined>>();
  /** What waits for the next change of a document, or for its close. */
  readonly #awaited = new Map<D, Set<() => void>>();

  constructor(host: DocumentHost<D>, textChanged: () => void) {
    this.#host = host;
    this.#textChanged = textChanged;
  }

  /**
   * Opens the document, keeps it open for a while, and runs `question` on it once it has the text of its file, unless
   * somebody has changed it in the editor. When this resolves, a text that differs from the disk has been counted, so that
   * epochs read afterwards include it (D23).
   */
  useInStep<T>(uri: string, question: (document: D) => T | PromiseLike<T>): Promise<T> {
    return this.useAsItIs(uri, async (document) => {
      await this.#inStep(document);
      return question(document);
    });
  }

  /**
   * As `useInStep`, for a question that may be put twice. Nearly always the document is in step, so the question is put
   * before that is known; what it comes to is thrown away if it is not so.
   */
  use<T>(uri: string, question: (document: D) => Promise<T>): Promise<T> {
    return this.useAsItIs(uri, async (document) => {
      // As it is before the question: what is taken over while that runs is a text that it may not have been about.
      const stamp = this.#stamps.get(document);
      if (stamp !== undefined && !document.isDirty) {
        const early = question(document);
        // Nobody waits for it while the disk is looked at.
        early.catch(() => {});
        if (stamp === (await this.#host.stampOnDisk(document))) {
          return early;
        }
      }
      await this.#inStep(document);
      return question(document);
    });
  }

  /** As `useInStep`, for a question that does not depend on the text. */
  async useAsItIs<T>(uri: string, question: (document: D) => T | PromiseLike<T>): Promise<T> {
    this.#held.delete(uri);
    this.#held.set(uri, this.#host.now());
    for (const leastRecent of this.#held.keys()) {
      if (this.#held.size <= MAX_HELD) {
        break;
      }
      this.#held.delete(leastRecent);
    }
    return this.#asking(uri, async () => {
      let document: D;
      try {
        document = await this.#document(uri);
      } catch (error) {
        this.#held.delete(uri);
        throw error;
      }
      await this.#own.get(document)?.compared;
      return question(document);
    });
  }

  /** The document, opened if it is not. To ask the editor for one that is takes several looks at the disk. */
  async #document(uri: string): Promise<D> {
    const known = this.#opened.get(uri);
    if (known?.isClosed === false && !this.#setAside.has(uri)) {
      return known;
    }
    const document = await this.#host.open(uri);
    await this.#takeBack(document);
    this.#opened.set(uri, document);
    return document;
  }

  /**
   * The file is gone, or the folder with all that was in it. The editor keeps a document for minutes after that, and to a
   * language server a document that is open is a file that is there. There is no way to close it, but one to have it closed
   * for language servers: it is set aside in another language, until it is used again or somebody shows it.
   */
  async gone(uri: string): Promise<void> {
    for (const [other, document] of this.#opened) {
      const isConcerned = other === uri || other.startsWith(`${uri}/`);
      if (isConcerned && !document.isDirty && !this.#host.isShown(document) && (await this.#isGone(document))) {
        // The editor may tell it twice, and a document that is set aside is in no language to come back to.
        if (this.#setAside.has(other)) {
          continue;
        }
        this.#held.delete(other);
        const language = document.languageId;
        const setAside = this.#asking(other, () => this.#host.setLanguage(document, PLAIN)).then(
          () => language,
          // The editor has closed it meanwhile.
          () => undefined,
        );
        this.#setAside.set(other, setAside);
        await setAside;
      }
    }
  }

  /** A tab shows the document. */
  async shown(uri: string): Promise<void> {
    if (this.#setAside.has(uri)) {
      // If it cannot be taken back now, it is when it is used the next time.
      await this.#asking(uri, async () => this.#takeBack(await this.#host.open(uri))).catch(() => {});
    }
  }

  async #takeBack(document: D): Promise<void> {
    const uri = document.uri.toString();
    const language = await this.#setAside.get(uri);
    // Somebody may have given it another language since.
    if (language !== undefined && document.languageId === PLAIN) {
      await this.#host.setLanguage(document, language);
    }
    this.#setAside.delete(uri);
  }

  async #isGone(document: D): Promise<boolean> {
    return !document.isClosed && (await this.#host.stampOnDisk(document)) === undefined;
  }

  /** An open event of a `file:` document. */
  opened(document: D): void {
    if (!this.#underWay.has(document.uri.toString())) {
      this.#textChanged();
      return;
    }
    const own: OwnOpen = {
      at: this.#host.now(),
      counts: false,
      compared: this.#differsFromDisk(document).then((differs) => {
        if (differs) {
          own.counts = true;
          this.#textChanged();
        }
      }),
    };
    this.#own.set(document, own);
  }

  /** A change event of a `file:` document, of its text or of whether it is dirty. */
  changed(document: D): void {
    for (const wake of this.#awaited.get(document) ?? []) {
      wake();
    }
  }

  /** A close event of a `file:` document. */
  closed(document: D): void {
    this.changed(document);
    const own = this.#own.get(document);
    this.#own.delete(document);
    this.#opened.delete(document.uri.toString());
    if (!document.isClosed) {
      this.#textChanged();
      return;
    }
    this.#setAside.delete(document.uri.toString());
    if (own === undefined || own.counts) {
      this.#textChanged();
    } else {
      void this.#differsFromDisk(document).then((differs) => {
        if (differs) {
          this.#textChanged();
        }
      });
    }
    this.#holdOn(document.uri.toString(), own);
  }

  #holdOn(uri: string, own: OwnOpen | undefined): void {
    const used = this.#held.get(uri);
    if (used === undefined) {
      return;
    }
    const now = this.#host.now();
    const pushedOut = own !== undefined && now - own.at < LET_GO_AFTER_MS;
    if (pushedOut || now - used >= HELD_FOR_MS) {
      this.#held.delete(uri);
      return;
    }
    this.#asking(uri, () => this.#host.open(uri)).catch(() => this.#held.delete(uri));
  }

  /** Opens of this document that happen meanwhile are the gateway's own. */
  async #asking<T>(uri: string, ask: () => PromiseLike<T>): Promise<T> {
    this.#underWay.set(uri, (this.#underWay.get(uri) ?? 0) + 1);
    try {
      return await ask();
    } finally {
      const others = (this.#underWay.get(uri) ?? 1) - 1;
      if (others === 0) {
        this.#underWay.delete(uri);
      } else {
        this.#underWay.set(uri, others);
      }
    }
  }

  /** Waits while the document has not yet taken over what another program wrote into its file. Tells whether it had to. */
  async #inStep(document: D): Promise<boolean> {
    let hasWaited = false;
    let isLate = false;
    let wake = (): void => {};
    const wakeUp = (): void => wake();
    const cancel = this.#host.after(LONGEST_TAKE_OVER_MS, () => {
      isLate = true;
      wake();
    });
    const waiting = this.#awaited.get(document) ?? new Set();
    this.#awaited.set(document, waiting.add(wakeUp));
    try {
      for (;;) {
        // From before the look at the disk on, so that no change is missed.
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        if (!(await this.#isBehind(document))) {
          return hasWaited;
        }
        if (isLate) {
          throw new NotInStep();
        }
        await woken;
        hasWaited = true;
      }
    } finally {
      cancel();
      waiting.delete(wakeUp);
      if (waiting.size === 0) {
        this.#awaited.delete(document);
      }
    }
  }

  async #isBehind(document: D): Promise<boolean> {
    if (document.isDirty || document.isClosed) {
      return false;
    }
    const stamp = await this.#host.stampOnDisk(document);
    if (stamp === undefined || stamp === this.#stamps.get(document)) {
      return false;
    }
    // Somebody may have begun to type meanwhile.
    return (await this.#differsFromDisk(document)) && !document.isDirty && !document.isClosed;
  }

  async #differsFromDisk(document: D): Promise<boolean> {
    if (document.isDirty) {
      return true;
    }
    const text = document.getText();
    try {
      // In this order: what is written between the two has another stamp.
      const stamp = await this.#host.stampOnDisk(document);
      const differs = plain(text) !== plain(await this.#host.textOnDisk(document));
      if (!differs && stamp !== undefined) {
        this.#stamps.set(document, stamp);
      }
      return differs;
    } catch {
      return true;
    }
  }
}

/** The editor drops the byte order mark and gives a document one kind of line ending; neither is a change. */
function plain(text: string): string {
  return text.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
}
