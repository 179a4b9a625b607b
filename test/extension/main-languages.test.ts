import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContributedLanguage } from "../../extension/language/language-contributions.ts";
import {
  filesOf,
  isMainLanguage,
  MAX_CANDIDATES,
  MAX_LANGUAGES,
  mainFiles,
} from "../../extension/language/main-languages.ts";

function language(id: string, extensions: readonly string[] = [`.${id}`], filenames: readonly string[] = []) {
  return {
    id,
    name: id,
    extensions: new Set(extensions),
    filenames: new Set(filenames),
    isServed: true,
  } satisfies ContributedLanguage;
}

/** The chosen paths by language. */
function chosen(paths: readonly string[], ...languages: readonly ContributedLanguage[]): Record<string, string[]> {
  const files = mainFiles(
    paths.map((path) => ({ uri: `file:///w/${path}`, path })),
    languages,
  );
  return Object.fromEntries([...files].map(([id, list]) => [id, list.map(({ path }) => path)]));
}

test("languages of data and prose are none of the main ones, and neither are those that nothing answers for", () => {
  for (const id of ["json", "jsonc", "css", "scss", "less", "html", "markdown", "plaintext", "yaml", "xml", "ini"]) {
    assert.equal(isMainLanguage(language(id)), false, id);
  }
  for (const id of ["properties", "log", "dotenv", "ignore", "diff", "git-commit", "git-rebase"]) {
    assert.equal(isMainLanguage(language(id)), false, id);
  }
  for (const id of ["typescript", "javascriptreact", "python", "cpp", "php", "vue"]) {
    assert.equal(isMainLanguage(language(id)), true, id);
    assert.equal(isMainLanguage({ ...language(id), isServed: false }), false, id);
  }
});

test("the pattern is for all files of the languages, and leaves out what would mean something else in a pattern", () => {
  assert.equal(
    filesOf([language("c", [".c", ".c++"]), language("m", [], ["Makefile"])]),
    "{**/*.c,**/*.c++,**/Makefile}",
  );
  assert.equal(filesOf([language("odd", [".{a,b}", ".a*", ".[a]"], ["a/b", "?"])]), undefined);
  assert.equal(filesOf([]), undefined);
});

test("the languages with most files come first, and no more than five", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const paths = ids.flatMap((id, index) => Array.from({ length: index + 1 }, (_, file) => `${file}.${id}`));
  const files = chosen([...paths, "g.g"], ...ids.map((id) => language(id)));
  assert.deepEqual(Object.keys(files), ["f", "e", "d", "c", "b"]);
  assert.equal(MAX_LANGUAGES, 5);
  assert.deepEqual(Object.keys(chosen(["a.b", "a.a"], language("b"), language("a"))), ["a", "b"]);
});

test("a shallow file is taken, by its path, and a test or a declaration only where there is nothing else", () => {
  const paths = [
    "src/z.ts",
    "src/a/a.ts",
    "src/m.ts",
    "a.d.ts",
    "b.test.ts",
    "c_test.ts",
    "test_d.ts",
    "test/e.ts",
    "src/__tests__/f.ts",
    "g.spec.ts",
  ];
  const { ts } = chosen(paths, language("ts"));
  assert.deepEqual(ts?.slice(0, 4), ["src/m.ts", "src/z.ts", "src/a/a.ts", "a.d.ts"]);
  assert.equal(ts?.length, paths.length);
  assert.deepEqual(chosen(["src/testing/contest.ts", "z.d.ts"], language("ts")), {
    ts: ["src/testing/contest.ts", "z.d.ts"],
  });
});

test("no more files than can be tried are remembered", () => {
  const paths = Array.from({ length: MAX_CANDIDATES + 5 }, (_, index) => `${String(index).padStart(2, "0")}.ts`);
  assert.deepEqual(chosen(paths.toReversed(), language("ts")), { ts: paths.slice(0, MAX_CANDIDATES) });
});

test("a file belongs to the language that names it, then to the one with the longest ending", () => {
  const languages = [language("php"), language("blade", [".blade.php"]), language("make", [".mk"], ["build.php"])];
  assert.deepEqual(chosen(["a.php", "a.blade.php", "x/build.php", "a.b.php", "php", "noextension"], ...languages), {
    php: ["a.b.php", "a.php"],
    blade: ["a.blade.php"],
    make: ["x/build.php"],
  });
});
