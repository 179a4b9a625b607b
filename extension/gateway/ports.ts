import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

const FOLLOWING = 20;
const FIRST_PORT = 1024;
const LAST_PORT = 65535;

/** Two windows on the same folder have two ports, and some program may have had the one before. */
const MAX_PORTS = 4;
/** Workspaces that are remembered, those that were open last. */
const MAX_WORKSPACES = 64;

/** The port that the settings name. */
export interface Wish {
  readonly port: number;
  /** Whether the workspace's own settings name it, and not those for all workspaces. */
  readonly ofWorkspace: boolean;
}

/** What is remembered of one workspace. */
export interface KeptPorts {
  /** What the settings named then. */
  readonly wished: number;
  /** Those that it had, the newest first. */
  readonly ports: readonly number[];
}

/**
 * The ports to try, in order (D49): those that this workspace had, so that its clients find it again; then the wished one
 * and the following 20, without those that other workspaces had, so that theirs find them again; then these, from the one
 * whose workspace was open longest ago. A wish comes before what the workspace had if it is a new one or the workspace's
 * own.
 */
export function portCandidates(wish: Wish, kept?: KeptPorts, ofOthers: readonly number[] = []): number[] {
  const last = Math.min(wish.port + FOLLOWING, LAST_PORT);
  const around = Array.from({ length: last - wish.port + 1 }, (_, offset) => wish.port + offset);
  const had = kept?.ports ?? [];
  return [
    ...new Set([
      ...(wish.ofWorkspace ? [wish.port] : []),
      ...(kept?.wished === wish.port ? had : []),
      ...around.filter((port) => !ofOthers.includes(port)),
      ...had,
      ...ofOthers.filter((port) => around.includes(port)).reverse(),
    ]),
  ];
}

/**
 * Which workspace of this machine had which ports. Each has a file of its own, so that windows which start at once do not
 * write over what the others remember.
 */
export class Ports {
  readonly #folder: string;
  readonly #workspace: string;

  /** `workspace` is an identity that can be the name of a file. */
  constructor(folder: string, workspace: string) {
    this.#folder = folder;
    this.#workspace = `${workspace}.json`;
  }

  /** The ports to try, and the one that this workspace had last. */
  async find(wish: Wish): Promise<{ candidates: number[]; last: number | undefined }> {
    const [kept, ofOthers] = await Promise.all([this.#read(this.#workspace), this.#ofOthers()]);
    return { candidates: portCandidates(wish, kept, ofOthers), last: kept?.ports[0] };
  }

  /** Keeps the port for this workspace. Resolves once that is written down. */
  async keep(wish: Wish, port: number): Promise<void> {
    const kept = await this.#read(this.#workspace);
    const had = kept?.wished === wish.port ? kept.ports.filter((other) => other !== port) : [];
    const record: KeptPorts = { wished: wish.port, ports: [port, ...had].slice(0, MAX_PORTS) };
    const file = join(this.#folder, this.#workspace);
    await mkdir(this.#folder, { recursive: true });
    // A rename, so that no window reads half of it.
    await writeFile(`${file}.${process.pid}`, JSON.stringify(record));
    await rename(`${file}.${process.pid}`, file);
    const files = await this.#files();
    await Promise.all(files.slice(MAX_WORKSPACES).map((name) => rm(join(this.#folder, name), { force: true })));
  }

  /** The newest first. */
  async #ofOthers(): Promise<number[]> {
    const files = (await this.#files()).filter((name) => name.endsWith(".json") && name !== this.#workspace);
    const all = await Promise.all(files.slice(0, MAX_WORKSPACES).map((name) => this.#read(name)));
    return all.flatMap((kept) => kept?.ports ?? []);
  }

  /** The names of all files, the one that was written last first. */
  async #files(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const written = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.#folder, name)).catch(() => undefined))?.mtimeMs })),
    );
    return written.toSorted((one, other) => (other.at ?? 0) - (one.at ?? 0)).map(({ name }) => name);
  }

  async #read(name: string): Promise<KeptPorts | undefined> {
    let value: unknown;
    try {
      value = JSON.parse(await readFile(join(this.#folder, name), "utf8"));
    } catch {
      return undefined;
    }
    if (typeof value !== "object" || value === null || !("wished" in value) || !("ports" in value)) {
      return undefined;
    }
    const { wished, ports } = value;
    return isPort(wished) && Array.isArray(ports) ? { wished, ports: ports.filter(isPort) } : undefined;
  }
}

function isPort(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= FIRST_PORT && value <= LAST_PORT;
}
