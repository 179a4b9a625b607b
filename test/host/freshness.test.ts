import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ToolFailure } from "../../harness/clients/gateway-client.ts";
import {
  copyWorkspace,
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
  temporaryFolder,
} from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { pickSubject, type Subject } from "../../harness/languages/pick-subject.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { PagedQuestion, untilHeardOfAll } from "./cursors.ts";

/** So soon after a change on disk the next page says so. */
const SOON_MS = 2_000;
/** Files that a compiler and a program that logs write, as seen by the editor, before a cursor is tried again. */
const WRITES_SEEN = 20;
/** Two files with mistakes, so that pages of one file have a next one. */
const MISTAKES = "src/mistakes.ts";
const WRONG = "src/wrong.ts";

describe("scenario 3: cursors and what happens in the editor and on disk", () => {
  let parent: string;
  /** The first folder of the workspace, a git repository with a second branch. */
  let folder: string;
  /** A folder that joins the workspace later. */
  let annex: string;
  let editor: RealVsCode;
  let gateway: GatewayWindow;
  let subject: Subject;
  let question: PagedQuestion;

  before(async () => {
    parent = temporaryFolder("freshness");
    folder = copyWorkspace(join(parent, "harbour"));
    writeFileSync(join(folder, WRONG), 'export const draught: number = "deep";\n');
    makeRepository();
    annex = join(parent, "annex");
    mkdirSync(annex);
    writeFileSync(join(annex, "pier.ts"), "export const pier = 1;\n");
    // Opened by itself, the folder would have its extension host started anew when another folder joins it.
    const workspaceFile = join(parent, "harbour.code-workspace");
    writeFileSync(workspaceFile, JSON.stringify({ folders: [{ path: folder }] }));
    subject = pickSubject(folder);
    editor = await startEditor();
    gateway = await openGateway(editor, folder, workspaceFile);
    const { uri, position } = subject.declaration;
    // More than the files of the subject's own: the project is loaded.
    await eventually(
      () => gateway.client.references(uri, position),
      (items) => new Set(items.map((item) => item.uri)).size >= 3,
    );
    question = new PagedQuestion(gateway.client, "vscode.lsp.references", { uri, position, includeDeclaration: true });
  });

  after(async () => {
    await gateway?.client.close();
    await editor?.stop();
    removeFolder(parent);
  });

  test("opening a file that was not open makes a cursor stale, and so does typing in its editor", async () => {
    const open = new Set(
      await gateway.window.inside(
        (vscode) => vscode.workspace.textDocuments.map(({ uri }) => uri.toString()),
        undefined,
      ),
    );
    // Those that the gateway holds do not count.
    const file = ["src/berth.ts", "src/harbour.ts"].find((file) => !open.has(uriOf(file)));
    assert.ok(file !== undefined, `Open are ${[...open].join(", ")}.`);
    const { cursor } = await question.firstPage();
    await gateway.window.openFile(file);
    assert.deepEqual(await question.changeSince(cursor), ["text"]);
    const { cursor: next } = await question.firstPage();
    await gateway.window.type("// typed ");
    assert.deepEqual(await question.changeSince(next), ["text"]);
    await gateway.window.inside(async (vscode) => {
      await vscode.commands.executeCommand("workbench.action.files.revert");
    }, undefined);
  });

  test("an edit that nobody has saved makes a cursor stale and is seen by the next answer", async () => {
    const { cursor, total } = await question.firstPage();
    await gateway.window.inside(async (vscode, uri) => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(vscode.Uri.parse(uri), new vscode.Position(0, 0), 'import { Ship as Another } from "./ship";\n');
      await vscode.workspace.applyEdit(edit);
    }, uriOf("src/mistakes.ts"));
    assert.deepEqual(await question.changedSince(cursor), ["text"]);
    assert.ok((await question.firstPage()).total > total);
    await gateway.window.inside(async (vscode, uri) => {
      await vscode.window.showTextDocument(vscode.Uri.parse(uri));
      await vscode.commands.executeCommand("workbench.action.files.revert");
    }, uriOf("src/mistakes.ts"));
  });

  test("a file that appears in the folder makes a cursor stale", async (t) => {
    await becomesStale(t, () => writeFileSync(join(folder, "src", "appeared.ts"), "export {};\n"));
  });

  test("a file that another process writes, moves or deletes makes a cursor stale", async (t) => {
    const appeared = join(folder, "src", "appeared.ts");
    const moved = join(folder, "src", "moved.ts");
    await becomesStale(t, () => execFileSync("sh", ["-c", `echo '// more' >> '${appeared}'`]));
    await becomesStale(t, () => renameSync(appeared, moved));
    await becomesStale(t, () => rmSync(moved));
    await becomesStale(t, () => mkdirSync(join(folder, "src", "empty")));
  });

  test("git checkout of another branch makes a cursor stale, and changes the text of what is open", async (t) => {
    await becomesStale(t, () => git("checkout", "-q", "quayside"));
    await gateway.window.openFile("src/quay.ts");
    const { cursor: next } = await heardOfAll();
    git("checkout", "-q", "jetty");
    const started = performance.now();
    assert.ok((await question.changeSince(next)).length > 0);
    report(t, started);
    const both = await eventually(
      () => question.changedSince(next),
      (changed) => changed.length > 1,
    );
    assert.deepEqual(both, ["text", "fs"]);
  });

  test("a folder that joins the workspace makes a cursor stale, is watched, and makes one stale when it leaves", async (t) => {
    const pier = pathToFileURL(join(annex, "pier.ts")).href;
    const ask = (): Promise<unknown> => gateway.client.call("vscode.lsp.documentSymbols", { uri: pier });
    await assert.rejects(ask(), isDenied);
    const { cursor: alone } = await heardOfAll();
    assert.equal(await changeFolders(1, 0, [annex]), true);
    await rootsChangeSince(alone);
    await ask();
    // A watcher that was made a moment ago may not see anything yet.
    let written = 0;
    const { cursor: unwatched } = await heardOfAll();
    const first = await eventually(
      () => {
        writeFileSync(join(annex, `pier-${written++}.ts`), "export {};\n");
        return question.changedSince(unwatched);
      },
      (changed) => changed.length > 0,
    );
    assert.deepEqual(first, ["fs"]);
    await becomesStale(t, () => writeFileSync(join(annex, "another.ts"), "export {};\n"), annex);
    const { cursor: together } = await heardOfAll();
    assert.equal(await changeFolders(1, 1, []), true);
    await rootsChangeSince(together);
    await assert.rejects(ask(), isDenied);
  });

  test("what is written into a build's output folder and a growing log leave a cursor alone", async () => {
    const { cursor } = await heardOfAll();
    mkdirSync(join(folder, "dist"), { recursive: true });
    let written = 0;
    const writing = setInterval(() => {
      appendFileSync(join(folder, "server.log"), `line ${written}\n`);
      writeFileSync(join(folder, "dist", `bundle-${written % 3}.js`), `${written}`);
      written += 1;
    }, 100);
    try {
      await gateway.window.inside(
        async (vscode, { folder, count }) => {
          const seen = { "server.log": 0, dist: 0 };
          const watcher = vscode.workspace.createFileSystemWatcher(
            new vscode.RelativePattern(vscode.Uri.file(folder), "{server.log,dist/**}"),
          );
          await new Promise<void>((resolve) => {
            const note = ({ path }: { path: string }): void => {
              seen[path.endsWith("server.log") ? "server.log" : "dist"] += 1;
              if (Math.min(seen.dist, seen["server.log"]) >= count) {
                resolve();
              }
            };
            watcher.onDidChange(note);
            watcher.onDidCreate(note);
          });
          watcher.dispose();
        },
        { folder, count: WRITES_SEEN },
      );
      assert.deepEqual(await question.changedSince(cursor), []);
    } finally {
      clearInterval(writing);
    }
  });

  test("showing a document that the gateway holds, output channels and untitled documents leave a cursor alone", async () => {
    const { cursor } = await heardOfAll();
    await gateway.window.inside(async (vscode, uri) => {
      await vscode.window.showTextDocument(vscode.Uri.parse(uri));
      const channel = vscode.window.createOutputChannel("Noise");
      const changed = new Promise((resolve) => {
        const subscription = vscode.workspace.onDidChangeTextDocument(({ document }) => {
          if (document.uri.scheme === "output") {
            subscription.dispose();
            resolve(undefined);
          }
        });
      });
      channel.show(true);
      channel.appendLine("something");
      await changed;
      channel.dispose();
      await vscode.workspace.openTextDocument({ content: "untitled", language: "typescript" });
    }, subject.declaration.uri);
    assert.deepEqual(await question.changedSince(cursor), []);
  });

  test("questions about other files, which the gateway opens for them, leave a cursor alone", async () => {
    const { cursor } = await heardOfAll();
    for (const file of ["src/harbour.ts", "src/mistakes.ts", "src/quay.ts"]) {
      await gateway.client.definition(uriOf(file), { line: 0, character: 0 });
    }
    assert.deepEqual(await question.changedSince(cursor), []);
  });

  describe("cursors of the diagnostics of the workspace", () => {
    let diagnostics: PagedQuestion;

    before(async () => {
      diagnostics = new PagedQuestion(gateway.client, "vscode.lsp.diagnostics.workspace", {});
      await gateway.window.openFile(MISTAKES);
      await gateway.window.openFile(WRONG);
      await eventually(
        () => published(),
        (counts) => counts[MISTAKES] === 4 && counts[WRONG] === 1,
      );
    });

    test("one that is made before the editor tells of what was just published stays good", async () => {
      await gateway.window.inside((vscode, uri) => {
        const place = new vscode.Range(0, 0, 0, 1);
        const collection = vscode.languages.createDiagnosticCollection("just-now");
        const told = new Promise<void>((resolve) => {
          vscode.languages.onDidChangeDiagnostics(({ uris }) => {
            if (uris.some((other) => other.toString() === uri)) {
              resolve();
            }
          });
        });
        collection.set(vscode.Uri.parse(uri, true), [new vscode.Diagnostic(place, "just now")]);
        Object.assign(globalThis, { justNow: { told, collection } });
      }, uriOf("src/ship.ts"));
      const { cursor, total } = await diagnostics.firstPage();
      assert.equal(total, 3);
      await gateway.window.inside(
        (_, name) => (globalThis as unknown as Record<string, { told: Promise<void> }>)[name]?.told,
        "justNow",
      );
      assert.deepEqual(await diagnostics.changedSince(cursor), []);
    });

    test("opening, showing and closing files leaves one alone, although everything is published once more", async () => {
      const { cursor } = await diagnostics.firstPage();
      for (const file of ["src/berth.ts", "src/harbour.ts"]) {
        await publishedAgain(MISTAKES, () => gateway.window.openFile(file));
      }
      for (const file of [MISTAKES, "src/harbour.ts", "src/berth.ts"]) {
        await gateway.window.openFile(file);
      }
      for (const file of ["src/berth.ts", "src/harbour.ts"]) {
        await publishedAgain(MISTAKES, () => closeTab(file));
      }
      assert.deepEqual(await diagnostics.changedSince(cursor), []);
    });

    test("one is stale when an error appears, and when it goes", async () => {
      const { cursor } = await diagnostics.firstPage();
      await gateway.window.openFile("src/berth.ts");
      await gateway.window.type("wrong;");
      assert.deepEqual(await diagnostics.changeSince(cursor), ["diagnostics"]);
      await eventually(
        () => published(),
        (counts) => (counts["src/berth.ts"] ?? 0) > 0,
      );
      const { cursor: next } = await diagnostics.firstPage();
      await gateway.window.inside(async (vscode) => {
        await vscode.commands.executeCommand("workbench.action.files.revert");
      }, undefined);
      assert.deepEqual(await diagnostics.changeSince(next), ["diagnostics"]);
    });

    test("one is stale when a file with mistakes is closed, as TypeScript takes back what it said about it", async () => {
      await publishedAgain(WRONG, () => gateway.window.openFile("src/ship.ts"));
      const { cursor } = await diagnostics.firstPage();
      await closeTab(WRONG);
      assert.deepEqual(await diagnostics.changeSince(cursor), ["diagnostics"]);
      await eventually(published, (counts) => (counts[WRONG] ?? 0) === 0);
      assert.equal((await published())[WRONG] ?? 0, 0);
    });

    /** How many diagnostics the editor has of each file that somebody published for. */
    function published(): Promise<Record<string, number>> {
      return gateway.window.inside(
        (vscode, folder) =>
          Object.fromEntries(
            vscode.languages.getDiagnostics().map(([uri, all]) => [uri.fsPath.slice(folder.length + 1), all.length]),
          ),
        folder,
      );
    }

    /** Does something, and waits until the editor tells that diagnostics of this file were published, changed or not. */
    async function publishedAgain(file: string, change: () => Promise<void>): Promise<void> {
      await gateway.window.inside((vscode, uri) => {
        const again = new Promise<void>((resolve) => {
          const subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
            if (uris.some((other) => other.toString() === uri)) {
              subscription.dispose();
              resolve();
            }
          });
        });
        Object.assign(globalThis, { again });
      }, uriOf(file));
      await change();
      await gateway.window.inside(() => (globalThis as unknown as { again: Promise<void> }).again, undefined);
    }

    async function closeTab(file: string): Promise<void> {
      await gateway.window.inside(async (vscode, uri) => {
        const tabs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
        const mine = tabs.filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri);
        await vscode.window.tabGroups.close(mine);
      }, uriOf(file));
    }
  });

  function uriOf(file: string): string {
    return pathToFileURL(join(folder, file)).href;
  }

  /** Does something on disk and looks how soon a cursor from before is stale. */
  async function becomesStale(t: TestContext, change: () => void, where = folder): Promise<void> {
    const { cursor } = await heardOfAll(where);
    change();
    const started = performance.now();
    assert.deepEqual(await question.changeSince(cursor), ["fs"]);
    report(t, started);
  }

  /** The editor opens the workspace file when it writes it, which is a change of its own. */
  async function rootsChangeSince(cursor: string): Promise<void> {
    const changed = await eventually(
      () => question.changedSince(cursor),
      (changed) => changed.includes("roots"),
    );
    assert.deepEqual(
      changed.filter((what) => what !== "text"),
      ["roots"],
    );
  }

  function report(t: TestContext, started: number): void {
    const elapsed = performance.now() - started;
    t.diagnostic(`stale after ${Math.round(elapsed)} ms`);
    assert.ok(elapsed < SOON_MS, `It took ${elapsed} ms.`);
  }

  /** The first page, asked for when the editor has heard of everything that happened on disk before. */
  async function heardOfAll(where = folder): Promise<{ cursor: string; total: number }> {
    await untilHeardOfAll(gateway.window, where);
    return question.firstPage();
  }

  function changeFolders(start: number, remove: number, add: readonly string[]): Promise<boolean> {
    return gateway.window.inside(
      (vscode, { start, remove, add }) =>
        vscode.workspace.updateWorkspaceFolders(start, remove, ...add.map((path) => ({ uri: vscode.Uri.file(path) }))),
      { start, remove, add },
    );
  }

  function git(...args: readonly string[]): void {
    // Whatever the person who runs this has configured, such as signatures and hooks, has no part in it.
    const env = { ...process.env, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1" };
    const author = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"];
    execFileSync("git", [...author, ...args], { cwd: folder, env });
  }

  /** A repository whose branches `quayside` and `jetty` have a file that `main` has not, each its own. */
  function makeRepository(): void {
    git("init", "-q", "-b", "main");
    git("add", "--all");
    git("commit", "-q", "-m", "Begin");
    for (const branch of ["quayside", "jetty"]) {
      git("checkout", "-q", "-b", branch, "main");
      writeFileSync(join(folder, "src", "quay.ts"), `export const quay = "${branch}";\n`);
      git("add", "--all");
      git("commit", "-q", "-m", `Build the ${branch}`);
    }
    git("checkout", "-q", "main");
  }
});

function isDenied(error: unknown): boolean {
  return error instanceof ToolFailure && error.code === "WORKSPACE_DENIED";
}
