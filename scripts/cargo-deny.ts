// cargo-deny, compiled once for each machine and version.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { RUST_MISSING } from "../harness/build/addon.ts";
import { root } from "../harness/layout.ts";
import { cached } from "../harness/machine/cache.mjs";
import { succeed } from "../harness/machine/processes.mjs";

const VERSION = "0.20.2";

/** Its program, compiled if need be: that takes some minutes, and no clone after it has to do it again. */
export async function cargoDeny(): Promise<string> {
  const program = join("bin", process.platform === "win32" ? "cargo-deny.exe" : "cargo-deny");
  const folder = await cached(`cargo-deny-${VERSION}`, program, `Compiling cargo-deny ${VERSION}`, async (partial) => {
    const compiled = join(partial, "target");
    await succeed(
      "Compiling cargo-deny failed: read the lines above, check the connection to crates.io, and try again.",
      "cargo",
      // Without optimization it takes a fraction of the time to compile, and no more than a moment longer to run.
      [
        "install",
        "cargo-deny",
        "--version",
        VERSION,
        "--locked",
        "--debug",
        "--root",
        partial,
        "--target-dir",
        compiled,
      ],
      { cwd: root },
      RUST_MISSING,
    );
    rmSync(compiled, { recursive: true, force: true });
  });
  return join(folder, program);
}
