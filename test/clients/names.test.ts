// Symbols of real projects, each looked for by its name and those of what contains it.

import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { type AskedProject, ON_FLASK, ON_RXJS, ON_ZLIB } from "../../harness/languages/asked-projects.ts";
import { clangd, type InstalledServer, pyright, typescript7 } from "../../harness/languages/language-servers.ts";
import { namesIn } from "../../harness/languages/outline-names.ts";
import { startProgram } from "../../harness/languages/program.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";
import { temporaryFolder } from "./replay-host.ts";

interface Project extends AskedProject {
  readonly name: string;
  readonly server: () => Promise<InstalledServer>;
  readonly files: string;
}

interface Found {
  readonly symbols: readonly { readonly name: string }[];
  readonly summary: string;
}

/** The first in `npm test`. */
const PROJECTS: readonly Project[] = [
  { name: "rxjs", ...ON_RXJS, server: typescript7, files: "src/**/*.ts" },
  { name: "flask", ...ON_FLASK, server: pyright, files: "flask/**/*.py" },
  { name: "zlib", ...ON_ZLIB, server: clangd, files: "*.[ch]" },
];
/** Of all symbols, one in so many is looked for. */
const EVERY = unlessLonger(40, 1);
/** More than any answer here has on one page. */
const LARGEST_PAGE = 20_000;

for (const { name, copyTo, word, server, files } of PROJECTS.slice(0, unlessLonger(1, PROJECTS.length))) {
  test(`the names of symbols find them: ${name}`, async (t) => {
    const [folder, own] = [await temporaryFolder(t), await temporaryFolder(t)];
    await copyTo(folder);
    const client = await startProgram(folder, own, await server(), "core");
    t.after(() => client.close());
    const find = (symbol: string) => client.call<Found>("vscode.lsp.symbol.find", { symbol, maxTokens: LARGEST_PAGE });
    await eventually(
      () => find(word),
      ({ summary }) => !summary.includes("there may be more"),
    );

    const paths = new Map<string, string>();
    for (const file of globSync(files, { cwd: folder }).sort()) {
      for (const names of await namesIn(client, file)) {
        paths.set(names.join("."), names.at(-1) ?? "");
      }
    }
    const sought = [...paths].filter(([path], index) => index % EVERY === 0 && !path.includes("(anonymous"));
    assert.ok(sought.length > 50, "There are symbols to look for.");
    const missed = [];
    for (const [path, name] of sought) {
      const { symbols, summary } = await find(path);
      if (!symbols.some((symbol) => symbol.name === name)) {
        missed.push(`${path}: ${summary}`);
      }
    }
    t.diagnostic(`${sought.length} of ${paths.size} names looked for`);
    assert.deepEqual(missed, []);
  });
}
