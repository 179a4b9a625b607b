// `npm run bench`: what the gateway costs, as ratios within one run. `-- --json FILE` writes the rows as well. `-- --quick`
// takes a minute at most, with fewer calls, a single process where memory is looked at and no VS Code, and leaves
// docs/PERFORMANCE.md as it is.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildAddon } from "../harness/build/addon.ts";
import { root } from "../harness/layout.ts";
import { command, step } from "../harness/machine/progress.mjs";
import { isMet, ROUNDS, type Row, table, written } from "../harness/results/table.ts";
import { measureManyCalls, measureRetainedSets } from "./bench/memory.ts";
import { measurePaging } from "./bench/paging.ts";
import { performanceDocument } from "./bench/performance.ts";
import { Project } from "./bench/project.ts";
import { measureRealVsCode } from "./bench/real-vscode.ts";
import { measureReferences } from "./bench/references.ts";
import { buildRustBench } from "./bench/rust.ts";
import { measureWholeCalls } from "./bench/whole-calls.ts";

const FILES = 2_000;

await command(async () => {
  const { values } = parseArgs({ options: { quick: { type: "boolean", default: false }, json: { type: "string" } } });
  await buildAddon("release");
  await buildRustBench();
  const project = new Project(FILES);
  try {
    const paging = await step("Paging", () => measurePaging(project, values.quick ? 200 : 1_000));
    const references = await step("References", () => measureReferences(project));
    const wholeCalls = await step("Whole calls", measureWholeCalls);
    const rounds = values.quick ? 1 : ROUNDS;
    const retainedSets = await step("Memory of retained sets", () => measureRetainedSets(project, rounds));
    const calls = { before: 10_000, after: values.quick ? 50_000 : 1_000_000 };
    const manyCalls = await step("Memory after many calls", () => measureManyCalls(project, calls, rounds));
    const realVsCode = values.quick ? [] : await step("A real VS Code", measureRealVsCode);
    const rows: Row[] = [...paging.rows, ...references, ...wholeCalls, ...realVsCode, ...retainedSets, ...manyCalls];
    process.stdout.write(`${table(rows)}\n\n`);
    for (const { connections, perSecond } of paging.floor) {
      const noun = connections === 1 ? "connection" : "connections";
      process.stdout.write(`The floor, ${connections} ${noun}: ${Math.round(perSecond)} requests a second.\n`);
    }
    if (values.json !== undefined) {
      writeFileSync(values.json, `${JSON.stringify(written(rows), null, 2)}\n`);
    }
    if (!values.quick) {
      writeFileSync(join(root, "docs", "PERFORMANCE.md"), performanceDocument(rows, paging));
    }
    return rows.every(isMet) ? 0 : 1;
  } finally {
    project.remove();
  }
});
