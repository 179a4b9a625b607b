import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { editor } from "./stand-in-vscode.ts";

const { Consents } = await import("../../extension/gateway/consents.ts");

let memory: Map<string, unknown>;
let granted: number;

beforeEach(() => {
  editor.reset();
  memory = new Map();
  granted = 0;
});

/** The consents of a window that has just been opened; what the workspace remembers lives on. */
function open(): InstanceType<typeof Consents> {
  const workspaceState = {
    keys: () => [...memory.keys()],
    get: (key: string) => memory.get(key),
    update: async (key: string, value: unknown) => void memory.set(key, value),
  };
  return new Consents(workspaceState as ConstructorParameters<typeof Consents>[0], () => {
    granted++;
  });
}

test("a folder is allowed by the person's word alone, told once it is, and remembered", async () => {
  editor.choices = ["Allow"];
  const consents = open();
  assert.deepEqual([...consents.allowed()], []);

  consents.ask(["/srv/a"]);
  await setImmediate();

  assert.deepEqual([...consents.allowed()], ["/srv/a"]);
  assert.equal(granted, 1);
  assert.equal(editor.questions.length, 1);
  assert.match(editor.questions[0] ?? "", /\/srv\/a; allow it only if you trust/);
  assert.deepEqual([...open().allowed()], ["/srv/a"]);
});

test("a refusal and a question that is closed allow nothing, and are not asked again before the window is loaded again", async () => {
  editor.choices = ["Don't Allow", undefined];
  const consents = open();

  consents.ask(["/srv/a", "/srv/b"]);
  await setImmediate();
  consents.ask(["/srv/a", "/srv/b"]);
  await setImmediate();

  assert.deepEqual(
    editor.questions.map((question) => /under (\S+);/.exec(question)?.[1]),
    ["/srv/a", "/srv/b"],
  );
  assert.deepEqual([...consents.allowed()], []);
  assert.equal(granted, 0);

  open().ask(["/srv/a"]);
  await setImmediate();
  assert.equal(editor.questions.length, 3);
});

test("what is remembered and is no list of paths allows nothing", () => {
  for (const remembered of ["/", { length: 1 }, null, [7, null]]) {
    memory.set("allowedRoots", remembered);
    assert.deepEqual([...open().allowed()], []);
  }
});
