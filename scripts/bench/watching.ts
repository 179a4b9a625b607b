// What a watch costs the editor's thread: a gateway over very many files beside one over a single file.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Failure, say } from "../../harness/machine/progress.mjs";
import { median } from "../../harness/results/table.ts";
import type { LoopCosts } from "./host.ts";
import { HostProcess, type ServedGateway } from "./host-process.ts";
import { Project } from "./project.ts";

const ROUNDS = 7;
const WRITTEN = 2_000;
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;

const FIGURES = [
  ["measured for", "spanMs"],
  ["active", "activeMs"],
  ["on a processor", "processorMs"],
  ["longest delay", "longestMs"],
] as const;

/** What the thread did until the first answer, and while files were written. */
type Round = readonly [start: LoopCosts, writes: LoopCosts];

/** Prints what the thread does over so many files and over one, taken by turns. */
export async function compareLoops(files: number): Promise<void> {
  const [few, many] = [new Project(1), new Project(files)];
  try {
    const rounds: { few: Round; many: Round }[] = [];
    while (rounds.length < ROUNDS) {
      const ofMany = await takeRound(many, 0);
      // For as long, since the measurement itself takes some of the thread.
      rounds.push({ many: ofMany, few: await takeRound(few, ofMany[0].spanMs) });
    }
    say(`| The editor's thread, medians of ${ROUNDS} rounds | 1 file | ${files} files | difference |`);
    say("| --- | --- | --- | --- |");
    for (const [part, name] of [
      [0, "until the first answer"],
      [1, `while ${WRITTEN} files are written`],
    ] as const) {
      for (const [figure, of] of FIGURES) {
        const ms = (values: readonly number[]) => `${median(values).toFixed(1)} ms`;
        const [ofFew, ofMany] = [rounds.map(({ few }) => few[part][of]), rounds.map(({ many }) => many[part][of])];
        const differences = ofMany.map((value, round) => value - (ofFew[round] ?? Number.NaN));
        say(`| ${name}: ${figure} | ${ms(ofFew)} | ${ms(ofMany)} | ${ms(differences)} |`);
      }
    }
  } finally {
    few.remove();
    many.remove();
  }
}

/** A gateway in a process of its own, whose first part lasts at least so long; this process writes. */
async function takeRound(project: Project, atLeastMs: number): Promise<Round> {
  const host = new HostProcess();
  const loop = async () => (await host.command("loop", null)) as LoopCosts;
  const folder = join(project.root, "written");
  try {
    await host.command("workspace", { files: project.files.slice(0, 1), references: 1 });
    await loop();
    const begun = performance.now();
    const gateway = await host.serve(project);
    await answered(gateway);
    await delay(Math.max(0, begun + atLeastMs - performance.now()));
    const start = await loop();
    mkdirSync(folder);
    for (let file = 0; file < WRITTEN; file += 1) {
      writeFileSync(join(folder, `${file}.ts`), "");
    }
    await answered(gateway);
    return [start, await loop()];
  } finally {
    host.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Asks until there is an answer: over many files, the first question may come before all of them were walked. */
async function answered(gateway: ServedGateway): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; ; ) {
    try {
      await gateway.call("references", gateway.place(1));
      return;
    } catch (error) {
      if (!(error instanceof Failure) || performance.now() > until) {
        throw error;
      }
    }
    await delay(PAUSE_MS);
  }
}
