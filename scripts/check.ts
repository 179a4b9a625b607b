// `npm run check`: everything that can be said of the sources without running them.

import { buildAddon, RUST_MISSING, typesAreUpToDate } from "./addon.ts";
import { cargoDeny } from "./cargo-deny.ts";
import { layeringViolations } from "./layering.ts";
import { packageCommand, root } from "./layout.ts";
import { run, succeed } from "./processes.mjs";
import { command, Failure, say, step } from "./progress.mjs";

interface Check {
  readonly title: string;
  readonly work: () => Promise<void>;
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
  { title: "cargo deny", work: async () => passes(await cargoDeny(), "check", "bans", "licenses", "sources") },
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
    title: "schemas in the contract",
    work: () => passes(process.execPath, "scripts/contract-schemas.ts", "--check"),
  },
  {
    title: "generated types",
    work: async () => {
      await buildAddon();
      if (!typesAreUpToDate()) {
        throw new Failure("extension/native.d.ts is not what the addon generates: run `npm run build` and commit it.");
      }
    },
  },
];

await command(async () => {
  await succeed(RUST_MISSING, "cargo", ["--version"], { cwd: root }, RUST_MISSING);
  const failures = await Promise.all(CHECKS.map(failureOf));
  const failed = failures.filter((failure) => failure !== undefined);
  for (const failure of failed) {
    say(`\n${failure}`);
  }
  process.stdout.write(`check: ${CHECKS.length - failed.length} passed, ${failed.length} failed\n`);
  return failed.length === 0 ? 0 : 1;
});

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
