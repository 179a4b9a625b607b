import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { MAX_TOLD, PassedOn } from "../../extension/language/passed-on.ts";
import { FakeClock } from "./fake-clock.ts";

const TYPESCRIPT_BUILTIN = { packageJSON: { isBuiltin: true, main: "m", activationEvents: ["onLanguage:typescript"] } };
const ANOTHER = { packageJSON: { main: "m", activationEvents: ["onLanguage:javascriptreact"] } };
const COLOURS = { packageJSON: { contributes: { languages: [{ id: "typescript" }] } } };

let clock: FakeClock;
let extensions: { packageJSON: unknown }[];
/** When files were told of, and which. */
let told: [at: number, ...paths: string[]][];
let passedOn: PassedOn;

beforeEach(() => {
  clock = new FakeClock();
  extensions = [TYPESCRIPT_BUILTIN, COLOURS, { packageJSON: undefined }];
  told = [];
  passedOn = new PassedOn(
    clock,
    new Set(["typescript", "javascriptreact"]),
    () => extensions,
    (files) => told.push([clock.time, ...files.map(({ path }) => path)]),
  );
});

/** The editor sees these files, each so many milliseconds after the one before. */
async function seen(...files: [after: number, path: string][]): Promise<void> {
  for (const [after, path] of files) {
    await clock.pass(after);
    passedOn.saw({ path, kind: "changed" });
  }
  await clock.pass(10_000);
}

test("a file is told of once nothing more has come for as long as the clients of language servers wait", async () => {
  await seen([0, "/w/a.py"], [200, "/w/b.py"], [299, "/w/c.py"]);
  assert.deepEqual(told, [[799, "/w/a.py", "/w/b.py", "/w/c.py"]]);
});

test("a file of TypeScript or JavaScript is told of as soon as VS Code's own extension has passed it on", async () => {
  await seen([0, "/w/a.ts"], [100, "/w/b.mjs"], [0, "/w/c.py"], [50, "/w/d.tsx"]);
  assert.deepEqual(told, [
    [130, "/w/a.ts", "/w/b.mjs"],
    [280, "/w/d.tsx"],
    [400, "/w/c.py"],
  ]);
});

test("where another extension serves them as well, they are told of as all others", async () => {
  await seen([0, "/w/a.ts"]);
  extensions.push(ANOTHER);
  passedOn.extensionsChanged();
  const begun = clock.time;
  await seen([0, "/w/a.ts"]);
  assert.deepEqual(told, [
    [130, "/w/a.ts"],
    [begun + 300, "/w/a.ts"],
  ]);
});

test("of very many files that are seen together, only the first are told of", async () => {
  await seen(...Array.from({ length: MAX_TOLD + 10 }, (_, index): [number, string] => [0, `/w/${index}.py`]));
  assert.deepEqual(
    told.map(([at, ...paths]) => [at, paths.length, paths.at(-1)]),
    [[300, 4_096, "/w/4095.py"]],
  );
});
