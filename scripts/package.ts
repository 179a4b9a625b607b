// `npm run package`: the VSIX for this platform.

import { command } from "./progress.mjs";
import { packVsix } from "./vsix.ts";

await command(async () => {
  const { file, bytes } = await packVsix();
  process.stdout.write(`${file} (${(bytes / 1024 / 1024).toFixed(2)} MiB)\n`);
});
