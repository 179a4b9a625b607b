// Skips work whose inputs are what they were when it was last done.

import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./layout.ts";

/**
 * Does `work`, which makes `outputs` out of the files that `inputs` (globs, from the root of the checkout) name, unless
 * the outputs exist and the inputs are the same as then. Contents are compared, not times: a branch switched forth and
 * back costs nothing.
 */
export async function unlessUnchanged(
  outputs: readonly [string, ...string[]],
  inputs: readonly string[],
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

function contentHash(globs: readonly string[]): string {
  const hash = createHash("sha256").update(process.version);
  for (const file of globSync([...globs], { cwd: root }).sort()) {
    const path = join(root, file);
    if (statSync(path).isFile()) {
      const content = readFileSync(path);
      hash.update(`${file}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex");
}
