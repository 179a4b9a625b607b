// `npm run bench:start`: what our extension costs when a window opens, in a real VS Code, against the bars.

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { packVsix } from "../harness/build/vsix.ts";
import { packHandover, takeConfiguration } from "../harness/editor/handover.ts";
import { type EditorWindow, RealVsCode, stopOnSignals } from "../harness/editor/real-vscode.ts";
import { extensionId, manifest, root } from "../harness/layout.ts";
import { command, Failure, step } from "../harness/machine/progress.mjs";

const STARTS = 10;
const MAX_ACTIVATION = 50;
const MAX_LISTENING = 300;

await command(async () => {
  const { file } = await packVsix("release");
  const editor = await RealVsCode.start({ extensions: [file, await packHandover()] });
  stopOnSignals(editor, 1);
  try {
    const activations: number[] = [];
    for (let start = 1; start <= STARTS; start += 1) {
      const window = await editor.openWindow(join(root, "harness", "workspace"));
      await step(`Start ${start} of ${STARTS}`, () => takeConfiguration(window.handover));
      activations.push(await activationTime(window));
      await window.close();
    }
    const met = [
      report("activate() and loading its code, in the extension host", activations, MAX_ACTIVATION),
      report("from the activation to the listening port", listeningTimes(editor.logs), MAX_LISTENING),
    ];
    return met.every(Boolean) ? 0 : 1;
  } finally {
    await editor.stop();
  }
});

/** The milliseconds that VS Code itself measured and shows among the running extensions. */
async function activationTime(window: EditorWindow): Promise<number> {
  // The list draws only the rows that are in sight.
  await window.page.setViewportSize({ width: 1400, height: 3000 });
  await window.runCommand("Developer: Show Running Extensions");
  const name = window.page.getByText(manifest.displayName, { exact: true });
  const row = window.page.locator(".runtime-extensions-editor .extension").filter({ has: name });
  const text = await row.locator(".activation-time").textContent();
  const milliseconds = /(\d+)ms/.exec(text ?? "")?.[1];
  if (milliseconds === undefined) {
    throw new Failure("VS Code shows no activation time: look at Developer: Show Running Extensions.");
  }
  return Number(milliseconds);
}

/** From the two logs of each extension host: when it began to activate us, and when we said that the port listens. */
function listeningTimes(logs: string): number[] {
  return globSync(`**/${extensionId}/*.log`, { cwd: logs }).map((ours) => {
    const host = join(logs, dirname(dirname(ours)), "remoteexthost.log");
    const started = timeOf(host, `_doActivateExtension ${extensionId},`);
    return timeOf(join(logs, ours), "Listening on ") - started;
  });
}

function timeOf(log: string, text: string): number {
  const line = readFileSync(log, "utf8")
    .split("\n")
    .find((candidate) => candidate.includes(text));
  if (line === undefined) {
    throw new Failure(`${log} has no line with ${JSON.stringify(text)}: the log's wording has changed.`);
  }
  return Date.parse(line.slice(0, "2026-01-01 00:00:00.000".length));
}

function report(what: string, times: readonly number[], bar: number): boolean {
  const sorted = times.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
  const met = median <= bar && times.length === STARTS;
  process.stdout.write(
    `${met ? "ok  " : "MISS"} ${what}: median ${median} ms of ${times.length} starts (${sorted.join(", ")}), bar ${bar} ms\n`,
  );
  return met;
}
