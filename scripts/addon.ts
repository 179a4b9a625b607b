// Builds the addon: the Rust server as a file that Node loads.

import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { addonFile, committedTypes, dist, generatedTypes, packageBinary, root } from "./layout.ts";
import { succeed } from "./processes.mjs";
import { step } from "./progress.mjs";
import { unlessUnchanged } from "./unchanged.ts";

export const RUST_MISSING =
  "Rust is needed to compile the addon: install rustup, or your system's cargo of version 1.88 or newer.";

const INPUTS = [
  "Cargo.toml",
  "Cargo.lock",
  "rust-toolchain.toml",
  "native/{addon,core,server}/**/*.{rs,toml}",
  "schemas/**/*.json",
  "package.json",
  "scripts/addon.ts",
];

/** Builds the release addon into dist/native, with the types that its exports have. */
export async function buildAddon(): Promise<void> {
  const folder = join(dist, "native");
  mkdirSync(folder, { recursive: true });
  await unlessUnchanged([addonFile, generatedTypes], INPUTS, () =>
    step("Compiling the addon", async () => {
      await succeed(RUST_MISSING, "cargo", ["--version"], { cwd: root }, RUST_MISSING);
      const fresh = join(folder, "fresh");
      await succeed(
        "Compiling the addon failed: mend what the compiler reports above.",
        packageBinary("napi"),
        [
          ["build", "--release", "--manifest-path", "native/addon/Cargo.toml"],
          ["--output-dir", fresh, "--dts", "gateway.d.ts"],
        ].flat(),
        { cwd: root },
      );
      renameSync(join(fresh, "gateway.d.ts"), generatedTypes);
      // A rename, since a process that has the old addon loaded must keep the file that it has mapped.
      renameSync(join(fresh, "index.node"), addonFile);
    }),
  );
}

/** Whether extension/native.d.ts is what the addon's source generates. */
export function typesAreUpToDate(): boolean {
  return existsSync(committedTypes) && readFileSync(committedTypes, "utf8") === readFileSync(generatedTypes, "utf8");
}

/** Writes extension/native.d.ts anew. */
export function updateTypes(): void {
  copyFileSync(generatedTypes, committedTypes);
}
