// A file system of FUSE that a test can stop and let go on: whoever looks something up there meanwhile waits in the kernel,
// as on a network disk whose server has gone. It is read-only and speaks just enough of FUSE's protocol for that
// (linux/fuse.h).

import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { accessSync, close, constants, openSync, read, writeSync } from "node:fs";
import { mkdtemp, realpath, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";

const LOOKUP = 1;
const FORGET = 2;
const GETATTR = 3;
const INIT = 26;
const INTERRUPT = 36;
const BATCH_FORGET = 42;
const UNANSWERED = [FORGET, BATCH_FORGET];

const ENOENT = 2;
const EINTR = 4;
const ENODEV = 19;
const ENOSYS = 38;

const DIRECTORY = 0o040755;
const FILE = 0o100644;
/** The node of the folder that is mounted. */
const TOP = 1n;
/** More than the kernel ever sends at once to a file system that takes no writes. */
const MAX_BYTES = 128 * 1024;

interface Request {
  readonly opcode: number;
  readonly unique: bigint;
  readonly node: bigint;
  readonly argument: Buffer;
}

/** Why there can be no such disk here; undefined if there can. */
export function whyNoStoppableDisk(): string | undefined {
  try {
    accessSync("/dev/fuse", constants.R_OK | constants.W_OK);
  } catch {
    return "it takes /dev/fuse";
  }
  return process.getuid?.() === 0 ? undefined : "it takes root, who alone may mount";
}

export class StoppableDisk {
  readonly folder: string;
  readonly #nodes = new Map<bigint, { readonly isFile: boolean; readonly names: Map<string, bigint> }>();
  #device: number | undefined;
  /** Requests that came while nothing is answered. */
  #waiting: Request[] | undefined;
  #ended: Promise<void> = Promise.resolve();

  private constructor(folder: string, files: readonly string[]) {
    this.folder = folder;
    this.#add(false);
    for (const file of files) {
      const parts = file.split("/");
      let node = TOP;
      for (const [index, part] of parts.entries()) {
        const names = this.#nodes.get(node)?.names;
        const known = names?.get(part) ?? this.#add(index === parts.length - 1);
        names?.set(part, known);
        node = known;
      }
    }
  }

  /** A disk with these files, mounted in a folder of its own until the test `t` ends. */
  static async mount(t: TestContext, files: readonly string[]): Promise<StoppableDisk> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "gateway-disk-")));
    const disk = new StoppableDisk(folder, files);
    t.after(async () => {
      await disk.unmount();
      await rmdir(folder);
    });
    disk.mount();
    return disk;
  }

  /** Answers nobody from now on. */
  stop(): void {
    this.#waiting ??= [];
  }

  /** Answers everybody who waits, and everybody who comes. */
  goOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const request of waiting) {
      this.#answer(request);
    }
  }

  /** How many wait for an answer. */
  get waiting(): number {
    return this.#waiting?.length ?? 0;
  }

  mount(): void {
    const device = openSync("/dev/fuse", "r+");
    this.#device = device;
    const options = `fd=3,rootmode=${DIRECTORY.toString(8)},user_id=0,group_id=0,ro`;
    this.#ended = this.#serve(device);
    // Mounting waits for nothing that is answered here.
    check(
      spawnSync("mount", ["-i", "-t", "fuse", "-o", options, "stoppable", this.folder], {
        stdio: ["ignore", "ignore", "pipe", device],
      }),
    );
  }

  /** Takes the disk away, also from those who wait for it. */
  async unmount(): Promise<void> {
    if (this.#device === undefined) {
      return;
    }
    check(spawnSync("umount", ["-l", "-f", this.folder]));
    await this.#ended;
    await promisify(close)(this.#device);
    this.#device = undefined;
    this.#waiting = undefined;
  }

  #add(isFile: boolean): bigint {
    const node = BigInt(this.#nodes.size) + TOP;
    this.#nodes.set(node, { isFile, names: new Map() });
    return node;
  }

  async #serve(device: number): Promise<void> {
    const buffer = Buffer.alloc(MAX_BYTES);
    for (;;) {
      let length: number;
      try {
        ({ bytesRead: length } = await promisify(read)(device, buffer, 0, buffer.length, null));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).errno === -ENODEV) {
          return;
        }
        continue;
      }
      const request = {
        opcode: buffer.readUInt32LE(4),
        unique: buffer.readBigUInt64LE(8),
        node: buffer.readBigUInt64LE(16),
        argument: Buffer.from(buffer.subarray(40, length)),
      };
      if (UNANSWERED.includes(request.opcode)) {
        continue;
      }
      if (request.opcode === INTERRUPT) {
        this.#interrupt(request.argument.readBigUInt64LE(0));
      } else if (this.#waiting === undefined) {
        this.#answer(request);
      } else {
        this.#waiting.push(request);
      }
    }
  }

  /** Lets go of a process that is being killed while it waits. */
  #interrupt(unique: bigint): void {
    const at = this.#waiting?.findIndex((request) => request.unique === unique) ?? -1;
    if (at >= 0) {
      this.#waiting?.splice(at, 1);
      this.#send(unique, EINTR);
    }
  }

  #answer({ opcode, unique, node, argument }: Request): void {
    this.#send(unique, this.#body(opcode, node, argument));
  }

  #send(unique: bigint, body: Buffer | number): void {
    const head = Buffer.alloc(16);
    head.writeUInt32LE(16 + (typeof body === "number" ? 0 : body.length), 0);
    head.writeInt32LE(typeof body === "number" ? -body : 0, 4);
    head.writeBigUInt64LE(unique, 8);
    try {
      writeSync(this.#device ?? -1, typeof body === "number" ? head : Buffer.concat([head, body]));
    } catch (error) {
      // Whoever asked has been killed meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
        throw error;
      }
    }
  }

  /** What is answered, or the number of an error. */
  #body(opcode: number, node: bigint, argument: Buffer): Buffer | number {
    switch (opcode) {
      case INIT: {
        const answer = Buffer.alloc(64);
        answer.writeUInt32LE(7, 0);
        answer.writeUInt32LE(31, 4);
        answer.writeUInt32LE(4096, 20);
        return answer;
      }
      case LOOKUP: {
        const found = this.#nodes.get(node)?.names.get(argument.toString("utf8", 0, argument.indexOf(0)));
        if (found === undefined) {
          return ENOENT;
        }
        // It is valid for no time at all, so that the kernel asks each time.
        const entry = Buffer.alloc(40);
        entry.writeBigUInt64LE(found, 0);
        return Buffer.concat([entry, this.#attributes(found)]);
      }
      case GETATTR:
        return Buffer.concat([Buffer.alloc(16), this.#attributes(node)]);
      default:
        return ENOSYS;
    }
  }

  #attributes(node: bigint): Buffer {
    const attributes = Buffer.alloc(88);
    attributes.writeBigUInt64LE(node, 0);
    attributes.writeUInt32LE(this.#nodes.get(node)?.isFile === true ? FILE : DIRECTORY, 60);
    attributes.writeUInt32LE(1, 64);
    return attributes;
  }
}

function check({ status, stderr }: SpawnSyncReturns<Buffer>): void {
  if (status !== 0) {
    throw new Error(String(stderr));
  }
}
