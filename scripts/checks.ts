// Everything that can be said of the sources without running them.

import { buildAddon, RUST_MISSING, typesAreUpToDate } from "../harness/build/addon.ts";
import { packageCommand, root } from "../harness/layout.ts";
import { run, succeed } from "../harness/machine/processes.mjs";
import { Failure, step } from "../harness/machine/progress.mjs";
import { cargoDeny } from "./cargo-deny.ts";
import { layeringViolations } from "./layering.ts";

interface Check {
  readonly title: string;
  readonly work: () => Promise<void>;
  /** Whether a tool or the addon is compiled for it first. */
  readonly compiles?: true;
}

const CHECKS: readonly Check[] = [
  {
    title: "biome",
    work: () => passes(...packageCommand("@biomejs/biome", "biome"), "ci", "--colors=off", "--error-on-warnings", "."),
  },
  { title: "tsc", work: () => passes(...packageCommand("typescript", "tsc"), "--pretty", "false") },
  {
    title: "tsc of the view",
    work: () => passes(...packageCommand("typescript", "tsc"), "--pretty", "false", "--project", "view"),
  },
  { title: "cargo fmt", work: () => passes("cargo", "fmt", "--all", "--check") },
  {
    title: "cargo fmt of what libFuzzer drives",
    work: () => passes("cargo", "fmt", "--check", "--manifest-path", "native/fuzz/libfuzzer/Cargo.toml"),
  },
  {
    title: "clippy",
    work: () =>
      passes("cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--locked", "--", "--deny", "warnings"),
  },
  {
    title: "cargo deny",
    compiles: true,
    work: async () => passes(await cargoDeny(), "check", "bans", "licenses", "sources"),
  },
  {
    title: "layering",
    work: async () => {
      const violations = await layeringViolations();
      if (violations.length > 0) {
        throw new Failure(violations.join("\n"));
      }
    },
  },
  { title: "golden keys", work: () => passes(process.execPath, "scripts/golden-keys.ts", "--check") },
  { title: "golden URIs", work: () => passes(process.execPath, "scripts/golden-uris.ts", "--check") },
  {
    title: "schemas of the tools",
    compiles: true,
    work: () => passes(process.execPath, "scripts/schemas.ts", "--check"),
  },
  {
    title: "schemas in the contract",
    work: () => passes(process.execPath, "scripts/contract-schemas.ts", "--check"),
  },
  {
    title: "generated types",
    compiles: true,
    work: async () => {
      await buildAddon("dev");
      if (!typesAreUpToDate()) {
        throw new Failure("extension/native.d.ts is not what the addon generates: run `npm run build` and commit it.");
      }
    },
  },
];

/** `full` is all; `quick` is what neither compiles a tool nor the addon. */
export type CheckScope = "quick" | "full";

/** Runs the checks side by side. Resolves to what failed, each with what it reported. */
export async function runChecks(scope: CheckScope): Promise<{ passed: number; failures: string[] }> {
  await succeed(RUST_MISSING, "cargo", ["--version"], { cwd: root }, RUST_MISSING);
  const checks = CHECKS.filter(({ compiles }) => scope === "full" || compiles !== true);
  const results = await Promise.all(checks.map(failureOf));
  const failures = results.filter((failure) => failure !== undefined);
  return { passed: checks.length - failures.length, failures };
}

async function failureOf({ title, work }: Check): Promise<string | undefined> {
  try {
    await step(title, work);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    return `${title}:\n${error.message}`;
  }
}

async function passes(program: string, ...args: readonly string[]): Promise<void> {
  const { code, output } = await run(program, args, { cwd: root });
  if (code !== 0) {
    throw new Failure(output.trim());
  }
}
