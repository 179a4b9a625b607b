// Where things are in the checkout. Everything that is built lies under dist/ and target/, outside git.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const dist = join(root, "dist");

export const addonFile = join(dist, "native", "gateway.node");
/** The types as the last build of the addon generated them; the committed copy is `committedTypes`. */
export const generatedTypes = join(dist, "native", "gateway.d.ts");
export const committedTypes = join(root, "extension", "native.d.ts");
export const bundleFile = join(dist, "extension", "main.cjs");
/** The page of the activity view. */
export const pageFiles = [join(dist, "view", "page.js"), join(dist, "view", "page.css")] as const;
/** The licences of what is built into the extension. */
export const thirdPartyFile = join(dist, "THIRD-PARTY-LICENSES.txt");
/** Language servers by the names that people know them by: a folder for PATH. */
export const serversFolder = join(dist, "servers");
export const screenshots = join(dist, "screenshots");

interface Manifest {
  readonly displayName: string;
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
}

export const manifest: Manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
export const extensionId = `${manifest.publisher}.${manifest.name}`;

/** What vsce calls the platform that this runs on. */
export const target = `${process.platform}-${process.arch === "arm" ? "armhf" : process.arch}`;
export const vsixFile = join(dist, `${manifest.name}-${target}.vsix`);

/**
 * How a command of a package in node_modules is run: Node, and the script as its first argument. The file in `.bin` is
 * none that Windows runs.
 */
export function packageCommand(packageName: string, command: string): [program: string, script: string] {
  const folder = join(root, "node_modules", packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return [process.execPath, join(folder, typeof bin === "string" ? bin : bin[command])];
}
