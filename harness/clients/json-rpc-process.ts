// A program that speaks JSON-RPC on its stdin and stdout, as MCP servers and language servers do.

import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { Failure } from "../machine/progress.mjs";

/** How messages are parted: a line for each, as in MCP, or a length before each, as in LSP. */
export type Framing = "lines" | "lengths";

/** How much of what the program has said on stderr is kept, to be told if it ends early. */
const KEPT_CHARACTERS = 4_096;
/** How long the program may take to end once its stdin has, before it is killed. */
const GOODBYE = 5_000;

/** The error that a request was answered with. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor({ code, message, data }: { readonly code: number; readonly message: string; readonly data?: unknown }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the method.
  readonly params?: any;
  readonly result?: unknown;
  readonly error?: ConstructorParameters<typeof RpcError>[0];
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  readonly framing: Framing;
  /** What the program's own requests are answered with; null if it is not given. */
  readonly asked?: (method: string, params: Message["params"]) => unknown;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export class JsonRpcProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #framing: Framing;
  readonly #asked: NonNullable<Command["asked"]>;
  readonly #exited: Promise<unknown>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(method: string, params: Message["params"]) => void>();
  readonly #ends = new Set<(error: Error) => void>();
  #unread = Buffer.alloc(0);
  #words = "";
  #id = 0;
  /** Why nothing is answered any more. */
  #ended: Failure | undefined;

  constructor({ program, args, framing, asked = () => null, cwd, env }: Command) {
    this.#framing = framing;
    this.#asked = asked;
    this.#process = spawn(program, [...args], {
      stdio: ["pipe", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
    });
    this.#exited = new Promise((resolve) => {
      this.#process.on("close", (code, signal) => {
        this.#fail(`${program} has ended (${signal ?? code}). ${this.#words}`);
        resolve(undefined);
      });
      this.#process.on("error", (error) => {
        this.#fail(`${program} cannot be started: ${error.message}`);
        resolve(undefined);
      });
    });
    // It may be gone by the time that something is written; its end is what is told.
    this.#process.stdin.on("error", () => {});
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#words = (this.#words + text).slice(-KEPT_CHARACTERS);
    });
    this.#process.stdout.on("data", (bytes: Buffer) => {
      this.#unread = Buffer.concat([this.#unread, bytes]);
      try {
        for (let body = this.#next(); body !== undefined; body = this.#next()) {
          this.#take(JSON.parse(body.toString("utf8")));
        }
      } catch (error) {
        this.#fail(`${program} does not speak JSON-RPC: ${error instanceof Error ? error.message : String(error)}`);
        this.#process.kill("SIGKILL");
      }
    });
  }

  /** The result. Rejects with an `RpcError` if that is the answer, and with a `Failure` if the program ends before. */
  request(method: string, params?: object): Promise<unknown> {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params?: object): void {
    this.#send({ method, params });
  }

  /** Resolves at the next notification of this method that passes. Rejects, also unheard, if the program ends before. */
  notified(method: string, passes: (params: Message["params"]) => boolean): Promise<void> {
    const heard = new Promise<void>((resolve, reject) => {
      const listener = (named: string, params: Message["params"]): void => {
        if (named === method && passes(params)) {
          this.#listeners.delete(listener);
          this.#ends.delete(reject);
          resolve();
        }
      };
      this.#listeners.add(listener);
      this.#ends.add(reject);
    });
    heard.catch(() => {});
    return heard;
  }

  /** Ends its stdin, and resolves when the program has ended. */
  async end(): Promise<void> {
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), GOODBYE);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Kills the program, which has no time to end anything. */
  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #send(message: Message): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const { stdin } = this.#process;
    if (this.#framing === "lines") {
      stdin.write(Buffer.concat([body, Buffer.from("\n")]));
    } else {
      stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]));
    }
  }

  /** Takes the next whole message off what was read. */
  #next(): Buffer | undefined {
    const { from, to, next } = this.#framing === "lines" ? lineIn(this.#unread) : bodyIn(this.#unread);
    if (next > this.#unread.length) {
      return undefined;
    }
    const body = this.#unread.subarray(from, to);
    this.#unread = this.#unread.subarray(next);
    return body;
  }

  #take({ id, method, params, result, error }: Message): void {
    if (method !== undefined && id !== undefined) {
      this.#send({ id, result: this.#asked(method, params) });
    } else if (method !== undefined) {
      for (const listener of this.#listeners) {
        listener(method, params);
      }
    } else if (typeof id === "number") {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) {
        waiting?.resolve(result);
      } else {
        waiting?.reject(new RpcError(error));
      }
    }
  }

  #fail(why: string): void {
    this.#ended ??= new Failure(why.trim());
    for (const { reject } of this.#waiting.values()) {
      reject(this.#ended);
    }
    for (const reject of this.#ends) {
      reject(this.#ended);
    }
    this.#waiting.clear();
    this.#ends.clear();
  }
}

/** Where a message lies in the bytes, and where the next one begins: beyond their end if it is not whole yet. */
interface Extent {
  readonly from: number;
  readonly to: number;
  readonly next: number;
}

const NOT_YET: Extent = { from: 0, to: 0, next: Number.POSITIVE_INFINITY };

function lineIn(bytes: Buffer): Extent {
  const end = bytes.indexOf("\n");
  return end === -1 ? NOT_YET : { from: 0, to: end, next: end + 1 };
}

function bodyIn(bytes: Buffer): Extent {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) {
    return NOT_YET;
  }
  const length = /^Content-Length: *(\d+)/im.exec(bytes.toString("latin1", 0, end))?.[1];
  if (length === undefined) {
    throw new Failure(`A message without a length: ${bytes.toString("latin1", 0, end)}`);
  }
  const from = end + "\r\n\r\n".length;
  const to = from + Number(length);
  return { from, to, next: to };
}
