// Where the bars of the latency chart stand. Drawn as SVG by us: three paths need no library.

import { MAX_SLICES, type Slice } from "./activity.ts";

export const WIDTH = MAX_SLICES * 5;
export const HEIGHT = 100;

/** Bars from left to right, the slice that is not over at the right end; as the data of SVG paths. */
export interface Chart {
  /** From the bottom to the time within which half of the calls were over. */
  readonly half: string;
  /** On from there to that of 95 in 100. */
  readonly most: string;
  /** Below slices in which a call failed. */
  readonly failed: string;
  /** The lines to read times off, in microseconds and as parts of the height. */
  readonly lines: readonly { readonly micros: number; readonly height: number }[];
}

/** A call below this is at the bottom. */
const LEAST = 100;

export function chartOf(slices: readonly Slice[], now: number): Chart {
  const shown = slices.filter(({ index }) => index > now - MAX_SLICES && index <= now);
  const most = Math.max(10_000, ...shown.map(({ p95 }) => p95));
  // Times differ by powers of ten, so each power gets the same height.
  const decades = Math.ceil(Math.log10(most / LEAST) - 1e-9);
  const heightOf = (micros: number) => Math.max(0.02, Math.log10(Math.max(micros, LEAST) / LEAST) / decades);
  const y = (micros: number) => (HEIGHT * (1 - heightOf(micros))).toFixed(1);
  const x = (index: number) => WIDTH - 2.5 - 5 * (now - index);
  return {
    half: shown.map(({ index, p50 }) => `M${x(index)} ${HEIGHT}V${y(p50)}`).join(""),
    most: shown.map(({ index, p50, p95 }) => `M${x(index)} ${y(p50)}V${y(p95)}`).join(""),
    failed: shown
      .filter(({ failed }) => failed > 0)
      .map(({ index }) => `M${x(index)} ${HEIGHT - 5}V${HEIGHT}`)
      .join(""),
    lines: Array.from({ length: decades - 1 }, (_, above) => ({
      micros: LEAST * 10 ** (above + 1),
      height: (above + 1) / decades,
    })),
  };
}

/** The slice at a part of the chart's width, or the last one left of it. */
export function sliceAt(slices: readonly Slice[], now: number, part: number): Slice | undefined {
  const index = now - MAX_SLICES + 1 + Math.floor(Math.min(part, 0.999) * MAX_SLICES);
  return slices.findLast((slice) => slice.index <= index);
}
