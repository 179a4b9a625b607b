// Programs that come from the system's package manager and not from a registry.

import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { succeed } from "./processes.mjs";
import { Failure, step } from "./progress.mjs";

interface Requirement {
  readonly debianPackage: string;
  readonly present: () => boolean;
}

const CHROMIUM_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const CHROMIUM: Requirement = { debianPackage: "chromium", present: () => onPath(CHROMIUM_NAMES) !== undefined };

const CPP_COMPILER: Requirement = {
  debianPackage: "g++",
  present: () => onPath(["g++", "c++", "clang++"]) !== undefined,
};

/** What npm needs to compile code-server's native modules. */
const COMPILER: readonly Requirement[] = [
  CPP_COMPILER,
  { debianPackage: "make", present: () => onPath(["make"]) !== undefined },
  { debianPackage: "python3", present: () => onPath(["python3"]) !== undefined },
  {
    debianPackage: "libkrb5-dev",
    present: () => onPath(["krb5-config"]) !== undefined || process.platform !== "linux",
  },
];

/** The system's Chromium, installed if need be. */
export async function chromiumBinary(): Promise<string> {
  await ensure([CHROMIUM]);
  const found = onPath(CHROMIUM_NAMES);
  if (found === undefined) {
    throw new Failure("Chromium was installed but is not on PATH: put it there and try again.");
  }
  return found;
}

/** Makes sure that native modules can be compiled. */
export async function ensureCompiler(): Promise<void> {
  await ensure(COMPILER);
}

/** Makes sure that libFuzzer can be compiled. */
export async function ensureCppCompiler(): Promise<void> {
  await ensure([CPP_COMPILER]);
}

/** The first of these programs that is on PATH, as a path. */
export function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Two `apt-get` at once would stop at each other's lock. */
let installing: Promise<void> = Promise.resolve();

function ensure(requirements: readonly Requirement[]): Promise<void> {
  const installed = installing.then(() => install(requirements));
  installing = installed.catch(() => {});
  return installed;
}

async function install(requirements: readonly Requirement[]): Promise<void> {
  const missing = requirements.filter(({ present }) => !present()).map(({ debianPackage }) => debianPackage);
  if (missing.length === 0) {
    return;
  }
  const names = missing.join(" ");
  const asRoot = process.getuid?.() === 0 && existsSync("/etc/debian_version");
  if (!asRoot) {
    throw new Failure(
      `Install ${names} with your system's package manager (Debian's names; on Debian and Ubuntu: sudo apt-get install ${names}) and try again.`,
    );
  }
  await step(`Installing the Debian packages ${names}`, async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const failed = `apt-get failed: read the lines above, or install ${names} yourself, and try again.`;
    // Another apt-get may be at work, and a mirror may be busy.
    const patient = ["--option", "DPkg::Lock::Timeout=600", "--option", "Acquire::Retries=5"];
    await succeed(failed, "apt-get", [...patient, "update"], { env });
    await succeed(failed, "apt-get", [...patient, "install", "--yes", "--no-install-recommends", ...missing], { env });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
