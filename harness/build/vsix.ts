// Packs the extension for the platform that this runs on.

import { cpSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dist, packageCommand, root, target, vsixFile } from "../layout.ts";
import { succeed } from "../machine/processes.mjs";
import { Failure, step } from "../machine/progress.mjs";
import { buildAddon, type Profile } from "./addon.ts";
import { bundleExtension } from "./bundle.ts";
import { listThirdParty } from "./third-party.ts";
import { unlessUnchanged } from "./unchanged.ts";

/** Of what is shipped. What is compiled fast is larger. */
const MAX_BYTES = 4_000_000;

const README = "README.md";
/** What is packed, and what says so to vsce. */
const PACKED = [
  ".vscodeignore",
  "package.json",
  README,
  "CHANGELOG.md",
  "LICENSE",
  "media/*",
  "dist/native/gateway.node",
  "dist/extension/main.cjs",
  "dist/view/*",
  "dist/THIRD-PARTY-LICENSES.txt",
];

/** A state of the sources that is published on GitHub. */
export interface Published {
  /** Owner and name. */
  readonly repository: string;
  /** A tag, a branch or a commit. */
  readonly ref: string;
}

/**
 * Builds what is missing and packs it. Resolves to the file and its size in bytes. The links and pictures of the README
 * lead to the published sources, if there are any.
 */
export async function packVsix(profile: Profile, published?: Published): Promise<{ file: string; bytes: number }> {
  await Promise.all([buildAddon(profile), bundleExtension()]);
  await listThirdParty();
  if (published === undefined) {
    await unlessUnchanged([vsixFile], { files: [...PACKED, "harness/build/vsix.ts"] }, () =>
      pack(["--no-rewrite-relative-links"], true),
    );
  } else {
    // Nobody is to take this one for the usual one.
    rmSync(`${vsixFile}.inputs`, { force: true });
    await pack(linksTo(published), false);
  }
  const bytes = statSync(vsixFile).size;
  if (profile === "release" && bytes > MAX_BYTES) {
    throw new Failure(
      `${vsixFile} has ${bytes} bytes, more than the ${MAX_BYTES} allowed: see what .vscodeignore lets in.`,
    );
  }
  return { file: vsixFile, bytes };
}

function linksTo({ repository, ref }: Published): string[] {
  return [
    ["--baseContentUrl", `https://github.com/${repository}/blob/${ref}`],
    ["--baseImagesUrl", `https://raw.githubusercontent.com/${repository}/${ref}`],
  ].flat();
}

async function pack(links: readonly string[], withoutPictures: boolean): Promise<void> {
  await step(`Packing the extension for ${target}`, async () => {
    const folder = join(dist, "package");
    rmSync(folder, { recursive: true, force: true });
    for (const file of globSync(PACKED, { cwd: root })) {
      cpSync(join(root, file), join(folder, file));
    }
    if (withoutPictures) {
      // The editor and the marketplace show pictures in a README by absolute https addresses alone.
      const readme = join(folder, README);
      writeFileSync(readme, readFileSync(readme, "utf8").replaceAll(/^!\[[^\]]*\]\(media\/[^)]*\)\n+/gm, ""));
    }
    const [node, vsce] = packageCommand("@vscode/vsce", "vsce");
    await succeed(
      "Packing the extension failed: mend what vsce reports above.",
      node,
      // What is packed is decided by .vscodeignore alone, so no dependencies are looked for.
      [
        [vsce, "package", "--no-dependencies", "--allow-missing-repository", ...links],
        ["--target", target, "--out", vsixFile],
      ].flat(),
      { cwd: folder },
    );
  });
}
