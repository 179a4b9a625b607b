// `npm run package`: the VSIX for this platform. With `-- --glibc 2.28`, one for every Linux that is as old as that.

import { parseArgs } from "node:util";
import { buildAddonForGlibc } from "./addon.ts";
import { command, Failure } from "./progress.mjs";
import { packVsix } from "./vsix.ts";

await command(async () => {
  const { glibc } = parseArgs({ options: { glibc: { type: "string" } } }).values;
  if (glibc !== undefined) {
    if (!/^\d+\.\d+$/.test(glibc)) {
      throw new Failure(`--glibc takes a version such as 2.28, and not ${JSON.stringify(glibc)}.`);
    }
    await buildAddonForGlibc(glibc);
  }
  const { file, bytes } = await packVsix();
  process.stdout.write(`${file} (${(bytes / 1024 / 1024).toFixed(2)} MiB)\n`);
});
