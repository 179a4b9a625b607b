// TypeScript's own compiler, as Debian has its sources: files of up to 46,000 lines.

import { cpSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { cached } from "../machine/cache.mjs";
import { succeed } from "../machine/processes.mjs";
import { Failure } from "../machine/progress.mjs";

const VERSION = "4.8.4+ds1-2";
const SOURCES = "/etc/apt/sources.list.d/debian.sources";
const COMPILER = join("src", "compiler");

const TSCONFIG = {
  compilerOptions: { strict: true, target: "ES2019", module: "none", lib: ["ES2019", "DOM"], types: [] },
  include: ["src/**/*.ts"],
};

/** Copies the sources of TypeScript's compiler, and of all that is made of it, into the folder. */
export async function copyTypescriptCompiler(folder: string): Promise<void> {
  const key = `typescript-sources-${VERSION.replace(/\+.*/, "")}`;
  const download = await cached(key, join(COMPILER, "checker.ts"), `Downloading TypeScript's sources`, fill);
  cpSync(join(download, "src"), join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
}

async function fill(partial: string): Promise<void> {
  const failed =
    "TypeScript's sources come from Debian's source packages: on Debian, read the lines above, and try again.";
  let sources: string;
  try {
    sources = readFileSync(SOURCES, "utf8");
  } catch {
    throw new Failure(failed);
  }
  // The system's own lists, and what it knows of packages, stay as they are.
  writeFileSync(join(partial, "own.sources"), sources.replaceAll(/^Types:.*$/gm, "Types: deb-src"));
  await mkdir(join(partial, "lists", "partial"), { recursive: true });
  const own = [
    ["Dir::Etc::SourceList", join(partial, "own.sources")],
    ["Dir::Etc::SourceParts", "/dev/null"],
    ["Dir::State::Lists", join(partial, "lists")],
  ].flatMap(([name, value]) => ["--option", `${name}=${value}`]);
  await succeed(failed, "apt-get", [...own, "update"], { cwd: partial }, failed);
  const source = ["source", "--download-only", `node-typescript=${VERSION}`];
  await succeed(failed, "apt-get", [...own, ...source], { cwd: partial }, failed);
  const [archive] = globSync("*.orig.tar.xz", { cwd: partial });
  if (archive === undefined) {
    throw new Failure(failed);
  }
  const parts = ["--strip-components=1", "--wildcards", "--exclude=*/src/lib", "--exclude=*/src/loc", "*/src"];
  await succeed(failed, "tar", ["-xf", archive, ...parts], { cwd: partial }, failed);
}
