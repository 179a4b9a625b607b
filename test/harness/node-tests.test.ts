import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { root } from "../../harness/layout.ts";

test("a test that says what the machine lacks is told of, and one that is merely skipped has failed", () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-node-tests-"));
  try {
    const file = join(folder, "some.test.ts");
    writeFileSync(
      file,
      `import { test } from "node:test";
test("runs", () => {});
test("breaks", () => { throw new Error("broken"); });
test("lacks", { skip: "it takes a disk" }, () => {});
test("is skipped", { skip: true }, () => {});
test("is to be written", { todo: "later" }, () => {});
`,
    );
    const runner = join(folder, "runner.ts");
    writeFileSync(
      runner,
      `import { runNodeTests } from ${JSON.stringify(join(root, "harness", "results", "node-tests.ts"))};
const selection = { files: [${JSON.stringify(file)}], concurrency: 1, layerOf: () => "plain" };
const { passed, failures, notRun } = await runNodeTests(selection);
console.log(JSON.stringify({ passed, failed: failures.map((text) => text.split(" (")[0]), notRun: notRun.length }));
console.log(notRun[0]);
console.log(failures[0].split("\\n")[1].trim());
`,
    );
    // Whoever runs tests is not run inside of tests, as far as Node can tell.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = spawnSync(process.execPath, [runner], { env });
    const [tally = "", missing = "", alone = ""] = stdout.toString().split("\n");
    assert.deepEqual(JSON.parse(tally), {
      passed: 1,
      failed: ["FAIL breaks", "FAIL is skipped", "FAIL is to be written"],
      notRun: 1,
    });
    assert.equal(alone, `alone: npm run test:plain -- ${relative(root, file)} --grep 'breaks'`);
    assert.match(missing, /^NOT RUN lacks \(.*: it takes a disk$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
