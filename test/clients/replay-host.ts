import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

const REPLAY = fileURLToPath(new URL("../../replay/main.ts", import.meta.url));

/** A real folder that is gone when the test ends. Its path is free of links, so that it is its own real path. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "gateway-clients-")));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** The gateway in a process of its own, in front of answers read from a file. */
export class ReplayHost {
  readonly url: URL;
  readonly token: string;
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #applied = 0;

  private constructor(child: ChildProcess, lines: AsyncIterator<string>, ready: { url: string; token: string }) {
    this.#process = child;
    this.#lines = lines;
    this.url = new URL(ready.url);
    this.token = ready.token;
  }

  /** Starts a host that lives as long as the test `t`. */
  static async start(
    t: TestContext,
    options: { roots: string[]; provider: object; settings?: Record<string, string> },
  ): Promise<ReplayHost> {
    const file = path.join(await temporaryFolder(t), "provider.json");
    await writeFile(file, JSON.stringify(options.provider));
    const settings = Object.entries(options.settings ?? {}).flatMap(([name, value]) => [
      "--setting",
      `${name}=${value}`,
    ]);
    // A process group of its own, because the host promises to end on a signal to its group.
    const child = spawn(
      process.execPath,
      [REPLAY, "--roots", options.roots.join(","), "--provider", file, ...settings],
      {
        detached: true,
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    t.after(() => stop(child));
    const lines = readLines(child);
    const first = await lines.next();
    if (first.done === true) throw new Error("The replay host ended before it was ready.");
    return new ReplayHost(child, lines, JSON.parse(first.value));
  }

  get authorization(): string {
    return `Bearer ${this.token}`;
  }

  /** Changes the running host, and returns once the change is in effect. */
  async change(line: object): Promise<void> {
    this.#process.stdin?.write(`${JSON.stringify(line)}\n`);
    this.#applied += 1;
    const answer = await this.#lines.next();
    if (answer.done === true || JSON.parse(answer.value).applied !== this.#applied) {
      throw new Error(`The replay host did not apply ${JSON.stringify(line)}.`);
    }
  }
}

function readLines(child: ChildProcess): AsyncIterator<string> {
  if (child.stdout === null) throw new Error("The replay host was started without its output.");
  const lines: Interface = createInterface({ input: child.stdout });
  return lines[Symbol.asyncIterator]();
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, "SIGTERM");
  await ended;
}
