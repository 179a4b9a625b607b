// `npm run bench:view`: what the activity view costs in a real VS Code with 100 calls a second: shown against
// hidden, and hidden against never opened. Linux only, as it reads the processor's time from /proc.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { packVsix } from "../harness/build/vsix.ts";
import { RawClient } from "../harness/clients/raw-client.ts";
import { packHandover, takeConfiguration } from "../harness/editor/handover.ts";
import { type EditorWindow, RealVsCode, stopOnSignals } from "../harness/editor/real-vscode.ts";
import { root } from "../harness/layout.ts";
import { command, Failure, step } from "../harness/machine/progress.mjs";
import { median } from "../harness/results/table.ts";
import { SteadyLoad } from "./bench/steady-load.ts";

/** How long each state is measured at a time, and how often. */
const MEASURED_MILLIS = 30_000;
const DEFAULT_ROUNDS = 5;
/** Until a window that has just been opened does no more than its extensions ask of it. */
const START_MILLIS = 60_000;
/** Until what a change of state has set off is over: new pages are loaded, and the browser collects old ones. */
const SETTLE_MILLIS = 30_000;
const MAX_SHOWN_PERCENT = 1;
/** The unit of processor time in /proc, which is the same on every Linux that Node runs on. */
const TICK_MILLIS = 10;

/** Percent of one core. */
interface Share {
  readonly host: number;
  readonly browser: number;
}

await command(async () => {
  const { values } = parseArgs({ options: { rounds: { type: "string" } } });
  const rounds = Number(values.rounds ?? DEFAULT_ROUNDS);
  const { file } = await packVsix("release");
  const editor = await RealVsCode.start({
    extensions: [file, await packHandover()],
    // A line in the log for each call takes the extension host more than the view does.
    settings: { "mcpLspGateway.logLevel": "warn" },
  });
  stopOnSignals(editor, 1);
  try {
    const window = await editor.openWindow(join(root, "harness", "workspace"));
    const configuration = await takeConfiguration(window.handover);
    const host = await window.inside(() => process.pid, null);
    const load = await SteadyLoad.start(await RawClient.connect(configuration));
    const measured = (state: string, round: number): Promise<Share> =>
      step(`${state}, ${round} of ${rounds}`, () => measure(host));
    await delay(START_MILLIS);
    const never: Share[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      never.push(await measured("Never opened", round));
    }
    await show(window);
    await hide(window);
    // In turn, so that whatever else the machine and the editor do meets both states.
    const hidden: Share[] = [await measured("Hidden", 0)];
    const shown: Share[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      await show(window);
      shown.push(await measured("Shown", round));
      await hide(window);
      hidden.push(await measured("Hidden", round));
    }
    const made = await load.end();
    process.stdout.write(`${made.toFixed(1)} calls a second, ${MEASURED_MILLIS / 1e3} s for each value\n`);
    report("never opened", never);
    report("hidden", hidden);
    report("shown", shown);
    tell("hidden above never opened", middle(hidden, total) - middle(never, total));
    tell("shown above hidden, of it in the extension host", median(differences(shown, hidden, hostOf)));
    const costs = differences(shown, hidden, total);
    const cost = median(costs);
    tell(`shown above hidden (bar ${MAX_SHOWN_PERCENT} %; ${each(costs)})`, cost);
    return cost <= MAX_SHOWN_PERCENT ? 0 : 1;
  } finally {
    await editor.stop();
  }
});

async function show(window: EditorWindow): Promise<void> {
  await window.inside((vscode) => void vscode.commands.executeCommand("mcpLspGateway.showActivity"), null);
  const page = window.page.frameLocator("iframe.webview").last().frameLocator("iframe");
  await page.getByRole("option").first().waitFor();
  await delay(SETTLE_MILLIS);
}

async function hide(window: EditorWindow): Promise<void> {
  await window.inside((vscode) => void vscode.commands.executeCommand("workbench.view.explorer"), null);
  await window.page.locator("iframe.webview").waitFor({ state: "detached" });
  await delay(SETTLE_MILLIS);
}

/** What the extension host, and all processes of the browser together, take of a core for a while. */
async function measure(host: number): Promise<Share> {
  const begun = performance.now();
  const before = times(host);
  await delay(MEASURED_MILLIS);
  const after = times(host);
  const elapsed = performance.now() - begun;
  return {
    host: ((after.host - before.host) / elapsed) * 100,
    browser: ((after.browser - before.browser) / elapsed) * 100,
  };
}

/** Milliseconds of processor time so far. */
function times(host: number): Share {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), stat(Number(name))] as const),
  );
  const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(parents.get(pid)?.parent ?? 0));
  const browsers = [...parents].filter(([pid, { name }]) => /chrom/i.test(name) && isOurs(pid));
  if (browsers.length === 0) {
    throw new Failure("No process of the browser was found in /proc.");
  }
  return {
    host: parents.get(host)?.millis ?? Number.NaN,
    browser: browsers.reduce((sum, [, { millis }]) => sum + millis, 0),
  };
}

function stat(pid: number): { name: string; parent: number; millis: number } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const end = text.lastIndexOf(")");
    const fields = text.slice(end + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { name: text.slice(text.indexOf("(") + 1, end), parent: Number(fields[1]), millis: ticks * TICK_MILLIS };
  } catch {
    // It has ended since the folder was read.
    return { name: "", parent: 0, millis: 0 };
  }
}

function total({ host, browser }: Share): number {
  return host + browser;
}

function hostOf({ host }: Share): number {
  return host;
}

function middle(shares: readonly Share[], of: (share: Share) => number): number {
  return median(shares.map(of));
}

/** How much each time in sight lies above what was before and after it. */
function differences(shown: readonly Share[], hidden: readonly Share[], of: (share: Share) => number): number[] {
  const around = hidden.slice(1).map((after, round) => (of(hidden[round] ?? after) + of(after)) / 2);
  return shown.map((share, round) => of(share) - (around[round] ?? Number.NaN));
}

function each(percents: readonly number[]): string {
  return percents.map((percent) => percent.toFixed(2)).join(", ");
}

function report(state: string, shares: readonly Share[]): void {
  const host = middle(shares, hostOf).toFixed(2);
  const browser = middle(shares, ({ browser: share }) => share).toFixed(2);
  process.stdout.write(
    `${state}: ${middle(shares, total).toFixed(2)} % of a core (host ${host}, browser ${browser}; ${each(shares.map(total))})\n`,
  );
}

function tell(what: string, percent: number): void {
  process.stdout.write(`${what}: ${percent.toFixed(2)} % of a core\n`);
}
