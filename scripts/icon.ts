// `node scripts/icon.ts`: draws media/icon.png, which the marketplace and the editor show, from media/icon.svg.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { root } from "../harness/layout.ts";
import { command } from "../harness/machine/progress.mjs";
import { chromiumBinary } from "../harness/machine/system-packages.ts";

const SIDE = 256;

await command(async () => {
  const browser = await chromium.launch({ executablePath: await chromiumBinary(), args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: SIDE, height: SIDE } });
    const svg = readFileSync(join(root, "media", "icon.svg"), "utf8");
    await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
    await page.screenshot({ path: join(root, "media", "icon.png"), omitBackground: true });
  } finally {
    await browser.close();
  }
});
