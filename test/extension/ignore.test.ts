import assert from "node:assert/strict";
import { test } from "node:test";
import { countedPaths, pathInside } from "../../extension/ignore.ts";
import { DEFAULT_IGNORE } from "../../extension/settings.ts";

const POSIX = { skip: process.platform === "win32" ? "posix paths" : false };

test("by default git's own files, logs, caches and build outputs do not count", POSIX, () => {
  const counts = countedPaths(["/w"], DEFAULT_IGNORE, () => false);

  for (const path of [
    "/w/.git/HEAD",
    "/w/.git",
    "/w/packages/a/.git/index",
    "/w/npm.log",
    "/w/deep/.hidden.log",
    "/w/node_modules/.cache/x/.y",
    "/w/dist/main.js",
    "/w/dist",
    "/w/a/out/.tsbuildinfo",
    "/w/build/b",
    "/w/native/target/debug/x",
    "/w/src/__pycache__/m.pyc",
  ]) {
    assert.equal(counts(path), false, path);
  }
  for (const path of [
    "/w",
    "/w/src/main.ts",
    "/w/.gitignore",
    "/w/.github/workflows/ci.yml",
    "/w/node_modules/a/index.d.ts",
    "/w/distribution/a.ts",
    "/w/logs",
  ]) {
    assert.equal(counts(path), true, path);
  }
});

test("what lies outside the roots does not count", POSIX, () => {
  const counts = countedPaths(["/w/a"], [], () => true);

  assert.equal(counts("/w/a/x"), true);
  assert.equal(counts("/w/ab/x"), false);
  assert.equal(counts("/w"), false);
  assert.equal(counts("/w/..a"), false);
});

test("an ignored path counts while its document is open", POSIX, () => {
  const open = new Set<string>();
  const counts = countedPaths(["/w"], DEFAULT_IGNORE, (path) => open.has(path));

  assert.equal(counts("/w/dist/main.js"), false);
  open.add("/w/dist/main.js");
  assert.equal(counts("/w/dist/main.js"), true);
  assert.equal(counts("/w/dist/other.js"), false);
});

test("a root inside an ignored folder of another root is watched for itself", POSIX, () => {
  const counts = countedPaths(["/w", "/w/build/generated"], DEFAULT_IGNORE, () => false);

  assert.equal(counts("/w/build/generated/api.ts"), true);
  assert.equal(counts("/w/build/other.ts"), false);
});

test("a root that lies in a folder of an ignored name is not ignored itself", POSIX, () => {
  const counts = countedPaths(["/home/me/build/w"], DEFAULT_IGNORE, () => false);

  assert.equal(counts("/home/me/build/w/main.ts"), true);
});

test("a folder whose name starts with two dots lies inside", POSIX, () => {
  assert.equal(pathInside("/w", "/w/..a/b"), "..a/b");
  assert.equal(pathInside("/w", "/b"), undefined);
  assert.equal(pathInside("/w", "/w"), "");
});
