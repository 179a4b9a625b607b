// Builds the addon: the Rust server as a file that Node loads.

import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { addonFile, committedTypes, dist, generatedTypes, packageCommand, root } from "../layout.ts";
import { succeed } from "../machine/processes.mjs";
import { Failure, step } from "../machine/progress.mjs";
import { pythonWith } from "../machine/python.ts";
import { unlessUnchanged } from "./unchanged.ts";

export const RUST_MISSING =
  "Rust is needed to compile the addon: install rustup, or your system's cargo of version 1.88 or newer.";

const INPUTS = [
  "Cargo.toml",
  "Cargo.lock",
  "rust-toolchain.toml",
  "native/{addon,core,server}/**/*.{rs,toml}",
  "package.json",
  "harness/build/addon.ts",
];

/** Cargo's profiles: `dev` is compiled fast, for tests and for trying things out; `release` is what is shipped and measured. */
export type Profile = "dev" | "release";

/** Builds the addon into dist/native, with the types that its exports have. One there of the other profile is replaced. */
export async function buildAddon(profile: Profile): Promise<void> {
  const folder = join(dist, "native");
  mkdirSync(folder, { recursive: true });
  await unlessUnchanged([addonFile, generatedTypes], { files: INPUTS, setting: profile }, () =>
    step(`Compiling the addon (${profile})`, async () => {
      await succeed(RUST_MISSING, "cargo", ["--version"], { cwd: root }, RUST_MISSING);
      const fresh = join(folder, "fresh");
      const [node, napi] = packageCommand("@napi-rs/cli", "napi");
      await succeed(
        "Compiling the addon failed: mend what the compiler reports above.",
        node,
        [
          [napi, "build", ...(profile === "release" ? ["--release"] : [])],
          ["--manifest-path", "native/addon/Cargo.toml"],
          ["--output-dir", fresh, "--dts", "gateway.d.ts"],
        ].flat(),
        { cwd: root },
      );
      renameSync(join(fresh, "gateway.d.ts"), generatedTypes);
      // A rename, since a process that has the old addon loaded must keep the file that it has mapped.
      renameSync(join(fresh, "index.node"), addonFile);
    }),
  );
}

/** What links against a C library that is older than this machine's. */
const ZIGBUILD = "cargo-zigbuild==0.24.0";
const ZIG = "ziglang==0.17.1";

/**
 * Builds the release addon for this machine's processor so that it loads on every Linux whose glibc is of this version,
 * such as "2.28", or newer. An addon that is linked the usual way needs one nearly as new as this machine's.
 */
export async function buildAddonForGlibc(glibc: string): Promise<void> {
  const cpu = process.platform === "linux" ? CPUS.get(process.arch) : undefined;
  if (cpu === undefined) {
    throw new Failure(`--glibc is for Linux on ${[...CPUS.keys()].join(" or ")}: leave it out here.`);
  }
  // For the types, and so that nobody takes the one below for out of date.
  await buildAddon("release");
  const programs = dirname(await pythonWith(ZIGBUILD, ZIG));
  const folder = join(root, "target", "glibc");
  const triple = `${cpu}-unknown-linux-gnu`;
  await step(`Compiling the addon for glibc ${glibc}`, () =>
    succeed(
      "Compiling the addon failed: mend what the compiler reports above.",
      "cargo",
      [
        ["zigbuild", "--release", "--locked", "--manifest-path", "native/addon/Cargo.toml"],
        ["--target", `${triple}.${glibc}`, "--target-dir", folder],
      ].flat(),
      { cwd: root, env: { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` } },
      RUST_MISSING,
    ),
  );
  const built = join(folder, triple, "release", "libgateway_addon.so");
  const needed = newestGlibc(readFileSync(built));
  if (isNewer(needed, glibc)) {
    throw new Failure(`The addon needs glibc ${needed}, newer than ${glibc}: see which symbols do with objdump -T.`);
  }
  copyFileSync(built, `${addonFile}.new`);
  renameSync(`${addonFile}.new`, addonFile);
}

/** Node's names of processors, and Rust's. */
const CPUS = new Map([
  ["x64", "x86_64"],
  ["arm64", "aarch64"],
]);

/** The newest version of glibc that a compiled library names, such as "2.28"; "0" if it names none. */
export function newestGlibc(library: Buffer): string {
  const named = [...library.toString("latin1").matchAll(/GLIBC_(\d+\.\d+)/g)].map(([, version = "0"]) => version);
  return named.reduce((newest, version) => (isNewer(version, newest) ? version : newest), "0");
}

function isNewer(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) > 0;
}

/** Whether extension/native.d.ts is what the addon's source generates. */
export function typesAreUpToDate(): boolean {
  return existsSync(committedTypes) && readFileSync(committedTypes, "utf8") === readFileSync(generatedTypes, "utf8");
}

/** Writes extension/native.d.ts anew. */
export function updateTypes(): void {
  copyFileSync(generatedTypes, committedTypes);
}
