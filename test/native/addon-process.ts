import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { TestContext } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { GatewayOptions } from "../../extension/native.d.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { Client } from "./client.ts";
import type { Commands, Report } from "./host.ts";

const HOST = fileURLToPath(new URL("host.ts", import.meta.url));

/** A real folder that is gone when the test ends; its path is free of links. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "gateway-native-")));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

interface Surroundings {
  readonly mostFiles?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The addon in a process of its own, with a folder that holds one file. */
export class AddonProcess {
  readonly options: GatewayOptions;
  /** Where the one file's symbol is, as arguments of a call. */
  readonly place: { readonly uri: string; readonly position: { readonly line: number; readonly character: number } };
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>, root: string) {
    this.#process = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.place = { uri: pathToFileURL(join(root, "main.ts")).href, position: { line: 3, character: 4 } };
    this.options = {
      version: "0.0.0",
      roots: [root],
      ignore: ["**"],
      catalog: ["v1"],
      tokens: [randomBytes(32).toString("base64url")],
      sessionKey: randomBytes(32).toString("base64url"),
      workspace: root,
      endedSessions: [],
      allowedOrigins: [],
      protocolFallback: false,
      maxItemsPerPage: 200,
      maxResponseBytes: 524_288,
      requestTimeoutMs: 2_000,
      rootsEpoch: 1_700_000_000_000,
      ports: [0],
      logLevel: "debug",
    };
  }

  /**
   * A process that has loaded the addon and started nothing yet. It ends with the test `t`.
   *
   * `mostFiles` is how many files and sockets it may have open, `env` what is added to its environment.
   */
  static async spawn(t: TestContext, { mostFiles, env }: Surroundings = {}): Promise<AddonProcess> {
    const root = join(await temporaryFolder(t), "project");
    await mkdir(root);
    await writeFile(join(root, "main.ts"), "");
    const limited = ["-c", `ulimit -n ${mostFiles} && exec "$0" "$@"`, process.execPath, HOST];
    const [program, args] = mostFiles === undefined ? [process.execPath, [HOST]] : ["sh", limited];
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
    t.after(() => child.kill("SIGKILL"));
    return new AddonProcess(child, root);
  }

  /** A process with a running gateway, and a client in a session. */
  static async serve(t: TestContext, change: Partial<GatewayOptions> = {}): Promise<[AddonProcess, Client]> {
    const addon = await AddonProcess.spawn(t);
    const port = await addon.start(change);
    return [addon, await addon.client(port)];
  }

  async start(change: Partial<GatewayOptions> = {}): Promise<number> {
    Object.assign(this.options, change);
    return Number(await this.command("start", { options: this.options }));
  }

  client(port: number): Promise<Client> {
    return Client.connect(urlOf(port), this.options.tokens[0] ?? "");
  }

  async configure(change: Partial<GatewayOptions>): Promise<void> {
    await this.command("configure", { options: { ...this.options, ...change } });
  }

  /** What was seen so far, once that is enough. */
  async report(isEnough: (report: Report) => boolean = () => true): Promise<Report> {
    const report = await eventually(() => this.command("report", {}) as Promise<Report>, isEnough);
    assert.ok(isEnough(report), JSON.stringify(report));
    return report;
  }

  /** What was seen once the log has so many such lines. Lines cross in batches, a while after they were written. */
  logged(isOne: (line: string, level: number) => boolean, count = 1): Promise<Report> {
    return this.report(({ log }) => log.filter(({ level, line }) => isOne(line, level)).length >= count);
  }

  /** Has the process do something, and resolves to what it answers once it is done. */
  async command<C extends keyof Commands>(command: C, argument: Commands[C]): Promise<unknown> {
    this.#process.stdin.write(`${JSON.stringify({ command, argument })}\n`);
    for (;;) {
      const line = await this.#next();
      if ("failed" in line) {
        throw new Error(line.failed);
      }
      if ("done" in line) {
        return line.done;
      }
    }
  }

  /** Resolves once the stand-in has been asked a question that it will not answer. */
  async asked(): Promise<void> {
    assert.ok("asked" in (await this.#next()));
  }

  /**
   * How much memory of its own the process has in RAM, in bytes, how many files and sockets it has open, and how many
   * threads it runs.
   */
  usage(): { readonly bytes: number; readonly files: number; readonly threads: number } {
    const folder = `/proc/${this.#process.pid}`;
    const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/status`, "utf8")) ?? [];
    const count = (what: string) => readdirSync(`${folder}/${what}`).length;
    return { bytes: Number(kibibytes) * 1024, files: count("fd"), threads: count("task") };
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  /** Lets go of the process, and resolves to its exit code. */
  async exit(): Promise<number | null> {
    const exited = once(this.#process, "exit");
    this.#process.stdin.end();
    const [code] = await exited;
    return code;
  }

  async #next(): Promise<{ done?: unknown; failed?: string; asked?: true }> {
    const { done, value } = await this.#lines.next();
    assert.ok(done !== true, "the process has ended");
    return JSON.parse(value);
  }
}

export function urlOf(port: number): string {
  return `http://127.0.0.1:${port}/mcp`;
}
