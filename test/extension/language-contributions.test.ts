import assert from "node:assert/strict";
import { test } from "node:test";
import { contributedLanguages } from "../../extension/language/language-contributions.ts";

function languages(...manifests: unknown[]) {
  return contributedLanguages(manifests.map((packageJSON) => ({ packageJSON })));
}

test("what several extensions contribute of a language is one, and its first name counts", () => {
  const found = languages(
    { contributes: { languages: [{ id: "c", aliases: ["C", "c"], extensions: [".c"] }] } },
    {
      contributes: {
        languages: [{ id: "c", aliases: ["C99"], extensions: [".i"], filenames: ["cfile"] }, { id: "d" }],
      },
    },
  );
  assert.deepEqual(
    [...found.values()].map(({ id, name, extensions, filenames }) => [id, name, [...extensions], [...filenames]]),
    [
      ["c", "C", [".c", ".i"], ["cfile"]],
      ["d", "d", [], []],
    ],
  );
});

test("a language is served if an extension with code contributes it or starts for it", () => {
  const found = languages(
    { contributes: { languages: [{ id: "coloured" }, { id: "started" }, { id: "contributed" }] } },
    { activationEvents: ["onLanguage:coloured"] },
    { main: "main.js", activationEvents: ["*", "onLanguage", "onLanguage:started", "onCommand:x"] },
    { browser: "web.js", contributes: { languages: [{ id: "contributed" }] } },
  );
  assert.deepEqual(
    [...found.values()].filter(({ isServed }) => isServed).map(({ id }) => id),
    ["started", "contributed"],
  );
});

test("a manifest that says nothing sensible says nothing", () => {
  const odd = [
    undefined,
    null,
    7,
    [],
    {},
    { contributes: null },
    { contributes: { languages: {} } },
    { contributes: { languages: [null, 7, {}, { id: 7 }] } },
    {
      main: 7,
      activationEvents: { 0: "onLanguage:a" },
      contributes: { languages: [{ id: "a", extensions: [7, ".a"] }] },
    },
  ];
  const found = languages(...odd);
  assert.deepEqual([...found.keys()], ["a"]);
  assert.deepEqual([...(found.get("a")?.extensions ?? [])], [".a"]);
  assert.equal(found.get("a")?.isServed, false);
});
