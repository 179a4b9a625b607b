// The rows of the benchmark and how they are shown. Every row is a ratio of two figures of one run, or a share of a limit,
// so that it says as much on a slow machine as on a fast one.

/** The fewest rounds whose median counts. */
export const ROUNDS = 7;

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly bar: number;
  /** Which side of the bar is the good one. */
  readonly sense: "at least" | "at most";
  /** What the bar is counted in, where it is not a ratio. */
  readonly unit?: string;
}

/** A row as `--json` writes it. */
export interface WrittenRow {
  readonly name: string;
  readonly value: number;
  readonly bar: number;
  readonly met: boolean;
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** The median of the ratios of figures that were taken next to each other, so that what slows both cancels out. */
export function medianRatio(values: readonly number[], references: readonly number[]): number {
  return median(values.map((value, round) => value / (references[round] ?? Number.NaN)));
}

/** By how much `values` rise from one to the next, on the line that fits them best. */
export function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let products = 0;
  let squares = 0;
  for (const [index, value] of values.entries()) {
    products += (index - middle) * (value - mean);
    squares += (index - middle) ** 2;
  }
  return products / squares;
}

/** A figure that could not be had, such as one divided by nothing, meets no bar. */
export function isMet({ value, bar, sense }: Row): boolean {
  return sense === "at least" ? value >= bar : value <= bar;
}

export function written(rows: readonly Row[]): WrittenRow[] {
  return rows.map((row) => ({ name: row.name, value: row.value, bar: row.bar, met: isMet(row) }));
}

/** A table of Markdown, which reads well in a terminal too. */
export function table(rows: readonly Row[]): string {
  const cells = [
    ["what", "value", "bar", "met"],
    ...rows.map((row) => {
      const unit = row.unit === undefined ? "" : ` ${row.unit}`;
      return [row.name, `${digits(row.value)}${unit}`, `${row.sense} ${row.bar}${unit}`, isMet(row) ? "yes" : "NO"];
    }),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}

function digits(value: number): string {
  return value.toFixed(Math.abs(value) < 0.1 ? 4 : 2);
}
