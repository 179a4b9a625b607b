import assert from "node:assert/strict";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import { URI } from "vscode-uri";
import { put } from "../../extension/boundary/questions.ts";
import { QUESTION } from "../../extension/boundary/rows.ts";
import type { LanguageAdapter } from "../../extension/language/languages.ts";
import { PassedOn } from "../../extension/language/passed-on.ts";
import { FakeClock } from "./fake-clock.ts";
import { editor, Position, TabInputText, TabInputTextDiff, tabOf, ViewColumn, workspace } from "./stand-in-vscode.ts";

const { Analysis } = await import("../../extension/language/analysis.ts");
const { Changes } = await import("../../extension/language/changes.ts");
const { documentHost, Editor, LARGEST_FILE } = await import("../../extension/language/editor.ts");
const { Documents } = await import("../../extension/language/documents.ts");
const { Languages } = await import("../../extension/language/languages.ts");
const { Signs } = await import("../../extension/language/signs.ts");
const { MomentaryTabs } = await import("../../extension/language/tabs.ts");

const TEXT = "file:///w/a.ts";
const FILE = URI.parse(TEXT);
const ABSENT = 0xffff_ffff;
const start = { line: 1, character: 2 };
const range = { start, end: start };
const place = { uri: TEXT, line: 3, character: 4 };

/** How long the adapter takes to say once whether it is ready, and how often it was asked that. */
let showing: Promise<void> | undefined;
let timesShown: number;

/** Of TypeScript, once `adapted` holds what it answers. */
const adapter: LanguageAdapter = {
  languages: new Set(["typescript"]),
  isUsable: async () => adapted.length > 0,
  isReady: async () => {
    timesShown++;
    await showing;
    return adapted[0]?.ready ?? false;
  },
  ready: async () => adapted[0]?.ready ?? false,
  diagnostics: async () => adapted[0]?.diagnostics as [] | undefined,
};

let ended: (readonly string[])[];
let unserved: string[];
let clock: FakeClock;
let analysis: InstanceType<typeof Analysis>;
let languages: InstanceType<typeof Languages>;
let adapted: { readonly ready?: boolean; readonly diagnostics?: readonly object[] }[];
let asked: InstanceType<typeof Editor>;

beforeEach(() => {
  editor.reset();
  editor.documents.push({ uri: FILE, languageId: "typescript", lines: ["", "two 😀"] });
  editor.languages.push("typescript");
  ended = [];
  unserved = [];
  clock = new FakeClock();
  analysis = new Analysis(clock);
  adapted = [];
  showing = undefined;
  timesShown = 0;
  languages = new Languages(analysis, [adapter], new Signs(clock, () => {}), clock);
  // The clock stands still while a real disk is looked at, and what waits for both would wait for ever.
  const open = (uri: string) =>
    workspace.openTextDocument(URI.parse(uri)) as unknown as ReturnType<typeof documentHost.open>;
  const documents = new Documents({ ...documentHost, ...clock, open, stampOnDisk: async () => undefined }, () => {});
  const tabs = new MomentaryTabs(clock, () => {});
  asked = new Editor({
    documents,
    analysis,
    languages,
    tabs: tabs,
    published: () =>
      new Changes(
        () => {},
        new PassedOn(
          clock,
          new Set(),
          () => [],
          () => {},
        ),
        documents,
        analysis,
        tabs,
      ).published(),
    mainDocuments: async () => [{ uri: TEXT, language: "typescript", hasReadinessProbe: true }],
    sessionsEnded: (ids) => ended.push(ids),
    unserved: (language) => unserved.push(language),
  });
});

/** Asks by a method of LSP, or puts a question of another kind. */
function ask(question: number | string, request: object) {
  const [kind, asking] =
    typeof question === "string" ? [QUESTION.ask, { method: question, ...request }] : [question, request];
  return put(asked, kind, JSON.stringify(asking));
}

test("each question is put to its own providers, with what it is about, and what they return is packed", async () => {
  const location = { uri: FILE, range };
  const at = [FILE, new Position(3, 4)];
  const symbol = { name: "n", kind: 1 };
  const cases: [method: string, request: object, command: unknown[], answer: object, widthOfRow: number][] = [
    ["textDocument/definition", place, ["vscode.executeDefinitionProvider", ...at], location, 9],
    ["textDocument/declaration", place, ["vscode.executeDeclarationProvider", ...at], location, 9],
    ["textDocument/references", place, ["vscode.executeReferenceProvider", ...at], location, 5],
    ["textDocument/hover", place, ["vscode.executeHoverProvider", ...at], { contents: ["n"], range }, 6],
    [
      "textDocument/documentSymbol",
      { uri: TEXT },
      ["vscode.executeDocumentSymbolProvider", FILE],
      { ...symbol, range, children: [] },
      12,
    ],
    ["workspace/symbol", { query: "n" }, ["vscode.executeWorkspaceSymbolProvider", "n"], { ...symbol, location }, 8],
  ];

  for (const [question, request, command, answer, widthOfRow] of cases) {
    editor.ran = [];
    editor.answer = [answer];
    const { outcome, cells } = await ask(question, request);
    assert.deepEqual(editor.ran, [command]);
    assert.equal(outcome, 0);
    const [strings = 0] = cells;
    assert.equal(cells.length, 1 + strings + widthOfRow, String(command[0]));
  }
});

test("the question for diagnostics is answered with all that are published, and runs nothing", async () => {
  editor.diagnostics.set(TEXT, [{ message: "m", range, severity: 1 }]);
  editor.diagnostics.set("file:///w/clean.ts", []);

  const { outcome, text, cells } = await ask("workspace/diagnostic", {});

  assert.equal(outcome, 0);
  assert.equal(text, `${TEXT}mfile:///w/clean.ts`);
  assert.deepEqual(
    [...cells],
    [
      [3, 14, 1, 18],
      [0, 1, 2, 1, 2, 1, ABSENT, ABSENT, 1],
      [2, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT],
    ].flat(),
  );
  assert.deepEqual(editor.ran, []);
});

test("nothing found is an empty answer, and no provider where no extension with code declares the language", async () => {
  const questions = ["textDocument/references", "textDocument/hover", "textDocument/documentSymbol"];
  for (const nothing of [[], undefined, null]) {
    editor.answer = nothing;
    for (const question of [...questions, "workspace/symbol"]) {
      const { outcome, cells } = await ask(question, { ...place, query: "n" });
      assert.deepEqual([outcome, ...cells], [0, 0]);
    }
  }

  editor.languages = [];
  // As VS Code's own extension for the colours of TypeScript, which is there when the one with the server is not.
  editor.manifests = [{ contributes: { languages: [{ id: "typescript", aliases: ["TypeScript"] }] } }];
  asked.forgetLanguages();
  assert.deepEqual(unserved, []);
  for (const question of questions) {
    assert.equal((await ask(question, place)).outcome, 1);
    assert.equal(unserved.pop(), "TypeScript");
  }
  assert.equal((await ask("workspace/symbol", { query: "n" })).outcome, 0, "no language is asked for");
  assert.deepEqual(unserved, []);
});

test("a language for which something was found has an answering extension, whatever the manifests say", async () => {
  editor.languages = [];
  const references = () => ask("textDocument/references", { uri: TEXT, line: 1, character: 0 });
  editor.answer = [];
  assert.equal((await references()).outcome, 1);
  editor.answer = [{ uri: FILE, range: undefined }];
  assert.equal((await references()).outcome, 0);
  editor.answer = [];
  assert.equal((await references()).outcome, 0, "Its server finds nothing, since it loads again.");
  asked.forgetLanguages();
  assert.equal((await references()).outcome, 1);
});

test("an open document says what its language's extension shows, and whoever waits is told when that has changed", async () => {
  const facts = async () => [...(await ask(QUESTION.open, { uri: TEXT })).cells].slice(-3, -1);
  let isReady: boolean | undefined = false;
  const activationEvents = ["onLanguage:typescript"];
  const exports = { gateway: { ready: () => isReady } };
  const extension = { id: "a.b", isActive: true, packageJSON: { main: "main.js", activationEvents }, exports };
  editor.installed.push(extension);
  assert.deepEqual(await facts(), [1, 0]);
  const ready = ask(QUESTION.ready, { uri: TEXT });
  await clock.pass(5_000);
  isReady = true;
  await clock.pass(100);
  assert.deepEqual([...(await ready).cells], [0, 1]);
  assert.deepEqual(await facts(), [1, 1]);

  isReady = false;
  const ended = ask(QUESTION.ready, { uri: TEXT });
  await clock.pass(5_000);
  isReady = undefined;
  await clock.pass(100);
  assert.deepEqual([...(await ended).cells], [0, 0], "It no longer says anything.");
});

test("a document is opened with or without a line to look at", async () => {
  const open = async (request: object) => {
    const { text, cells } = await ask(QUESTION.open, { uri: TEXT, ...request });
    assert.equal(text, "typescript");
    return [...cells].slice(2);
  };

  assert.deepEqual(await open({ line: 1 }), [2, 6, 0, 0, 0, 0]);
  assert.deepEqual(await open({ line: 0 }), [2, 0, 0, 0, 0, 0]);
  assert.deepEqual(await open({ line: 2 }), [2, ABSENT, 0, 0, 0, 0]);
  assert.deepEqual(await open({}), [2, ABSENT, 0, 0, 0, 0]);
});

test("an open document says whether its language tells when it is ready, and is, and whether a tab shows it", async () => {
  const facts = async () => [...(await ask(QUESTION.open, { uri: TEXT })).cells].slice(-3);

  const older = URI.parse("git:/w/a.ts");
  editor.tabs.push(tabOf(new TabInputText(URI.parse("file:///w/b.ts"))), tabOf(new TabInputTextDiff(FILE, older)));
  assert.deepEqual(await facts(), [0, 0, 0]);
  editor.tabs.push(tabOf(new TabInputTextDiff(older, FILE)));
  assert.deepEqual(await facts(), [0, 0, 1]);
  editor.tabs = [tabOf(new TabInputText(FILE))];
  assert.deepEqual(await facts(), [0, 0, 1]);

  adapted.push({});
  languages.extensionsChanged();
  assert.deepEqual(await facts(), [1, 0, 1]);
  adapted = [{ ready: true }];
  assert.deepEqual(await facts(), [1, 1, 1]);

  showing = Promise.reject(new Error("its server is gone"));
  assert.deepEqual(await facts(), [1, 0, 1]);
  assert.equal(clock.timers, 0);

  showing = new Promise(() => {});
  const opened = facts();
  await clock.pass(50);
  assert.deepEqual(await opened, [1, 0, 1], "Opening a document does not wait until its language has started.");
  const before = timesShown;
  const again = facts();
  await clock.pass(50);
  assert.deepEqual(await again, [1, 0, 1]);
  assert.equal(timesShown, before, "The first question is still under way.");
});

test("a language is ready when its adapter says so, and without one when its diagnostics have come to rest", async () => {
  const ready = async () => [...(await ask(QUESTION.ready, { uri: TEXT })).cells];
  analysis.opened(TEXT, "typescript");

  const believed = ready();
  await clock.pass(20_000);
  assert.deepEqual(await believed, [0, 0]);
  analysis.published(TEXT, () => false);
  await clock.pass(5_000);
  assert.deepEqual(await ready(), [0, 1]);

  adapted.push({ ready: false });
  languages.extensionsChanged();
  assert.deepEqual(await ready(), [0, 0]);
});

test("the main documents are handed on", async () => {
  const { text, cells } = await ask(QUESTION.mainDocuments, {});
  assert.equal(text, `${TEXT}typescript`);
  assert.deepEqual([...cells], [2, 14, 10, 0, 1, 1]);
});

test("without an adapter, a document's diagnostics are those that are published once they have come to rest", async () => {
  analysis.opened(TEXT, "typescript");
  let answer: string | undefined;
  const asking = ask("textDocument/diagnostic", { uri: TEXT }).then(({ text }) => {
    answer = text;
  });
  await clock.pass(100);
  editor.diagnostics.set(TEXT, [{ message: "m", range, severity: 1 }]);
  editor.diagnostics.set("file:///w/clean.ts", []);
  analysis.published(TEXT, () => false);
  await clock.pass(999);
  assert.equal(answer, undefined);
  await clock.pass(1);
  await asking;
  assert.equal(answer, `${TEXT}mfile:///w/clean.ts`);
});

/** Asks for the diagnostics of a document in which nobody has looked, and returns what to do while they are waited for. */
async function askInTab(meanwhile: () => void): Promise<string> {
  asked.mayOpenTabs = true;
  analysis.opened(TEXT, "typescript");
  await clock.pass(30_000);
  const asking = ask("textDocument/diagnostic", { uri: TEXT });
  await clock.pass(1_000);
  meanwhile();
  editor.diagnostics.set(TEXT, [{ message: "m", range, severity: 1 }]);
  analysis.published(TEXT, () => false);
  await clock.pass(1_000);
  return (await asking).text;
}

const SHOW_BESIDE = ["show", TEXT, { preserveFocus: true, preview: false, viewColumn: ViewColumn.Beside }];

test("where it may, it shows a document on which nobody has reported in a tab beside, and closes that", async () => {
  editor.tabs.push(tabOf({}));
  assert.equal(await askInTab(() => {}), `${TEXT}m`);
  assert.deepEqual(editor.ran, [SHOW_BESIDE, ["close", true]]);
});

test("a tab that the person has made theirs stays", async () => {
  const shown = () => editor.tabs.at(-1) ?? assert.fail("no tab was opened");
  const uses: (() => void)[] = [
    () => Object.assign(shown(), { isDirty: true }),
    () => Object.assign(shown().group, { isActive: true }),
    () => editor.fire("onDidChangeTextEditorSelection", { textEditor: { document: editor.documents[0] }, kind: 1 }),
    () => editor.tabs.pop(),
  ];
  for (const use of uses) {
    editor.ran = [];
    editor.diagnostics.clear();
    editor.tabs = [tabOf({})];
    await askInTab(use);
    assert.deepEqual(editor.ran, [SHOW_BESIDE], String(use));
  }
});

test("no tab is opened for a document that has one, on which somebody has reported, or whose adapter can be asked", async () => {
  asked.mayOpenTabs = true;
  const answer = async () => {
    const asking = ask("textDocument/diagnostic", { uri: TEXT });
    await clock.pass(20_000);
    await asking;
  };
  editor.tabs.push(tabOf(new TabInputText(FILE)));
  await answer();
  editor.tabs = [];
  editor.diagnostics.set(TEXT, []);
  await answer();
  editor.diagnostics.clear();
  adapted.push({ diagnostics: [] });
  languages.extensionsChanged();
  await answer();
  assert.deepEqual(editor.ran, []);
});

test("the diagnostics that an adapter knows take the place of those that are published for the document", async () => {
  editor.diagnostics.set(TEXT, [{ message: "old", range, severity: 1 }]);
  editor.diagnostics.set("file:///w/clean.ts", []);
  adapted.push({ diagnostics: [{ message: "new", range, severity: 1 }] });

  const { text } = await ask("textDocument/diagnostic", { uri: TEXT });
  assert.equal(text, `file:///w/clean.ts${TEXT}new`);
});

test("a document that cannot be opened is not found, and no provider is asked about it", async () => {
  const missing = "file:///w/missing.ts";

  assert.equal((await ask(QUESTION.open, { uri: missing, line: 0 })).outcome, 2);
  for (const question of ["textDocument/hover", "textDocument/documentSymbol"]) {
    await assert.rejects(ask(question, { ...place, uri: missing }), /no such file/);
  }
  assert.deepEqual(editor.ran, []);
});

test("a file that is too large for the editor is not asked of it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-large-"));
  try {
    const files = [LARGEST_FILE, LARGEST_FILE + 1].map((size) => {
      const file = join(folder, `${size}.ts`);
      writeFileSync(file, "");
      truncateSync(file, size);
      const uri = URI.file(file);
      editor.documents.push({ uri, languageId: "typescript", lines: [""] });
      return uri.toString();
    });
    const [largest = "", larger = ""] = files;
    assert.equal((await documentHost.open(largest)).uri.toString(), largest);
    await assert.rejects(async () => documentHost.open(larger), /too large/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("what is no answer to the question is refused", async () => {
  editor.answer = ["n"];
  for (const question of ["textDocument/hover", "textDocument/documentSymbol", "workspace/symbol"]) {
    await assert.rejects(ask(question, { ...place, query: "n" }), TypeError);
  }
});

test("ended sessions are handed on", async () => {
  assert.equal((await ask(QUESTION.sessionsEnded, ["one", "two"])).outcome, 0);
  assert.deepEqual(ended, [["one", "two"]]);
});
