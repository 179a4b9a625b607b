// The Rust side of the benchmark: native/bench.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { RUST_MISSING } from "../../harness/build/addon.ts";
import { root } from "../../harness/layout.ts";
import { succeed } from "../../harness/machine/processes.mjs";
import { Failure, step } from "../../harness/machine/progress.mjs";

const PROGRAM = join(root, "target", "release", process.platform === "win32" ? "gateway-bench.exe" : "gateway-bench");

export async function buildRustBench(): Promise<void> {
  await step("Compiling the Rust side of the benchmark", () =>
    succeed(
      "Compiling the Rust side of the benchmark failed: mend what the compiler reports above.",
      "cargo",
      ["build", "--release", "--locked", "--package", "gateway-bench"],
      { cwd: root },
      RUST_MISSING,
    ),
  );
}

/** One order to the load generator; see native/bench/src/load.rs. */
export interface Load {
  readonly port: number;
  readonly connections: number;
  readonly requests: readonly string[];
  readonly millis: number;
  readonly most: number;
}

export interface LoadReport {
  readonly count: number;
  readonly seconds: number;
  /** Of one answer, in microseconds. */
  readonly p50: number;
  /** Of one answer, in microseconds. */
  readonly p99: number;
}

/** A program of native/bench that runs until it is ended, or this process is gone. */
export class RustProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(...args: readonly string[]) {
    this.#process = spawn(PROGRAM, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** A server that returns so many bytes, to anybody or only to who has the token; and its port. */
  static async floor(bytes: number, ...token: readonly string[]): Promise<{ process: RustProcess; port: number }> {
    const floor = new RustProcess("floor", String(bytes), ...token);
    return { process: floor, port: Number(await floor.#next()) };
  }

  /** Has a load generator put a load on a server. */
  async load(load: Load): Promise<LoadReport> {
    this.#process.stdin.write(`${JSON.stringify(load)}\n`);
    return JSON.parse(await this.#next());
  }

  /** Hands over all that the program is to read, and resolves to the one line that it prints. */
  async answer<Answer>(order: object): Promise<Answer> {
    this.#process.stdin.end(JSON.stringify(order));
    return JSON.parse(await this.#next());
  }

  end(): void {
    this.#process.stdin.end();
  }

  async #next(): Promise<string> {
    const { done, value } = await this.#lines.next();
    if (done === true) {
      throw new Failure("The Rust side of the benchmark has ended early; its last words stand above.");
    }
    return value;
  }
}
