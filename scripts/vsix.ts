// Packs the extension for the platform that this runs on.

import { statSync } from "node:fs";
import { buildAddon } from "./addon.ts";
import { bundleExtension } from "./bundle.ts";
import { packageBinary, root, target, vsixFile } from "./layout.ts";
import { succeed } from "./processes.mjs";
import { Failure, step } from "./progress.mjs";
import { listThirdParty } from "./third-party.ts";
import { unlessUnchanged } from "./unchanged.ts";

const MAX_BYTES = 4_000_000;

const INPUTS = [
  ".vscodeignore",
  "package.json",
  "README.md",
  "CHANGELOG.md",
  "LICENSE",
  "media/*",
  "dist/native/gateway.node",
  "dist/extension/main.cjs",
  "dist/view/*",
  "dist/THIRD-PARTY-LICENSES.txt",
  "scripts/vsix.ts",
];

/** Builds what is missing and packs it. Resolves to the file and its size in bytes. */
export async function packVsix(): Promise<{ file: string; bytes: number }> {
  await Promise.all([buildAddon(), bundleExtension()]);
  await listThirdParty();
  await unlessUnchanged([vsixFile], INPUTS, () =>
    step(`Packing the extension for ${target}`, async () => {
      await succeed(
        "Packing the extension failed: mend what vsce reports above.",
        packageBinary("vsce"),
        // What is packed is decided by .vscodeignore alone, so no dependencies are looked for.
        [
          ["package", "--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links"],
          ["--target", target, "--out", vsixFile],
        ].flat(),
        { cwd: root },
      );
    }),
  );
  const bytes = statSync(vsixFile).size;
  if (bytes > MAX_BYTES) {
    throw new Failure(
      `${vsixFile} has ${bytes} bytes, more than the ${MAX_BYTES} allowed: see what .vscodeignore lets in.`,
    );
  }
  return { file: vsixFile, bytes };
}
