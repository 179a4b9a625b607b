import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { PassedOn } from "../../extension/passed-on.ts";
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
  extensions.push(ANOTHER);
  await seen([0, "/w/a.ts"]);
  assert.deepEqual(told, [[300, "/w/a.ts"]]);
});
