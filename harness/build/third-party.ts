// Lists what others have written of what is shipped, with the licences that it is under.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { root, thirdPartyFile } from "../layout.ts";
import { succeed } from "../machine/processes.mjs";
import { Failure, step } from "../machine/progress.mjs";
import { RUST_MISSING } from "./addon.ts";
import { unlessUnchanged } from "./unchanged.ts";

/** One crate or package that is built into what is shipped. */
export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** The texts that come with it. */
  readonly texts: readonly string[];
}

interface CargoPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string | null;
  readonly manifest_path: string;
  readonly source: string | null;
}

const INPUTS = [
  "Cargo.lock",
  "Cargo.toml",
  "native/*/Cargo.toml",
  "package-lock.json",
  "extension/**/*.ts",
  "harness/build/third-party.ts",
];

const INTRODUCTION = `MCP LSP Gateway is built from its own source, which LICENSE is about, and from what is listed here.

The addon also holds parts of Rust's standard library: MIT OR Apache-2.0, https://www.rust-lang.org/policies/licenses
`;

/** Writes the list into dist/, where the extension is packed from. */
export async function listThirdParty(): Promise<void> {
  await unlessUnchanged([thirdPartyFile], { files: INPUTS }, () =>
    step("Listing licences", async () => {
      const all = [...(await crates()), ...(await packages())];
      const withoutText = all.filter(({ texts }) => texts.length === 0).map(({ name }) => name);
      // A few crates are published without the text of their licence: that is told, and not made up.
      mkdirSync(dirname(thirdPartyFile), { recursive: true });
      writeFileSync(thirdPartyFile, listOf(all, withoutText));
    }),
  );
}

/** The crates that are linked into the addon on this platform. */
export async function crates(): Promise<ThirdParty[]> {
  const failed = "Cargo could not tell what the addon is built from: mend what it reports above.";
  const cargo = async (...args: string[]) => (await succeed(failed, "cargo", args, { cwd: root }, RUST_MISSING)).stdout;
  const tree = [
    "tree",
    "--locked",
    "--package",
    "gateway-addon",
    "--edges",
    "normal,no-proc-macro",
    "--prefix",
    "none",
  ];
  const linked = new Set(
    (await cargo(...tree, "--format", "{p}")).split("\n").map((line) => line.split(" ", 2).join(" ")),
  );
  const { packages } = JSON.parse(await cargo("metadata", "--locked", "--format-version", "1")) as {
    readonly packages: readonly CargoPackage[];
  };
  return packages
    .filter(({ name, version, source }) => source !== null && linked.has(`${name} v${version}`))
    .map(({ name, version, license, manifest_path }) => thirdParty(name, version, license, dirname(manifest_path)));
}

/** The npm packages that are in the bundle. */
export async function packages(): Promise<ThirdParty[]> {
  const { metafile } = await build({
    entryPoints: [join(root, "extension", "main.ts")],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    external: ["vscode"],
    logLevel: "warning",
  });
  const folders = Object.keys(metafile.inputs).map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  const distinct = [...new Set(folders)].filter((folder) => folder !== undefined).sort();
  return distinct.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return thirdParty(manifest.name, manifest.version, manifest.license, join(root, folder));
  });
}

function thirdParty(name: string, version: string, license: string | null | undefined, folder: string): ThirdParty {
  if (!license) {
    throw new Failure(`${name} ${version} names no licence: replace it, or say here what it is under.`);
  }
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|copying|notice|copyright)/i.test(entry.name))
    .map((entry) => entry.name)
    .sort();
  return { name, version, license, texts: files.map((file) => readFileSync(join(folder, file), "utf8").trim()) };
}

/** Names first, and then each text once, under the names of all that it comes with. */
function listOf(all: readonly ThirdParty[], withoutText: readonly string[]): string {
  const names = all.map(({ name, version, license }) => `${name} ${version}: ${license}`);
  const byText = new Map<string, string[]>();
  for (const { name, texts } of all) {
    for (const text of texts) {
      byText.set(text, [...(byText.get(text) ?? []), name]);
    }
  }
  const rule = "-".repeat(78);
  const texts = [...byText].map(([text, of]) => `${rule}\n${of.join(", ")}\n${rule}\n\n${text}\n`);
  const silent =
    withoutText.length === 0 ? [] : [`Published without a text of their own: ${withoutText.join(", ")}.\n`];
  return [INTRODUCTION, `${names.join("\n")}\n`, ...silent, ...texts].join("\n");
}
