import assert from "node:assert/strict";
import { test } from "node:test";
import { readWish } from "../../view/messages.ts";

test("what the page may ask for is read, and nothing else of the message is kept", () => {
  assert.deepEqual(readWish({ kind: "ready", more: 1 }), { kind: "ready" });
  assert.deepEqual(readWish({ kind: "run", action: "connect" }), { kind: "run", action: "connect" });
  assert.deepEqual(readWish({ kind: "open", call: 7, uri: "file:///etc/passwd" }), { kind: "open", call: 7 });
});

test("whatever else a page sends is no wish", () => {
  const junk = [
    undefined,
    null,
    "ready",
    7,
    [],
    {},
    { kind: "constructor" },
    { kind: "run" },
    { kind: "run", action: "workbench.action.quit" },
    { kind: "run", action: "toString" },
    { kind: "run", action: ["connect"] },
    { kind: "open" },
    { kind: "open", call: "7" },
    { kind: "open", call: 0 },
    { kind: "open", call: -1 },
    { kind: "open", call: 1.5 },
    { kind: "open", call: Number.NaN },
    { kind: "open", call: 2 ** 60 },
    { kind: "open", uri: "file:///etc/passwd" },
  ];
  for (const message of junk) {
    assert.equal(readWish(message), undefined, JSON.stringify(message));
  }
});
