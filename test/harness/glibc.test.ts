import assert from "node:assert/strict";
import { test } from "node:test";
import { newestGlibc } from "../../harness/build/addon.ts";

test("the newest glibc that a library names is found, by number and not by letter", () => {
  const library = Buffer.concat([
    Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0]),
    Buffer.from("GLIBC_2.4\0GLIBC_2.28\0GLIBC_2.3\0GLIBC_PRIVATE\0GCC_4.2.0\0"),
  ]);
  assert.equal(newestGlibc(library), "2.28");
  assert.equal(newestGlibc(Buffer.from("GLIBCXX_3.4.30")), "0");
});
