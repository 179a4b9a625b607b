import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pickSubject } from "../../harness/languages/pick-subject.ts";

test("of C without any structure, a function is asked about that another file calls", () => {
  const folder = mkdtempSync(join(tmpdir(), "subject-"));
  writeFileSync(join(folder, "a.c"), "#include <stdio.h>\nstatic int *next_one(int x) {\n  return next_one(x);\n}\n");
  writeFileSync(join(folder, "b.c"), "int main(void) {\n  return *next_one(1);\n}\n");
  const { name, declaration, use } = pickSubject(folder);
  rmSync(folder, { recursive: true });
  assert.deepEqual([name, declaration.position, use.position.line], ["next_one", { line: 1, character: 12 }, 1]);
});
