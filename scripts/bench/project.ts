// A folder of many small files, with real paths that all have the same length.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Failure } from "../../harness/machine/progress.mjs";

/** How long every path is, in bytes. */
export const PATH_BYTES = 80;

const FILES_IN_A_FOLDER = 50;

export class Project {
  readonly root: string;
  readonly files: readonly string[];

  constructor(count: number) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "gateway-bench-")));
    this.files = Array.from({ length: count }, (_, index) => this.#add(index));
  }

  /** A path of the wished length; its folder and file are there afterwards. */
  #add(index: number): string {
    const folder = join(this.root, "packages", `package-${Math.floor(index / FILES_IN_A_FOLDER)}`, "src");
    const name = `-${index}.ts`;
    const filling = PATH_BYTES - Buffer.byteLength(join(folder, name));
    if (filling < 1) {
      throw new Failure(`Paths in ${tmpdir()} are too long to be measured: set TMPDIR to a shorter one.`);
    }
    const file = join(folder, `${"m".repeat(filling)}${name}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    return file;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
