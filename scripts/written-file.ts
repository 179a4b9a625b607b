// Committed files that scripts write, whole or in part: written anew, or compared with what would be written.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/layout.ts";
import { say } from "../harness/machine/progress.mjs";

/** Writes the file, or with `--check` on the command line leaves it alone and fails if it would change. */
export function writeOrCheck(file: string, content: string, command: string): void {
  const path = join(root, file);
  const current = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (current === content) {
    return;
  }
  if (process.argv.includes("--check")) {
    say(`${file} is not what \`${command}\` writes: run it and look at the difference.`);
    process.exitCode = 1;
    return;
  }
  writeFileSync(path, content);
  say(`wrote ${file}`);
}
