// VS Code from the npm registry: code-server carries the same workbench, extension host and built-in extensions.

import { join } from "node:path";
import { cached, npmInstall, pinnedNode, withNodeFirst } from "../machine/cache.mjs";
import { ensureCompiler } from "../machine/system-packages.ts";

/** Version 4.139.1 is VS Code 1.139.1. */
const VERSION = "4.139.1";
const PACKAGE = join("node_modules", "code-server");

export interface CodeServerFiles {
  /** The Node that it accepts. */
  readonly node: string;
  /** Its command line. */
  readonly entry: string;
  /** VS Code's own server inside it, which can run tests in the extension host. */
  readonly server: string;
  /** The TypeScript that its language features use. */
  readonly tsserver: string;
}

/** code-server's files, installed if need be. */
export async function codeServer(): Promise<CodeServerFiles> {
  const { node, headers } = await pinnedNode();
  const server = join(PACKAGE, "lib", "vscode", "out", "server-main.js");
  const title = `Installing VS Code (code-server ${VERSION}), which takes a minute or two`;
  const folder = await cached(`code-server-${VERSION}`, server, title, async (partial) => {
    await ensureCompiler();
    const env = {
      ...withNodeFirst(node),
      npm_config_unsafe_perm: "true",
      // Its native modules must be compiled against this Node's headers, whatever other Node the machine has.
      npm_config_nodedir: headers,
      // node-gyp compiles one file at a time unless told otherwise.
      npm_config_jobs: "max",
    };
    await npmInstall(partial, { "code-server": VERSION }, { scripts: true, env });
  });
  const vscode = join(folder, PACKAGE, "lib", "vscode");
  return {
    node,
    entry: join(folder, PACKAGE, "out", "node", "entry.js"),
    server: join(folder, server),
    tsserver: join(vscode, "extensions", "node_modules", "typescript", "lib", "tsserver.js"),
  };
}
