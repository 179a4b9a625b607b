// How long JavaScript's thread takes to pack references, and how long a loop takes that only reads them.

import { packLocations } from "../../extension/boundary/rows.ts";
import { type Location, references } from "./vscode-objects.ts";

/** Milliseconds of each round, by size: of all sets of that size together, which hold as many references every time. */
export interface PackingTimes {
  readonly packing: readonly number[];
  readonly loop: readonly number[];
}

interface Order {
  readonly files: readonly string[];
  /** Each divides the largest. */
  readonly sizes: readonly number[];
  readonly rounds: number;
}

/**
 * Rounds that come first and do not count, until the engine has compiled what it runs. Nothing collects garbage by force
 * in between: that would throw the compiled code away as well, which holds on to shapes of objects that are gone.
 */
const WARM_UP = 6;

export function timePacking({ files, sizes, rounds }: Order): PackingTimes[] {
  const largest = Math.max(...sizes);
  const times = sizes.map(() => ({ packing: [] as number[], loop: [] as number[] }));
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const [index, size] of sizes.entries()) {
      const ofSize = files.slice(0, (files.length * size) / largest);
      const make = () => Array.from({ length: largest / size }, () => references(ofSize, size));
      const sets = { packing: make(), loop: make() };
      const measured = { packing: 0, loop: 0 };
      // Each has objects of its own, and what comes second finds the processor's caches full of the first's.
      for (const what of round % 2 === 0 ? (["packing", "loop"] as const) : (["loop", "packing"] as const)) {
        measured[what] = time(sets[what], what === "packing" ? packLocations : read);
      }
      if (round >= 0) {
        times[index]?.packing.push(measured.packing);
        times[index]?.loop.push(measured.loop);
      }
    }
  }
  return times;
}

function time(sets: readonly Location[][], work: (set: Location[]) => unknown): number {
  const begun = performance.now();
  for (const set of sets) {
    if (work(set) === undefined) {
      throw new Error("nothing was done");
    }
  }
  return performance.now() - begun;
}

/** Reads the five fields of each: the text of the URI and four numbers. */
function read(locations: readonly Location[]): number {
  let sum = 0;
  for (const { uri, range } of locations) {
    sum += uri.toString().length + range.start.line + range.start.character + range.end.line + range.end.character;
  }
  return sum;
}
