// Asking until an answer is as it is wanted.

import { setTimeout as delay } from "node:timers/promises";

/** Between one try and the next, which leaves the machine to what is waited for. */
const PAUSE = 50;

/** Asks again and again until the answer satisfies `enough`; at the end of the patience, gives the last answer as it is. */
export async function eventually<T>(
  ask: () => Promise<T>,
  enough: (answer: T) => boolean,
  patience = 180_000,
): Promise<T> {
  const deadline = Date.now() + patience;
  for (;;) {
    try {
      const answer = await ask();
      if (enough(answer) || Date.now() > deadline) {
        return answer;
      }
    } catch (error) {
      if (Date.now() > deadline) {
        throw error;
      }
    }
    await delay(PAUSE);
  }
}
