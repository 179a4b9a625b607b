import type { Clock } from "../clock.ts";
import type { News } from "../native.d.ts";

/** How often it polls for news. */
const PERIOD_MILLIS = 1_000;
/** How often if there are more than anybody can read: once for each point of the chart. */
const BUSY_PERIOD_MILLIS = 5_000;
/** From so many calls between two polls on there are. */
const BUSY_CALLS = 50;

/** Where news come from: a gateway, for as long as it is the same one. */
export interface Source {
  news(seen: number, slice: number): News;
}

export interface Parts {
  readonly clock: Clock;
  /** The gateway that runs, if one does. */
  source(): Source | undefined;
  /** `fresh`: whether these are all news that there are, and what was told before is over. */
  tell(json: string, fresh: boolean): void;
}

/** Tells the news of the gateway while somebody wants them, and otherwise does nothing at all. */
export class Poller {
  readonly #parts: Parts;
  #stop: (() => void) | undefined;
  #source: Source | undefined;
  #seen = 0;
  #slice = 0;
  #isBusy = false;
  #told = "";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Tells everything anew, and from then on what changes. */
  start(): void {
    this.stop();
    this.#source = undefined;
    this.poll();
    this.#wait();
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Tells what is new now. */
  poll(): void {
    const source = this.#parts.source();
    const isFresh = source !== this.#source;
    if (isFresh) {
      this.#source = source;
      this.#seen = 0;
      this.#slice = 0;
      this.#told = "";
    }
    if (source === undefined) {
      return;
    }
    const { seen, slice, json } = source.news(this.#seen, this.#slice);
    // What was there before says nothing of how much comes in.
    this.#isBusy = !isFresh && seen - this.#seen >= BUSY_CALLS;
    this.#seen = seen;
    this.#slice = slice;
    if (json !== this.#told) {
      this.#told = json;
      this.#parts.tell(json, isFresh);
    }
  }

  #wait(): void {
    this.#stop = this.#parts.clock.after(this.#isBusy ? BUSY_PERIOD_MILLIS : PERIOD_MILLIS, () => {
      this.poll();
      this.#wait();
    });
  }
}
