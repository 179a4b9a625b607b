// `npm run check`: everything that can be said of the sources without running them.

import { command, say } from "../harness/machine/progress.mjs";
import { runChecks } from "./checks.ts";

await command(async () => {
  const { passed, failures } = await runChecks("full");
  for (const failure of failures) {
    say(`\n${failure}`);
  }
  process.stdout.write(`check: ${passed} passed, ${failures.length} failed\n`);
  return failures.length === 0 ? 0 : 1;
});
