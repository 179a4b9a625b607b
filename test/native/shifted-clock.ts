import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./addon-process.ts";

const SOURCE = fileURLToPath(new URL("shifted-clock.c", import.meta.url));

export const YEAR = 365 * 24 * 3_600;

/** Why no clock can be shifted here; undefined if one can. */
export function whyNoShiftedClock(): string | undefined {
  if (process.platform !== "linux") {
    return "it takes Linux";
  }
  return spawnSync("cc", ["--version"]).status === 0 ? undefined : "it takes a C compiler named cc";
}

/** The clock of processes that are started with `env`, which can be set while they run. */
export class ShiftedClock {
  readonly env: Readonly<Record<string, string>>;
  readonly #file: number;

  private constructor(library: string, file: string) {
    this.env = { LD_PRELOAD: library, SHIFTED_CLOCK: file };
    // It is mapped by those processes, so it is written in place.
    this.#file = openSync(file, "w");
    this.set(0);
  }

  static async make(t: TestContext): Promise<ShiftedClock> {
    const folder = await temporaryFolder(t);
    const library = join(folder, "shifted-clock.so");
    const { status, stderr } = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"]);
    if (status !== 0) {
      throw new Error(String(stderr));
    }
    const clock = new ShiftedClock(library, join(folder, "shift"));
    t.after(() => closeSync(clock.#file));
    return clock;
  }

  /** Sets the clock so many seconds off the right time. */
  set(seconds: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    writeSync(this.#file, bytes, 0, bytes.length, 0);
  }
}
