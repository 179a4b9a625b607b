// `npm run bench:readiness`: how answers become whole while a language server is loading. Real projects, each in some fresh
// windows, asked every 100 ms from the first connection on. `-- --windows N` opens N windows for each, `-- --project TEXT`
// takes those projects only whose name has the text.

import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { packVsix } from "../harness/build/vsix.ts";
import { removeFolder, temporaryFolder } from "../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../harness/editor/real-vscode.ts";
import { startEditorAs } from "../harness/languages/language-servers.ts";
import { type Asked, type Course, isWhole, kindOf, seconds, told, watch } from "../harness/languages/readiness.ts";
import { command, Failure, step } from "../harness/machine/progress.mjs";
import { median } from "../harness/results/table.ts";
import { askDirectly, type Direct, LOADING_PROJECTS, type LoadingProject } from "./bench/loading-projects.ts";

const DEFAULT_WINDOWS = 5;
/**
 * How much later than the server itself the gateway may be whole without a mark. The server is so once it calls itself ready
 * and VS Code's own command, asked in the same window, has the whole answer.
 */
const MAX_LATER_MS = 2_000;
const PATIENCE_MS = 600_000;
/** How long it is asked after the first answer that is whole without a mark: none after that may be a part either. */
const LONGER_MS = 3_000;

/** A window, in milliseconds since the gateway was first connected to. */
interface Opened {
  readonly gateway: string;
  readonly ownWhole: number | undefined;
  readonly ready: number | undefined;
  readonly whole: number | undefined;
  /** How many answers were a part and did not say so. */
  readonly parts: number;
  /** How many were an error that does not say that the server is loading. */
  readonly errors: number;
  /** How many processes were running or waiting to, on average, in the minute before its end. */
  readonly load: number;
}

await command(async () => {
  const { values } = parseArgs({ options: { windows: { type: "string" }, project: { type: "string", default: "" } } });
  const windows = Number(values.windows ?? DEFAULT_WINDOWS);
  const projects = LOADING_PROJECTS.filter(({ name }) => name.includes(values.project));
  if (!(windows >= 1) || projects.length === 0) {
    const names = LOADING_PROJECTS.map(({ name }) => name).join(", ");
    throw new Failure(`--windows takes a number from 1 on, and --project a part of one of these: ${names}.`);
  }
  await packVsix("release");
  let areAllMet = true;
  for (const project of projects) {
    const direct = await step(`${project.name}, asked directly`, () => askDirectly(project));
    const opened: Opened[] = [];
    const editor = await startEditorAs(project.extension, await project.server());
    try {
      for (let number = 1; number <= windows; number += 1) {
        opened.push(await step(`${project.name}, window ${number} of ${windows}`, () => open(editor, project, direct)));
      }
    } finally {
      await editor.stop();
    }
    areAllMet = report(project, direct, opened) && areAllMet;
  }
  return areAllMet ? 0 : 1;
});

/** Opens a window on a copy of its own, which its own language server has to load anew. */
async function open(editor: RealVsCode, project: LoadingProject, { askIn }: Direct): Promise<Opened> {
  const folder = temporaryFolder("loading");
  try {
    await project.copyTo(folder);
    const asked = askIn(folder);
    return summaryOf(await watch(editor, folder, asked, PATIENCE_MS, LONGER_MS), asked);
  } finally {
    removeFolder(folder);
  }
}

function summaryOf({ begun, answers, own, ready }: Course, asked: Asked): Opened {
  const sinceBegun = (at: number | undefined): number | undefined => (at === undefined ? undefined : at - begun);
  const kinds = answers.map((answer) => kindOf(answer, asked));
  return {
    gateway: told(answers, begun),
    ownWhole: sinceBegun(own.find(({ found }) => found === asked.whole)?.at),
    ready: sinceBegun(ready),
    whole: sinceBegun(answers.find((answer) => isWhole(answer, asked))?.at),
    parts: kinds.filter((kind) => kind === "part").length,
    errors: kinds.filter((kind) => kind === "error").length,
    load: loadavg()[0] ?? Number.NaN,
  };
}

/** Writes the windows as a table of Markdown. Returns whether the bars are met. */
function report({ name, shows }: LoadingProject, { whole, firstAnswer }: Direct, opened: readonly Opened[]): boolean {
  const cells = [
    [
      ...["window", "the gateway", "VS Code's own command is whole", "the server is ready"],
      ...["the gateway is whole without a mark", "after both", "unmarked parts", "other errors", "load"],
    ],
    ...opened.map((window, index) => [
      ...[`${index + 1}`, window.gateway, shown(window.ownWhole), shown(window.ready)],
      ...[shown(window.whole), shown(later(window)), `${window.parts}`, `${window.errors}`, window.load.toFixed(1)],
    ]),
  ];
  const [head, ...rows] = cells.map((line) => `| ${line.join(" | ")} |`);
  const rule = `|${" --- |".repeat(cells[0]?.length ?? 0)}`;
  const parts = opened.reduce((sum, window) => sum + window.parts, 0);
  const errors = opened.reduce((sum, window) => sum + window.errors, 0);
  const isWithoutParts = parts === 0 && errors === 0;
  const isEachWhole = opened.every((window) => window.whole !== undefined && window.ownWhole !== undefined);
  const times = opened.map((window) => later(window) ?? Number.POSITIVE_INFINITY);
  const isInTime = !shows || times.every((time) => time <= MAX_LATER_MS);
  const verdicts = [
    `${mark(isWithoutParts)} unmarked parts: ${parts}, other errors: ${errors}; windows: ${opened.length}; bar 0`,
    `${mark(isEachWhole)} whole in the end, in each window`,
    shows
      ? `${mark(isInTime)} whole without a mark after the server itself: worst ${seconds(Math.max(...times))}, median ${seconds(median(times))}, bar ${seconds(MAX_LATER_MS)}`
      : "     nothing shows when the server is ready",
    `     asked directly as soon as it was ready, the server took ${seconds(firstAnswer)} to answer`,
  ];
  process.stdout.write(
    [`### ${name}, ${whole} references`, "", head, rule, ...rows, "", ...verdicts, "", ""].join("\n"),
  );
  return isWithoutParts && isEachWhole && isInTime;
}

function later({ whole, ready, ownWhole }: Opened): number | undefined {
  return whole === undefined || ready === undefined || ownWhole === undefined
    ? undefined
    : Math.max(0, whole - Math.max(ready, ownWhole));
}

function shown(milliseconds: number | undefined): string {
  return milliseconds === undefined ? "—" : seconds(milliseconds);
}

function mark(isMet: boolean): string {
  return isMet ? "ok  " : "MISS";
}
