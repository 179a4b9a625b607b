import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { writtenOut } from "../../harness/results/golden-notation.ts";
import { compileStrictly, readDescriptions, readSchema } from "./schemas.ts";

const GOLDEN = new URL("../golden/", import.meta.url);

type Case = { tool: string; expect: { payload?: object } };

function readCases(): [file: string, content: Case][] {
  const files = globSync("*/*.json", { cwd: fileURLToPath(GOLDEN) });
  return files.map((file) => [file, writtenOut(JSON.parse(readFileSync(new URL(file, GOLDEN), "utf8"))) as Case]);
}

test("every payload of the golden cases fits the output schema of its tool", () => {
  const tools = Object.keys(readDescriptions());
  const validators = new Map(tools.map((tool) => [tool, compileStrictly(readSchema(`${tool}.output.json`))]));
  let checked = 0;
  for (const [file, { tool, expect }] of readCases()) {
    if (expect.payload === undefined) continue;
    const fits = validators.get(tool);
    assert.ok(fits?.(expect.payload), `${file}: ${JSON.stringify(fits?.errors)}`);
    checked += 1;
  }
  assert.ok(checked > 0);
});
