import type { Clock } from "../../extension/clock.ts";

/** Time that passes when a test lets it. */
export class FakeClock implements Clock {
  time = 0;
  readonly #due = new Set<{ readonly at: number; readonly work: () => void }>();

  readonly now = (): number => this.time;

  readonly after = (milliseconds: number, work: () => void): (() => void) => {
    const entry = { at: this.time + milliseconds, work };
    this.#due.add(entry);
    return () => this.#due.delete(entry);
  };

  /** How many timers run. */
  get timers(): number {
    return this.#due.size;
  }

  /** Lets time pass; between one timer and the next, everything that is under way comes to its end. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    await settled();
    for (;;) {
      const [next] = [...this.#due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) {
        break;
      }
      this.#due.delete(next);
      this.time = Math.max(this.time, next.at);
      next.work();
      await settled();
    }
    this.time = end;
  }
}

/** Lets everything that is under way come to its end. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
