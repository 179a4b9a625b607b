// Bundles the extension into the one file that VS Code loads.

import { join } from "node:path";
import { build } from "esbuild";
import { bundleFile, root } from "./layout.ts";
import { step } from "./progress.mjs";
import { unlessUnchanged } from "./unchanged.ts";

const INPUTS = ["extension/**/*.ts", "package.json", "package-lock.json", "scripts/bundle.ts"];

/** Bundles extension/main.ts into dist/extension/main.cjs. */
export async function bundleExtension(): Promise<void> {
  await unlessUnchanged([bundleFile], INPUTS, () =>
    step("Bundling the extension", () => bundle(join(root, "extension", "main.ts"), bundleFile)),
  );
}

/** Bundles an extension into one file that VS Code can load. */
export async function bundle(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    minify: true,
    // The names of errors and classes are read in logs.
    keepNames: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    // The editor provides `vscode`.
    external: ["vscode"],
    logLevel: "warning",
  });
}
