// The program `mcp-lsp-gateway` with further language servers. `npm run test:all` tries all of the table, the others some.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import { ON_FLASK, ON_GO, ON_RXJS } from "../../harness/languages/asked-projects.ts";
import {
  basedpyright,
  extracted,
  gopls,
  type InstalledServer,
  jedi,
  linkPrograms,
  pylsp,
  pyrefly,
  ruff,
  tombi,
  ty,
  typescriptLanguageServer,
  vtsls,
  yamlLanguageServer,
} from "../../harness/languages/language-servers.ts";
import { GO, PYTHON, TYPESCRIPT } from "../../harness/languages/own-writes.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";
import { describeProject, environment, own, type Project, start, withServers } from "./headless-project.ts";

interface Tried extends Project {
  readonly server: () => Promise<InstalledServer>;
}

const [NO_SYMBOLS, NO_DIAGNOSTICS] = [["workspaceSymbols"], ["diagnostics.document"]];

/** The first three in `npm test`. */
const TRIED: readonly Tried[] = [
  { name: "ty", server: ty, ...ON_FLASK, whole: 46, language: PYTHON },
  {
    name: "gopls",
    server: gopls,
    ...ON_GO,
    whole: 4,
    language: GO,
    // It answers with an error where nothing is defined.
    questions: ["references", "symbols", "diagnostics"],
    lacks: ["declaration"],
  },
  { name: "vtsls", server: vtsls, ...ON_RXJS, whole: 117, language: TYPESCRIPT, lacks: ["declaration"] },
  {
    name: "typescript-language-server",
    server: typescriptLanguageServer,
    ...ON_RXJS,
    whole: 117,
    language: TYPESCRIPT,
    questions: ["references", "definition", "diagnostics"],
    lacks: [...NO_SYMBOLS, "declaration"],
  },
  { name: "basedpyright", server: basedpyright, ...ON_FLASK, whole: 46, language: PYTHON },
  {
    name: "pylsp",
    server: pylsp,
    ...ON_FLASK,
    whole: 46,
    language: PYTHON,
    questions: ["references", "definition"],
    lacks: [...NO_SYMBOLS, "implementation", "declaration"],
  },
  {
    name: "jedi",
    server: jedi,
    ...ON_FLASK,
    whole: 46,
    language: PYTHON,
    questions: ["references", "symbols", "definition"],
    lacks: ["implementation"],
  },
  {
    name: "pyrefly",
    server: pyrefly,
    ...ON_FLASK,
    whole: 46,
    language: PYTHON,
    questions: ["references", "symbols", "definition"],
    lacks: NO_DIAGNOSTICS,
    isMarked: true,
  },
];

/** Servers that know single documents only. */
interface TriedWithDocuments {
  readonly name: string;
  readonly server: () => Promise<InstalledServer>;
  readonly file: string;
  readonly good: string;
  readonly bad: string;
  /** The outline of what is good; none if the server has no outlines. */
  readonly symbols: readonly string[];
}

/** The first two in `npm test`. */
const TRIED_WITH_DOCUMENTS: readonly TriedWithDocuments[] = [
  { name: "ruff", server: ruff, file: "a.py", good: "a = 1\n", bad: "a = (\n", symbols: [] },
  {
    name: "json",
    server: () => extracted("json"),
    file: "a.json",
    good: '{"a": {"b": 1}}',
    bad: '{"a": 1',
    symbols: ["a", "b"],
  },
  {
    name: "css",
    server: () => extracted("css"),
    file: "a.css",
    good: ".a { color: red; }",
    bad: ".a { color: ; }",
    symbols: [".a"],
  },
  {
    name: "html",
    server: () => extracted("html"),
    ...{ file: "a.html", good: "<p id='x'>a</p>", bad: "<style>.a { color: ; }</style>", symbols: ["p#x"] },
  },
  {
    name: "yaml",
    server: yamlLanguageServer,
    file: "a.yaml",
    good: "a:\n  b: 1\n",
    bad: "a: [\n",
    symbols: ["a", "b"],
  },
  { name: "tombi", server: tombi, file: "a.toml", good: "[a]\nb = 1\n", bad: "[a\n", symbols: ["a", "b"] },
];

const tried = TRIED.slice(0, unlessLonger(3, TRIED.length));
const triedWithDocuments = TRIED_WITH_DOCUMENTS.slice(0, unlessLonger(2, TRIED_WITH_DOCUMENTS.length));

// One at a time on PATH: of several servers of a language, only one answers.
withServers(async () => []);

async function pathOf({ name, server }: { name: string; server: () => Promise<InstalledServer> }): Promise<string> {
  const folder = join(own, name);
  mkdirSync(folder, { recursive: true });
  linkPrograms(folder, [await server()]);
  return [folder, "/usr/bin", "/bin"].join(delimiter);
}

for (const project of tried) {
  describeProject(project, () => pathOf(project));
}

for (const one of triedWithDocuments) {
  test(`${one.name} answers about a document, and about what was written last`, async () => {
    const folder = temporaryFolder("documents");
    const [path, uri] = [await pathOf(one), pathToFileURL(join(folder, one.file)).href];
    writeFileSync(join(folder, one.file), one.good);
    const kept = join(own, `kept-${one.name}`);
    mkdirSync(join(kept, "CONFIG", "mcp-lsp-gateway"), { recursive: true });
    // Then it answers alone.
    const others = ["pyright", "basedpyright", "ty", "pyrefly", "pylsp", "jedi"];
    writeFileSync(join(kept, "CONFIG", "mcp-lsp-gateway", "servers.toml"), `off = ${JSON.stringify(others)}\n`);
    const client = await start(folder, ["--trust"], environment(path, kept));
    const ask = <Payload>(tool: string): Promise<Payload> =>
      eventually(
        () => client.callOnce<Payload>(`vscode.lsp.${tool}`, { uri }).catch(() => undefined),
        (answer) => answer !== undefined,
      ) as Promise<Payload>;
    if (one.symbols.length > 0) {
      const { symbols } = await ask<{ symbols: readonly { name: string }[] }>("documentSymbols");
      assert.deepEqual(
        symbols.map(({ name }) => name),
        one.symbols,
      );
    }
    for (const text of [one.good, one.bad, one.good]) {
      writeFileSync(join(folder, one.file), text);
      const { diagnostics } = await ask<{ diagnostics: readonly unknown[] }>("diagnostics.document");
      assert.equal(diagnostics.length > 0, text === one.bad, text);
    }
    await client.close();
    removeFolder(folder);
  });
}
