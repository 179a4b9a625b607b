import assert from "node:assert/strict";
import { cpSync, globSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Location } from "../../harness/clients/gateway-client.ts";
import { type GatewayWindow, openGateway, removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { UNCONFIRMED } from "../../harness/languages/language-project.ts";
import { LanguageServer } from "../../harness/languages/language-server.ts";
import { clangd, pyright, startEditorWith } from "../../harness/languages/language-servers.ts";
import { copyPythonPackage } from "../../harness/languages/python-package.ts";
import { type Place, placeIn, sample } from "../../harness/languages/sample.ts";
import { cached, npmInstall } from "../../harness/machine/cache.mjs";
import { eventually } from "../../harness/machine/eventually.ts";
import { compareReferences } from "./compared-references.ts";

const POSITIONS = 50;
const SEED = 20_251_127;
/** Some ten thousand lines. */
const CLICK = "click==8.3.1";
const LEVELDOWN = "6.1.1";

/** Projects of real size in two languages, both in one window, and their language servers beside it. */
describe("references in other languages", () => {
  let folder: string;
  let editor: RealVsCode;
  let gateway: GatewayWindow;
  let python: LanguageServer;
  let cpp: LanguageServer;

  before(async () => {
    folder = temporaryFolder("languages");
    await Promise.all([copyPythonPackage(CLICK, join(folder, "click")), copyLevelDb(join(folder, "leveldb"))]);
    const cppServer = await clangd();
    // By default it gives the first thousand references only.
    const servers = [await pyright(), { ...cppServer, args: [...cppServer.args, "--limit-references=0"] }] as const;
    [python, cpp] = await Promise.all([LanguageServer.of(servers[0], folder), LanguageServer.of(servers[1], folder)]);
    // What it finds out it writes into the project, where the editor's finds it.
    await cpp.indexedFrom(pathToFileURL(join(folder, "leveldb", "db", "db_impl.cc")).href);
    editor = await startEditorWith(...servers);
    gateway = await openGateway(editor, folder);
  });

  after(async () => {
    await gateway?.client.close();
    await Promise.all([editor?.stop(), python?.stop(), cpp?.stop()]);
    removeFolder(folder);
  });

  test(`scenario 5: references at ${POSITIONS} positions equal those of pyright asked directly`, async (t) => {
    // It finds references in the text of an annotation only in files that it has checked.
    const files = globSync("click/**/*.py", { cwd: folder }).map((file) => pathToFileURL(join(folder, file)).href);
    await Promise.all([python.checked(files), checkedInEditor(files)]);
    // Every file uses it, most of them in such text, so it is the last to be whole.
    await untilWhole(python, placeIn(folder, "click/core.py", "t", " as t\n"), true);
    await compareReferences(t, gateway.client, python, sample(folder, "click/**/*.py", "python", POSITIONS, SEED));
  });

  test(`scenario 5: references at ${POSITIONS} positions equal those of clangd asked directly`, async (t) => {
    await untilWhole(cpp, placeIn(folder, "leveldb/include/leveldb/slice.h", "Slice", "class Slice"), false);
    const places = sample(folder, "leveldb/{db,include,table,util}/**/*.{cc,h}", "cpp", POSITIONS, SEED);
    await compareReferences(t, gateway.client, cpp, places);
  });

  /** Shows each file in a tab, without which nobody checks it, and resolves when the editor has heard of what is wrong with each, which may be nothing. */
  function checkedInEditor(uris: readonly string[]): Promise<void> {
    return gateway.window.inside(async (vscode, uris) => {
      const all = new Promise<void>((resolve) => {
        const look = (): void => {
          const heard = new Set(vscode.languages.getDiagnostics().map(([uri]) => uri.toString()));
          if (uris.every((uri) => heard.has(uri))) {
            subscription.dispose();
            resolve();
          }
        };
        const subscription = vscode.languages.onDidChangeDiagnostics(look);
        look();
      });
      for (const uri of uris) {
        await vscode.window.showTextDocument(vscode.Uri.parse(uri, true), { preview: false });
      }
      await all;
    }, uris);
  }

  /**
   * Asks both until the answers are the same and, where the gateway can find that out, it says that its own is whole. What
   * lacks something that the other server has found has to say that it may.
   */
  async function untilWhole(server: LanguageServer, { uri, position }: Place, isShown: boolean): Promise<void> {
    const last = await eventually(
      async () => {
        const input = { uri, position, includeDeclaration: true, pageSize: 200 };
        const [found, whole] = [new Set<string>(), await server.references(uri, position)];
        let isMarked = false;
        for await (const { items, summary } of gateway.client.pages<Location>("vscode.lsp.references", input)) {
          for (const item of items) {
            found.add(JSON.stringify(item));
          }
          isMarked ||= summary?.endsWith(UNCONFIRMED) === true;
        }
        const missing = whole.map((item) => JSON.stringify(item)).filter((item) => !found.has(item));
        return { missing, isMarked, found: found.size, whole: whole.length };
      },
      ({ missing, isMarked, found, whole }) =>
        isMarked ? !isShown && found === whole : missing.length > 0 || found === whole,
    );
    assert.deepEqual({ missing: last.missing, isMarked: last.isMarked }, { missing: [], isMarked: !isShown });
    assert.ok(last.found > POSITIONS && last.found === last.whole, `${last.found} and ${last.whole} references`);
  }
});

/** The sources of a C++ library of some fifty files, as an npm package brings them along. */
async function copyLevelDb(folder: string): Promise<void> {
  const inside = join("node_modules", "leveldown", "deps", "leveldb", "leveldb-1.20");
  const download = await cached(
    `leveldown-${LEVELDOWN}`,
    join(inside, "db", "db_impl.cc"),
    `Downloading the sources of LevelDB (leveldown ${LEVELDOWN})`,
    (partial) => npmInstall(partial, { leveldown: LEVELDOWN }),
  );
  for (const part of ["db", "include", "port", "table", "util"]) {
    mkdirSync(join(folder, part), { recursive: true });
    cpSync(join(download, inside, part), join(folder, part), {
      recursive: true,
      filter: (path) => !/(_test|_bench|testutil|testharness|_win|benchmark)\.(cc|h)$|\/win$/.test(path),
    });
  }
  const commands = ["db", "port", "table", "util"].flatMap((part) =>
    readdirSync(join(folder, part))
      .filter((name) => name.endsWith(".cc"))
      .map((name) => ({
        directory: folder,
        file: join(part, name),
        arguments: [
          ...["c++", "-std=c++11", "-DOS_LINUX", "-DLEVELDB_PLATFORM_POSIX", "-I.", "-Iinclude"],
          ...["-c", join(part, name)],
        ],
      })),
  );
  writeFileSync(join(folder, "compile_commands.json"), JSON.stringify(commands));
}
