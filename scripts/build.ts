// `npm run build`: the addon, its types and the bundle.

import { buildAddon, typesAreUpToDate, updateTypes } from "../harness/build/addon.ts";
import { bundleExtension } from "../harness/build/bundle.ts";
import { command, say } from "../harness/machine/progress.mjs";

await command(async () => {
  await buildAddon("dev");
  if (!typesAreUpToDate()) {
    updateTypes();
    say("extension/native.d.ts has changed with the addon: commit it.");
  }
  await bundleExtension();
});
