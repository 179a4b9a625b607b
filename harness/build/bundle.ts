// Bundles the extension into the one file that VS Code loads.

import { dirname, join } from "node:path";
import { build } from "esbuild";
import { bundleFile, pageFiles, root } from "../layout.ts";
import { step } from "../machine/progress.mjs";
import { unlessUnchanged } from "./unchanged.ts";

const INPUTS = ["extension/**/*.ts", "view/*", "package.json", "package-lock.json", "harness/build/bundle.ts"];

/** Bundles extension/main.ts into dist/extension/main.cjs, and the page of its view beside it. */
export async function bundleExtension(): Promise<void> {
  await unlessUnchanged([bundleFile, ...pageFiles], { files: INPUTS }, () =>
    step("Bundling the extension", async () => {
      await Promise.all([bundle(join(root, "extension", "main.ts"), bundleFile), bundlePage()]);
    }),
  );
}

/** Bundles the script and the style of the activity view, for the Chromium of the oldest VS Code that runs us. */
async function bundlePage(): Promise<void> {
  await build({
    entryPoints: ["page.ts", "page.css"].map((name) => join(root, "view", name)),
    outdir: dirname(pageFiles[0]),
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    target: "chrome134",
    tsconfig: join(root, "view", "tsconfig.json"),
    logLevel: "warning",
  });
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
