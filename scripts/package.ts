// `npm run package`: the VSIX for this platform. With `-- --glibc 2.28`, one for every Linux that is as old as that. With
// `-- --github OWNER/NAME@REF`, the links and pictures of its README lead there, which the marketplace needs.

import { parseArgs } from "node:util";
import { buildAddonForGlibc } from "../harness/build/addon.ts";
import { type Published, packVsix } from "../harness/build/vsix.ts";
import { command, Failure } from "../harness/machine/progress.mjs";

await command(async () => {
  const { glibc, github } = parseArgs({ options: { glibc: { type: "string" }, github: { type: "string" } } }).values;
  const published = github === undefined ? undefined : publishedAt(github);
  if (glibc !== undefined) {
    if (!/^\d+\.\d+$/.test(glibc)) {
      throw new Failure(`--glibc takes a version such as 2.28, and not ${JSON.stringify(glibc)}.`);
    }
    await buildAddonForGlibc(glibc);
  }
  const { file, bytes } = await packVsix("release", published);
  process.stdout.write(`${file} (${(bytes / 1024 / 1024).toFixed(2)} MiB)\n`);
});

function publishedAt(text: string): Published {
  const [, repository, ref] = /^([\w.-]+\/[\w.-]+)@([\w./-]+)$/.exec(text) ?? [];
  if (repository === undefined || ref === undefined) {
    throw new Failure(
      `--github takes a repository and a tag such as owner/name@v1.0.0, and not ${JSON.stringify(text)}.`,
    );
  }
  return { repository, ref };
}
