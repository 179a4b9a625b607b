import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Native from "../native.d.ts";

/** Loads the addon, which takes some milliseconds of the extension host: not before it is needed. */
export function loadAddon(extensionFolder: string): typeof Native {
  try {
    return createRequire(join(extensionFolder, "package.json"))("./dist/native/gateway.node");
  } catch (cause) {
    throw new Error(
      `the addon for ${process.platform}-${process.arch} could not be loaded; install the build of this extension for your platform.`,
      { cause },
    );
  }
}
