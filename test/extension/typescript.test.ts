import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { URI } from "vscode-uri";
import { FakeClock, settled } from "./fake-clock.ts";
import { editor } from "./stand-in-vscode.ts";

const { TypeScriptAdapter } = await import("../../extension/language/typescript.ts");

type Document = Parameters<InstanceType<typeof TypeScriptAdapter>["ready"]>[0];

const TEXT = "file:///w/a.ts";
const FILE = URI.parse(TEXT);
const EXTENSION = "vscode.typescript-language-features";
const REQUEST = "typescript.tsserverRequest";

let clock: FakeClock;
let adapter: InstanceType<typeof TypeScriptAdapter>;

beforeEach(() => {
  editor.reset();
  clock = new FakeClock();
  adapter = new TypeScriptAdapter(clock);
});

function document(languageId = "typescript"): Document {
  return { uri: FILE, languageId } as unknown as Document;
}

/** What the server says to each request for diagnostics. */
function serverSays(diagnostics: Readonly<Record<string, readonly object[]>>): void {
  editor.answer = (_command: string, request: string) => ({ type: "response", body: diagnostics[request] ?? [] });
}

function item(text: string, category: string, more: object = {}): object {
  return { start: { line: 1, offset: 2 }, end: { line: 3, offset: 4 }, text, category, code: 2322, ...more };
}

/** The messages and severities of what the adapter knows. */
async function found(languageId?: string): Promise<unknown[] | undefined> {
  const diagnostics = await adapter.diagnostics(document(languageId));
  return diagnostics?.map(({ message, severity, source }) => [message, severity, source]);
}

test("it is usable if the extension is there, and has the command once it is activated", async () => {
  assert.equal(await adapter.isUsable(), false);
  editor.manifests.push({ id: EXTENSION });
  assert.equal(await adapter.isUsable(), false);
  assert.deepEqual(editor.ran, [["activate", EXTENSION]]);
  editor.commands.push(REQUEST);
  assert.equal(await adapter.isUsable(), true);
});

test("the project is loaded once the semantic server has answered, be it that it has nothing to say", async () => {
  for (const answer of [{ type: "noContent" }, { type: "response", body: {} }]) {
    editor.ran = [];
    editor.answer = answer;
    assert.equal(await adapter.ready(document()), true);
    const about = { file: FILE, line: 1, offset: 1 };
    assert.deepEqual(editor.ran, [[REQUEST, "quickinfo", about, { executionTarget: 0 }]]);
  }
});

test("as long as the server does not run, drops the question or fails, it is asked again, at growing intervals", async () => {
  const answers: unknown[] = [
    () => Promise.reject(new Error("No Project.")),
    undefined,
    { type: "cancelled" },
    { type: "noServer" },
    { type: "noContent" },
  ];
  const times: number[] = [];
  editor.answer = () => {
    times.push(clock.time);
    const answer = answers.shift();
    return typeof answer === "function" ? answer() : answer;
  };
  const ready = adapter.ready(document());
  await clock.pass(5_000);
  assert.equal(await ready, true);
  assert.deepEqual(times, [0, 50, 150, 350, 750]);
});

test("a server that never answers is given up after 20 s, and one that is busy is waited for", async () => {
  editor.answer = undefined;
  const given = adapter.ready(document());
  await clock.pass(20_000);
  assert.equal(await given, false);

  let answer: (value: object) => void = () => {};
  editor.answer = () => new Promise((resolve) => (answer = resolve));
  let isReady: boolean | undefined;
  void adapter.ready(document()).then((value) => {
    isReady = value;
  });
  await clock.pass(60_000);
  assert.equal(isReady, undefined);
  answer({ type: "noContent" });
  await settled();
  assert.equal(isReady, true);
});

test("what the server says is converted as the extension does it for tabs", async () => {
  serverSays({
    syntacticDiagnosticsSync: [item("syntax", "error")],
    semanticDiagnosticsSync: [item("style", "error", { code: 6133 }), item("warning", "warning")],
    suggestionDiagnosticsSync: [item("suggestion", "suggestion", { source: "plugin" }), item("other", "message")],
  });
  assert.deepEqual(await found(), [
    ["syntax", 0, "ts"],
    ["style", 1, "ts"],
    ["warning", 1, "ts"],
    ["suggestion", 3, "plugin"],
    ["other", 0, "ts"],
  ]);
  const [first] = (await adapter.diagnostics(document())) ?? [];
  assert.equal(first?.code, 2322);
  assert.deepEqual(JSON.parse(JSON.stringify(first?.range)), {
    start: { line: 0, character: 1 },
    end: { line: 2, character: 3 },
  });
});

test("it takes the place of what the extension published, and leaves what others did", async () => {
  editor.diagnostics.set(TEXT, [
    { message: "stale", severity: 0, source: "ts" },
    { message: "stale of a plugin", severity: 0, source: "plugin" },
    { message: "lint", severity: 1, source: "eslint" },
    { message: "nobody's", severity: 2 },
  ]);
  serverSays({ semanticDiagnosticsSync: [item("new", "error", { source: "plugin" })] });
  assert.deepEqual(await found("javascript"), [
    ["new", 0, "plugin"],
    ["lint", 1, "eslint"],
    ["nobody's", 2, undefined],
  ]);
});

test("where the extension is told not to validate the language, only what is published counts", async () => {
  serverSays({ semanticDiagnosticsSync: [item("new", "error")] });
  editor.settings.set("javascript.validate.enable", false);
  assert.equal(await found("javascriptreact"), undefined);
  assert.equal((await found("typescriptreact"))?.length, 1);

  editor.settings.set("js/ts.validate.enabled", true);
  assert.equal((await found("javascript"))?.length, 1, "The newer name wins.");
  editor.settings.set("js/ts.validate.enabled", false);
  assert.equal(await found("typescript"), undefined);
});

test("what the extension is told not to show is left out, and matters of style are what it is told they are", async () => {
  serverSays({
    semanticDiagnosticsSync: [item("style", "error", { code: 6133 })],
    suggestionDiagnosticsSync: [
      item("suggestion", "suggestion"),
      item("unnecessary", "suggestion", { reportsUnnecessary: true }),
      item("deprecated", "suggestion", { reportsDeprecated: true }),
    ],
  });
  editor.settings.set("typescript.suggestionActions.enabled", false);
  editor.settings.set("typescript.reportStyleChecksAsWarnings", false);
  assert.deepEqual(await found(), [
    ["style", 0, "ts"],
    ["unnecessary", 3, "ts"],
    ["deprecated", 3, "ts"],
  ]);
});

test("a server that does not say what it knows is an error, and not a clean file", async () => {
  editor.answer = { type: "noContent" };
  await assert.rejects(adapter.diagnostics(document()), /did not answer/);
});
