// `npm run bench:freshness`: writes files under a real VS Code and asks at once, on rxjs and on a Python project. Prints how
// many answers were about the files before the write, and how long the right ones took from the write on.

import { parseArgs } from "node:util";
import { openGateway, startEditor } from "../test/host/gateway-window.ts";
import { LanguageProject } from "../test/host/language-project.ts";
import { pyright } from "../test/host/language-servers.ts";
import { OwnWrites, PYTHON, type Trial, TYPESCRIPT } from "../test/host/own-writes.ts";
import { RxjsWorkspace } from "../test/host/rxjs-workspace.ts";
import { command, Failure, say, step } from "./progress.mjs";
import { packVsix } from "./vsix.ts";

const DEFAULT_TRIALS = 1_000;
const DEFAULT_SEED = 20_251_122;

await command(async () => {
  const { values } = parseArgs({ options: { trials: { type: "string" }, seed: { type: "string" } } });
  const count = Number(values.trials ?? DEFAULT_TRIALS);
  const seed = Number(values.seed ?? DEFAULT_SEED);
  if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed)) {
    throw new Failure("--trials takes a number from 1 on, and --seed a whole number.");
  }
  await packVsix("release");
  const outcomes = [
    ["TypeScript", await step(`${count} trials on rxjs`, () => typescript(count, seed))],
    ["Python", await step(`${count} trials on a Python project`, () => python(count, seed))],
  ] as const;
  say("| language | trials | stale | errors | within three calls | median | p99 |");
  say("| --- | --- | --- | --- | --- | --- | --- |");
  for (const [language, trials] of outcomes) {
    say(line(language, trials));
    for (const name of [...new Set(trials.map(({ write, question }) => `${write}, ${question}`))].sort()) {
      say(
        line(
          name,
          trials.filter(({ write, question }) => `${write}, ${question}` === name),
        ),
      );
    }
  }
  for (const { write, question, outcome, answer } of outcomes.flatMap(([, trials]) => trials)) {
    if (outcome !== "right") {
      say(`${outcome}: ${write}, ${question}: ${answer}`);
    }
  }
  return outcomes.some(([, trials]) => trials.some(({ outcome }) => outcome === "stale")) ? 1 : 0;
});

async function typescript(count: number, seed: number): Promise<Trial[]> {
  const rxjs = await RxjsWorkspace.create();
  const editor = await startEditor();
  try {
    const { client } = await openGateway(editor, rxjs.folder);
    const { uri, position } = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
    await client.references(uri, position);
    const trials = await run(await OwnWrites.begin(client, rxjs.folder, TYPESCRIPT, seed), count);
    await client.close();
    return trials;
  } finally {
    await editor.stop();
    rxjs.remove();
  }
}

async function python(count: number, seed: number): Promise<Trial[]> {
  const project = await LanguageProject.open("python", await pyright());
  try {
    await project.untilWhole("fleet.py", { line: 0, character: 6 }, 6);
    return await run(await OwnWrites.begin(project.gateway.client, project.folder, PYTHON, seed), count);
  } finally {
    await project.close();
  }
}

async function run(trials: OwnWrites, count: number): Promise<Trial[]> {
  const outcomes: Trial[] = [];
  while (outcomes.length < count) {
    outcomes.push(await trials.next());
  }
  return outcomes;
}

function line(name: string, trials: readonly Trial[]): string {
  const right = trials.filter(({ outcome }) => outcome === "right");
  const times = right.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string => `${Math.round(times[Math.floor(times.length * share)] ?? 0)} ms`;
  const stale = trials.filter(({ outcome }) => outcome === "stale").length;
  const errors = trials.reduce((sum, { calls, outcome }) => sum + calls - (outcome === "unanswered" ? 0 : 1), 0);
  const share = ((100 * right.length) / trials.length).toFixed(1);
  return `| ${[name, trials.length, stale, errors, `${share} %`, at(0.5), at(0.99)].join(" | ")} |`;
}
