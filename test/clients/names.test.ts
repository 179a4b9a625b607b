// Symbols of real projects, each looked for by its name and those of what contains it.

import assert from "node:assert/strict";
import { globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { buildHeadless } from "../../harness/build/headless.ts";
import { GatewayClient } from "../../harness/clients/gateway-client.ts";
import { type AskedProject, ON_FLASK, ON_RXJS, ON_ZLIB } from "../../harness/languages/asked-projects.ts";
import {
  clangd,
  type InstalledServer,
  linkPrograms,
  pyright,
  typescript7,
} from "../../harness/languages/language-servers.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";
import { ownEnvironment } from "../../harness/machine/own-environment.ts";
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
    mkdirSync(join(own, "programs"));
    linkPrograms(join(own, "programs"), [await server()]);
    const client = await GatewayClient.start({
      command: await buildHeadless("dev"),
      args: ["--root", folder, "--trust", "--catalog", "core"],
      env: ownEnvironment(join(own, "kept"), join(own, "programs")),
    });
    t.after(() => client.close());
    const find = (symbol: string) => client.call<Found>("vscode.lsp.symbol.find", { symbol, maxTokens: LARGEST_PAGE });
    await eventually(
      () => find(word),
      ({ summary }) => !summary.includes("there may be more"),
    );

    const paths = new Map<string, string>();
    for (const file of globSync(files, { cwd: folder }).sort()) {
      for (const [path, name] of await symbolsOf(client, file)) {
        paths.set(path, name);
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

/** The symbols of a file that have a name: each by its name after those of what contains it. */
async function symbolsOf(client: GatewayClient, file: string): Promise<(readonly [path: string, name: string])[]> {
  const found: (readonly [string, string])[] = [];
  const around: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { symbols: readonly string[]; nextCursor: string | null } = await client.call("vscode.lsp.outline", {
      file,
      maxTokens: LARGEST_PAGE,
      cursor,
    });
    for (const line of page.symbols) {
      const [, spaces = "", name = ""] = /^( *)\S+ \S+ (.*)$/.exec(line) ?? [];
      around.splice(spaces.length, around.length, name);
      found.push([around.join("."), name]);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}
