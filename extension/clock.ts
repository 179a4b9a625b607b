/** Time as it passes, so that tests can let it pass. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Runs `work` once, after this many milliseconds, unless what it returns was called before. */
  after(milliseconds: number, work: () => void): () => void;
}

/** Waiting for anything never keeps the process alive. */
export const clock: Clock = {
  now: () => performance.now(),
  after: (milliseconds, work) => {
    const timer = setTimeout(work, milliseconds);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

export function pause(time: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    time.after(milliseconds, resolve);
  });
}
