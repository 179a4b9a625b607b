import type { Clock } from "../clock.ts";

/**
 * What a language shows of itself: undefined where nothing does. One that is resting is ready soon, unless it begins to work
 * again before that.
 */
export type Sign = "loading" | "resting" | "ready" | undefined;

/** How long a server may have no work under way until it counts as ready. */
export const REST_MS = 750;

/**
 * How long it may have none and still be said to load. Between two phases of its start rust-analyzer was seen without any for
 * up to 20 ms: what it is asked then is asked in vain.
 */
export const PHASE_GAP_MS = 50;

/** How long a server may take to begin with its first work. */
export const FIRST_WORK_MS = 3_000;

/** `State.Running` of vscode-languageclient. */
const RUNNING = 2;

/** The request by which a server announces work, which names the part of the client that shows it. */
const ANNOUNCEMENT = "window/workDoneProgress/create";

type Token = string | number;
type Progress = { readonly kind?: string };
type HandleProgress = (token: Token, params: Progress, next: (token: Token, params: Progress) => void) => void;

/** What this module needs of a client of vscode-languageclient. */
export interface ClientLike {
  readonly state: number;
  readonly middleware: { handleWorkDoneProgress?: HandleProgress };
  onDidChangeState(listener: () => void): unknown;
}

/** What is known of the way a server works. */
export interface Manner {
  /** Whether it begins to work by itself, and not only when it is shown a document. */
  readonly beginsByItself: boolean;
  /** Whether its answers may be parts while this work is under way. */
  readonly loadsBy: (token: Token) => boolean;
}

/**
 * The work of one language server, heard of at the client that another extension has made for it.
 *
 * Of what happens there nothing is taken away and nothing is changed. To register a handler of our own with the client would
 * do that: it keeps one for each notification, the latest. Its middleware is asked for each progress that it shows, and what
 * was there before is called in its turn.
 */
export class Work {
  readonly #client: ClientLike;
  readonly #manner: Manner;
  readonly #clock: Clock;
  readonly #began: () => void;
  readonly #isHeard: boolean;
  readonly #underWay = new Set<Token>();
  #hasWorked = false;
  /** Work may be under way that began before this listened. */
  #mayHaveMissed: boolean;
  #restSince: number;

  /**
   * `began` is called when a server that was ready, or about to be, has to work again: what it answered since it came to rest
   * may be a part.
   */
  constructor(client: ClientLike, manner: Manner, clock: Clock, began: () => void) {
    this.#client = client;
    this.#manner = manner;
    this.#clock = clock;
    this.#began = began;
    this.#mayHaveMissed = client.state === RUNNING;
    this.#restSince = clock.now();
    this.#isHeard = this.#listen();
  }

  isOf(client: unknown): boolean {
    return client === this.#client;
  }

  get sign(): Sign {
    if (!this.#isHeard || this.#client.state !== RUNNING) {
      return undefined;
    }
    if (this.#mayHaveMissed) {
      const isBusy = hasWorkUnderWay(this.#client);
      if (isBusy === undefined) {
        return undefined;
      }
      this.#hasWorked ||= isBusy;
      this.#mayHaveMissed = isBusy;
      this.#restSince = this.#clock.now();
    }
    if (this.#mayHaveMissed || this.#underWay.size > 0) {
      return "loading";
    }
    if (!this.#hasWorked && !this.#manner.beginsByItself) {
      return undefined;
    }
    const hasRested = this.#clock.now() - this.#restSince;
    if (!this.#hasWorked) {
      return hasRested >= FIRST_WORK_MS ? "ready" : "loading";
    }
    return hasRested >= REST_MS ? "ready" : hasRested >= PHASE_GAP_MS ? "resting" : "loading";
  }

  #listen(): boolean {
    const { middleware } = this.#client;
    const theirs = middleware.handleWorkDoneProgress;
    middleware.handleWorkDoneProgress = (token, params, next) => {
      this.#hear(token, params.kind);
      if (theirs === undefined) {
        next(token, params);
      } else {
        theirs.call(middleware, token, params, next);
      }
    };
    this.#client.onDidChangeState(() => {
      if (this.#hasWorked) {
        this.#began();
      }
      this.#underWay.clear();
      this.#hasWorked = false;
      this.#mayHaveMissed = false;
      this.#restSince = this.#clock.now();
    });
    // A client that was made without middleware may give out an object that it does not keep.
    return this.#client.middleware === middleware;
  }

  #hear(token: Token, kind: string | undefined): void {
    if (!this.#manner.loadsBy(token)) {
      return;
    }
    if (kind === "end") {
      this.#underWay.delete(token);
      this.#hasWorked = true;
      this.#restSince = this.#clock.now();
    } else if (!this.#underWay.has(token)) {
      const sign = this.sign;
      this.#underWay.add(token);
      if (sign === "ready" || sign === "resting") {
        this.#began();
      }
    }
  }
}

/** Whether the client shows work, as it keeps for itself; undefined if that cannot be read. */
function hasWorkUnderWay(client: ClientLike): boolean | undefined {
  const { _features: features } = client as { readonly _features?: unknown };
  for (const feature of Array.isArray(features) ? features : []) {
    const state: { readonly id?: unknown; readonly registrations?: unknown } | undefined = feature?.getState?.();
    if (state?.id === ANNOUNCEMENT && typeof state.registrations === "boolean") {
      return state.registrations;
    }
  }
  return undefined;
}
