import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { URI } from "vscode-uri";
import type { LanguageAdapter } from "../../extension/language/languages.ts";
import { FakeClock, settled } from "./fake-clock.ts";
import { editor } from "./stand-in-vscode.ts";

const { Analysis } = await import("../../extension/language/analysis.ts");
const { Documents } = await import("../../extension/language/documents.ts");
const { documentHost } = await import("../../extension/language/editor.ts");
const { Languages } = await import("../../extension/language/languages.ts");
const { Signs } = await import("../../extension/language/signs.ts");
const { WarmUp } = await import("../../extension/language/warm-up.ts");

let folder: string;
let warmUp: InstanceType<typeof WarmUp>;
/** What is shown, one after the other. */
let shown: string;
/** Called when TypeScript is asked if it is ready, with what says that it is. */
let onAsked: (isReady: () => void) => void;

const adapter: LanguageAdapter = {
  languages: new Set(["typescript"]),
  isUsable: async () => true,
  isReady: async () => false,
  ready: () => new Promise((resolve) => onAsked(() => resolve(true))),
  diagnostics: async () => undefined,
};

beforeEach(() => {
  editor.reset();
  folder = realpathSync(mkdtempSync(join(tmpdir(), "warm-up-")));
  editor.folder = folder;
  editor.manifests.push({
    main: "main.js",
    contributes: {
      languages: [
        { id: "typescript", aliases: ["TypeScript"], extensions: [".ts"] },
        { id: "python", aliases: ["Python"], extensions: [".py"] },
        { id: "json", aliases: ["JSON"], extensions: [".json"] },
      ],
    },
  });
  shown = "";
  onAsked = () => {};
  const clock = new FakeClock();
  const analysis = new Analysis(clock);
  warmUp = new WarmUp({
    documents: new Documents({ ...documentHost, ...clock, stampOnDisk: async () => undefined }, () => {}),
    languages: new Languages(analysis, [adapter], new Signs(clock, () => {}), clock),
    show: (languages) => {
      shown += `[${languages.join()}]`;
    },
  });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Makes files, which the editor finds and can open. */
function make(files: Readonly<Record<string, string>>, length = 1): void {
  for (const [file, languageId] of Object.entries(files)) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "x".repeat(length));
    editor.files.push({ uri: URI.file(path), languageId, lines: [""] });
  }
}

function uri(file: string): string {
  return URI.file(join(folder, file)).toString();
}

/** Starts, and resolves to what makes TypeScript ready once it was asked if it is. */
function startAndAsk(): Promise<() => void> {
  return new Promise((resolve) => {
    onAsked = resolve;
    warmUp.start();
  });
}

test("a document of each main language is opened, with whether the language tells when it is ready", async () => {
  make({ "src/a.ts": "typescript", "src/b.ts": "typescript", "tool.py": "python", "a.json": "json" });
  warmUp.isWanted = true;
  const main = [
    { uri: uri("src/a.ts"), language: "typescript", hasReadinessProbe: true },
    { uri: uri("tool.py"), language: "python", hasReadinessProbe: false },
  ];
  assert.deepEqual(await warmUp.mainDocuments(), main);
  assert.deepEqual(editor.opened, [uri("src/a.ts"), uri("tool.py")]);
  assert.deepEqual(await warmUp.mainDocuments(), main);
  assert.equal(editor.opened.length, 4, "They are opened again each time.");
  assert.equal(editor.searches.length, 1, "The files are looked for once.");
  assert.match(String(editor.searches[0]?.[0]), /^\{\*\*\/\*\.ts,\*\*\/\*\.py\}$/);
  assert.match(String(editor.searches[0]?.[1]), /node_modules/);

  make({ "tool2.py": "python", "tool3.py": "python" });
  warmUp.workspaceChanged();
  assert.deepEqual(
    (await warmUp.mainDocuments()).map(({ language }) => language),
    ["python", "typescript"],
  );
});

test("a file that is too large or gone is passed over for the next", async () => {
  make({ "a.ts": "typescript" }, 1_000_001);
  make({ "b.ts": "typescript" });
  make({ "c.ts": "typescript" }, 1_000_000);
  warmUp.isWanted = true;
  rmSync(join(folder, "b.ts"));
  assert.deepEqual(
    (await warmUp.mainDocuments()).map((document) => document.uri),
    [uri("c.ts")],
  );
  rmSync(join(folder, "c.ts"));
  assert.deepEqual(await warmUp.mainDocuments(), []);
});

test("what is reached through a link inside the folder is passed over, and a folder that is a link itself is not", async () => {
  const real = join(folder, "real");
  make({ "real/b.ts": "typescript" });
  symlinkSync(join(real, "b.ts"), join(real, "a.ts"));
  const link = join(folder, "link");
  symlinkSync(real, link);
  editor.folder = link;
  editor.files = ["a.ts", "b.ts"].map((name) => ({
    uri: URI.file(join(link, name)),
    languageId: "typescript",
    lines: [""],
  }));
  warmUp.isWanted = true;
  assert.deepEqual(
    (await warmUp.mainDocuments()).map((document) => document.uri),
    [URI.file(join(link, "b.ts")).toString()],
  );
});

test("where nothing may be opened unasked, the main documents are those that are open", async () => {
  make({ "a.ts": "typescript", "b.ts": "typescript", "c.ts": "typescript", "a.py": "python", "a.json": "json" });
  editor.documents = editor.files.filter(({ uri: { path } }) => !path.endsWith("/a.ts"));
  editor.documents.push({ uri: URI.parse("untitled:a.py"), languageId: "python", lines: [] });
  assert.deepEqual(
    (await warmUp.mainDocuments()).map((document) => document.uri),
    [uri("b.ts"), uri("a.py")],
  );
  assert.deepEqual(editor.searches, []);
});

test("nothing is opened before the start, nor where it is not wanted", async () => {
  make({ "a.ts": "typescript" });
  warmUp.isWanted = true;
  warmUp.workspaceChanged();
  warmUp.isWanted = false;
  warmUp.start();
  warmUp.isWanted = false;
  await warmUp.mainDocuments();
  assert.deepEqual([editor.opened, editor.searches], [[], []]);
});

test("the languages are shown until they are ready", async () => {
  make({ "a.ts": "typescript" });
  warmUp.isWanted = true;
  const becomeReady = await startAndAsk();
  assert.equal(shown, "[][][TypeScript]");
  becomeReady();
  await settled();
  assert.equal(shown, "[][][TypeScript][]");
});

test("after the end nothing is shown any more, whatever was under way", async () => {
  make({ "a.ts": "typescript" });
  warmUp.isWanted = true;
  const becomeReady = await startAndAsk();
  warmUp.stop();
  becomeReady();
  await settled();
  assert.equal(shown, "[][][TypeScript][]");
});

test("a search that fails finds nothing", async () => {
  editor.searchFails = true;
  warmUp.isWanted = true;
  assert.deepEqual(await warmUp.mainDocuments(), []);
});
