// What the gateway costs inside a real VS Code: how long others have to wait in the extension host while it pages, and how
// much later an answer comes than the editor's own command would give it.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { packVsix } from "../../harness/build/vsix.ts";
import type { Api } from "../../harness/editor/extensions/handover/inside.ts";
import { freePort } from "../../harness/editor/gateway-window.ts";
import { packHandover, takeConfiguration } from "../../harness/editor/handover.ts";
import { type EditorWindow, RealVsCode, stopOnSignals } from "../../harness/editor/real-vscode.ts";
import { Failure } from "../../harness/machine/progress.mjs";
import { median, ROUNDS, type Row } from "../../harness/results/table.ts";
import { type Payload, ServedGateway } from "./host-process.ts";
import { RustProcess } from "./rust.ts";

const CLIENTS = 16;
const CALLERS = 100;
const CALLS_IN_EACH = 20;
const PAGING_MILLIS = 3_000;
const QUESTIONS = 20;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/** How long VS Code may take to start and to load the project. */
const PATIENCE = 120_000;

/** A question that VS Code has a command for. */
interface Asked {
  readonly command: string;
  readonly uri: string;
  readonly line: number;
  readonly character: number;
}

export async function measureRealVsCode(): Promise<Row[]> {
  const { file } = await packVsix("release");
  const project = new Project();
  const editor = await RealVsCode.start({
    extensions: [file, await packHandover()],
    settings: { "mcpLspGateway.port": await freePort() },
  });
  stopOnSignals(editor, 1);
  const load = new RustProcess("load");
  try {
    const window = await editor.openWindow(project.folder);
    const { url, token } = await takeConfiguration(window.handover);
    const gateway = await ServedGateway.connect(Number(new URL(url).port), token, project.called);
    return [
      await measureDelay(window, gateway, project, load),
      ...(await measureQuestions(window, gateway, project, load)),
    ];
  } finally {
    load.end();
    await editor.stop();
    project.remove();
  }
}

async function measureDelay(
  window: EditorWindow,
  gateway: ServedGateway,
  project: Project,
  load: RustProcess,
): Promise<Row> {
  const args = { uri: project.called, position: project.declaration, includeDeclaration: true, pageSize: 100 };
  const first = await onceReady(gateway, "references", args);
  const next = { ...args, cursor: first.nextCursor };
  const page = await gateway.call("references", next);
  if (page.payload.items.length !== 100) {
    throw new Failure(`A page of 100 references has ${page.payload.items.length} in VS Code.`);
  }
  const floor = await RustProcess.floor(page.bytes, gateway.token);
  try {
    const requests = [gateway.request("references", next)];
    const delayWhile = async (port: number): Promise<number> => {
      await window.inside(beginDelays, undefined);
      await load.load({ port, connections: CLIENTS, requests, millis: PAGING_MILLIS, most: NO_LIMIT });
      return window.inside(endDelays, undefined);
    };
    const differences: number[] = [];
    // The first round only warms up.
    for (let round = -1; round < ROUNDS; round += 1) {
      const ports = round % 2 === 0 ? [gateway.port, floor.port] : [floor.port, gateway.port];
      const delays = new Map<number, number>();
      for (const port of ports) {
        delays.set(port, await delayWhile(port));
      }
      if (round >= 0) {
        differences.push((delays.get(gateway.port) ?? Number.NaN) - (delays.get(floor.port) ?? Number.NaN));
      }
    }
    return {
      name: `event-loop delay in VS Code's extension host, ${CLIENTS} clients paging: p99 above that while they page the floor`,
      value: median(differences),
      bar: 1,
      sense: "at most",
      unit: "ms",
    };
  } finally {
    floor.process.end();
  }
}

async function measureQuestions(
  window: EditorWindow,
  gateway: ServedGateway,
  project: Project,
  load: RustProcess,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [tool, command] of [
    ["definition", "vscode.executeDefinitionProvider"],
    ["hover", "vscode.executeHoverProvider"],
  ] as const) {
    const place = { uri: project.caller, position: project.call };
    await onceReady(gateway, tool, place);
    const requests = [gateway.request(tool, place)];
    const asked: Asked = { command, uri: project.caller, ...project.call };
    const differences: number[] = [];
    for (let round = -1; round < ROUNDS; round += 1) {
      const outer: number[] = [];
      const inner: number[] = [];
      // One by one in turn, since how long VS Code takes changes from one moment to the next.
      for (let question = 0; question < QUESTIONS; question += 1) {
        const report = await load.load({ port: gateway.port, connections: 1, requests, millis: NO_LIMIT, most: 1 });
        outer.push(report.p50 / 1e3);
        inner.push(await window.inside(timeCommand, asked));
      }
      if (round >= 0) {
        differences.push(median(outer) - median(inner));
      }
    }
    rows.push({
      name: `${tool} in VS Code: the gateway's p50 above that of the same command called inside the extension host`,
      value: median(differences),
      bar: 1.5,
      sense: "at most",
      unit: "ms",
    });
  }
  return rows;
}

/** The payload, once VS Code has started and its language server has loaded the project. */
async function onceReady(gateway: ServedGateway, tool: string, args: object): Promise<Payload> {
  for (const deadline = Date.now() + PATIENCE; ; ) {
    try {
      return (await gateway.call(tool, args)).payload;
    } catch (error) {
      if (Date.now() > deadline) {
        throw error;
      }
      await delay(500);
    }
  }
}

/** Inside the extension host: watches from now on how late its event loop is. */
function beginDelays(): void {
  const { monitorEventLoopDelay } = process.getBuiltinModule("node:perf_hooks");
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  Object.assign(globalThis, { benchDelays: delays });
}

/** Inside the extension host: the p99 since `beginDelays`, in milliseconds. */
function endDelays(): number {
  const { benchDelays } = globalThis as unknown as {
    benchDelays: { disable(): void; percentile(percent: number): number };
  };
  benchDelays.disable();
  return benchDelays.percentile(99) / 1e6;
}

/** Inside the extension host: the milliseconds that a command takes right after it was called once, as a load begins. */
async function timeCommand(vscode: Api, { command, uri, line, character }: Asked): Promise<number> {
  const place = [vscode.Uri.parse(uri), new vscode.Position(line, character)];
  await vscode.commands.executeCommand(command, ...place);
  const begun = performance.now();
  await vscode.commands.executeCommand(command, ...place);
  return performance.now() - begun;
}

/** One function, and files that call it. */
class Project {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "gateway-bench-vscode-")));
  readonly called: string;
  readonly declaration = { line: 0, character: "export function ".length };
  readonly caller: string;
  readonly call = { line: 1, character: 0 };

  constructor() {
    mkdirSync(join(this.folder, "src"));
    const options = { strict: true, target: "ES2022", module: "ES2022", types: [] };
    writeFileSync(join(this.folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["src"] }));
    this.called = this.#add("called.ts", "export function called(): void {}\n");
    const text = `import { called } from "./called";\n${"called();\n".repeat(CALLS_IN_EACH)}`;
    const callers = Array.from({ length: CALLERS }, (_, number) => this.#add(`caller-${number}.ts`, text));
    this.caller = callers[0] ?? "";
  }

  #add(name: string, text: string): string {
    const file = join(this.folder, "src", name);
    writeFileSync(file, text);
    return pathToFileURL(file).href;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
