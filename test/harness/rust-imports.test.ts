import assert from "node:assert/strict";
import { test } from "node:test";
import { circlesIn } from "../../harness/results/rust-imports.ts";

test("a circle of imports is found however the files name each other", () => {
  const files = new Map([
    ["lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\nuse crate::a::A;\n"],
    ["a.rs", "use crate::b::{self, B};\n"],
    ["b.rs", "fn b() -> crate::c::C {}\n"],
    ["c.rs", "use crate::{a, d::D};\n"],
    ["d.rs", "mod inner;\nfn d() { inner::work() }\n"],
    ["d/inner.rs", "use super::D;\n"],
  ]);
  assert.deepEqual(circlesIn(files), [
    ["a.rs", "b.rs", "c.rs"],
    ["d.rs", "d/inner.rs"],
  ]);
});

test("what goes one way is no circle, and neither is what tests, comments and modules inside a file name", () => {
  const files = new Map([
    ["lib.rs", "use crate::b::B;\n"],
    ["a.rs", "// crate::b\nmod inside {\n    use super::A;\n}\n#[cfg(test)]\nuse crate::b;\n"],
    ["b/mod.rs", "use crate::a::A;\npub use inner::I;\n"],
    ["b/inner.rs", "use super::other::O;\n"],
    ["b/other.rs", "pub(in crate::b) struct O;\n"],
  ]);
  assert.deepEqual(circlesIn(files), []);
});
