import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Location } from "./project.ts";
import { compileStrictly, readSchema, TOOLS } from "./schemas.ts";

const GOLDEN = new URL("../golden/", import.meta.url);

type Case = { tool: string; expect: { payload?: object } };

function readCases(): [file: string, content: Case][] {
  const files = globSync("*/*.json", { cwd: fileURLToPath(GOLDEN) });
  return files.map((file) => [file, JSON.parse(readFileSync(new URL(file, GOLDEN), "utf8"), writtenOut)]);
}

/** In the files a location with `onLines` stands for as many items, each a line further down. */
function writtenOut(_: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.flatMap((item) => {
    const { onLines, ...location } = item ?? {};
    return onLines === undefined ? [item] : Array.from({ length: onLines }, (_, line) => movedDown(location, line));
  });
}

function movedDown({ range: { start, end }, ...rest }: Location, lines: number): Location {
  return {
    ...rest,
    range: { start: { ...start, line: start.line + lines }, end: { ...end, line: end.line + lines } },
  };
}

test("every payload of the golden cases fits the output schema of its tool", () => {
  const validators = new Map(TOOLS.map((tool) => [tool as string, compileStrictly(readSchema(`${tool}.output.json`))]));
  let checked = 0;
  for (const [file, { tool, expect }] of readCases()) {
    if (expect.payload === undefined) continue;
    const fits = validators.get(tool);
    assert.ok(fits?.(expect.payload), `${file}: ${JSON.stringify(fits?.errors)}`);
    checked += 1;
  }
  assert.ok(checked > 0);
});
