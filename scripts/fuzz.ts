// `npm run fuzz -- <target> [--seconds N]`: libFuzzer makes up inputs for one target and looks for one that breaks it.

import { parseArgs } from "node:util";
import { command, Failure, say } from "../harness/machine/progress.mjs";
import { FUZZ_TARGETS, fuzz } from "./fuzzing.ts";

await command(async () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { seconds: { type: "string" } } });
  const [target = ""] = positionals;
  const seconds = Number(values.seconds ?? "60");
  if (!FUZZ_TARGETS.includes(target) || positionals.length > 1) {
    throw new Failure(`There is no target ${JSON.stringify(target)}: use one of ${FUZZ_TARGETS.join(", ")}.`);
  }
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new Failure("--seconds takes a whole number from 1.");
  }
  const { executions, coverage, features } = await fuzz(target, seconds, say);
  process.stdout.write(`${target}: ${executions} executions in ${seconds} s, cov ${coverage}, ft ${features}\n`);
});
