/** Time as it passes, so that tests can let it pass. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Runs `work` once, after this many milliseconds, unless what it returns was called before. */
  after(milliseconds: number, work: () => void): () => void;
}

/** What takes longer to show that it is ready is waited for by itself, so that whoever asked knows what takes so long. */
export const AT_ONCE_MS = 50;

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

/** What the promise comes to within this time, else this. The promise must not be rejected. */
export function within<T>(time: Clock, milliseconds: number, promise: Promise<T>, otherwise: T): Promise<T> {
  return new Promise((resolve) => {
    const cancel = time.after(milliseconds, () => resolve(otherwise));
    void promise.then((value) => {
      cancel();
      resolve(value);
    });
  });
}
