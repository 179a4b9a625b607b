// Skips work whose inputs are what they were when it was last done.

import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../layout.ts";

/** What something is made of. */
interface Inputs {
  /** Globs, from the root of the checkout. */
  readonly files: readonly string[];
  /** How it is made, where that differs from call to call. */
  readonly setting?: string;
}

/**
 * Does `work`, which makes `outputs` out of `inputs`, unless the outputs exist and the inputs are the same as then. Contents are compared, not times: a branch switched forth and
 * back costs nothing.
 */
export async function unlessUnchanged(
  outputs: readonly [string, ...string[]],
  inputs: Inputs,
  work: () => Promise<void>,
): Promise<void> {
  const stampFile = `${outputs[0]}.inputs`;
  const stamp = contentHash(inputs);
  const fresh =
    outputs.every((output) => existsSync(output)) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp;
  if (!fresh) {
    await work();
    writeFileSync(stampFile, stamp);
  }
}

function contentHash({ files, setting = "" }: Inputs): string {
  const hash = createHash("sha256").update(`${process.version}\0${setting}\0`);
  for (const file of globSync([...files], { cwd: root }).sort()) {
    const path = join(root, file);
    if (statSync(path).isFile()) {
      const content = readFileSync(path);
      hash.update(`${file}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex");
}
