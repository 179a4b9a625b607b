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

/** What the thread did in one round: until the first answer, and while files were written. */
type Round = readonly [start: LoopCosts, writes: LoopCosts];

/** Prints what the thread does over so many files and over one, taken by turns. */
export async function compareLoops(files: number): Promise<void> {
  const projects = [new Project(1), new Project(files)];
  try {
    const rounds: Round[][] = projects.map(() => []);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, project] of projects.entries()) {
        rounds[index]?.push(await takeRound(project));
      }
    }
    say(`| The editor's thread, medians of ${ROUNDS} | 1 file | ${files} files | difference |`);
    say("| --- | --- | --- | --- |");
    for (const [part, name] of ["until the first answer", `while ${WRITTEN} files are written`].entries()) {
      for (const [figure, of] of [["active", "activeMs"] as const, ["longest delay", "longestMs"] as const]) {
        const [one = Number.NaN, many = Number.NaN] = rounds.map((all) =>
          median(all.map((round) => round[part]?.[of] ?? Number.NaN)),
        );
        say(`| ${name}: ${figure} | ${one.toFixed(1)} ms | ${many.toFixed(1)} ms | ${(many - one).toFixed(1)} ms |`);
      }
    }
  } finally {
    for (const project of projects) {
      project.remove();
    }
  }
}

/** A gateway in a fresh process; this process writes. */
async function takeRound(project: Project): Promise<Round> {
  const host = new HostProcess();
  const loop = async () => (await host.command("loop", null)) as LoopCosts;
  const folder = join(project.root, "written");
  try {
    await host.command("workspace", { files: project.files.slice(0, 1), references: 1 });
    await loop();
    const gateway = await host.serve(project);
    await answered(gateway);
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
