// The process that stands for the extension host: it loads the built addon, answers its questions with objects like
// VS Code's, and does what the messages of its parent say. `HostProcess` is the parent's side.

import { createRequire } from "node:module";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { carryQuestions, type Host } from "../../extension/boundary/questions.ts";
import {
  noProvider,
  noted,
  packDiagnostics,
  packHovers,
  packLocations,
  packMainDocuments,
  packOpen,
  packReady,
  packTargets,
  packWorkspaceSymbols,
} from "../../extension/boundary/rows.ts";
import type * as Native from "../../extension/native.d.ts";
import { addonFile } from "../../harness/layout.ts";
import { timePacking } from "./packing.ts";
import { diagnostics, type Location, references, workspaceSymbols } from "./vscode-objects.ts";

/** What the providers return from now on. */
export interface Workspace {
  readonly files: readonly string[];
  readonly references?: number;
  readonly symbols?: number;
  readonly diagnosticsInEach?: number;
}

export interface Commands {
  /** Resolves to the port. */
  start: Native.GatewayOptions;
  workspace: Workspace;
  /** Resolves to the resident bytes once everything is collected that can be. */
  resident: null;
  /** Resolves to `LoopCosts` since this was asked before; the first time, to nothing that counts. */
  loop: null;
  /** Resolves to `PackingTimes`. */
  packing: { readonly files: readonly string[]; readonly sizes: readonly number[]; readonly rounds: number };
}

/** What this thread did. */
export interface LoopCosts {
  readonly spanMs: number;
  /** How long it was not idle; this counts while another process has the processor. */
  readonly activeMs: number;
  /** How long it had a processor. */
  readonly processorMs: number;
  /** By how much the latest of its timers was late. */
  readonly longestMs: number;
}

const RESOLUTION_MS = 10;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let before = { loop: performance.eventLoopUtilization(), processor: process.threadCpuUsage() };

const native: typeof Native = createRequire(import.meta.url)(addonFile);
let gateway: Native.Gateway | undefined;
let found: Location[] = [];
let symbols: unknown[] = [];
let published: unknown[] = [];

process.on("message", (message: { id: number; name: keyof Commands; argument: never }) => {
  obey(message.name, message.argument).then(
    (done) => process.send?.({ id: message.id, done }),
    (error) => process.send?.({ id: message.id, failed: String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));

async function obey(name: keyof Commands, argument: never): Promise<unknown> {
  switch (name) {
    case "start":
      gateway = await native.Gateway.start(argument, carryQuestions(host, native), () => {});
      return gateway.port;
    case "workspace":
      return setWorkspace(argument);
    case "resident":
      return resident();
    case "loop":
      return loop();
    case "packing":
      return timePacking(argument);
  }
}

function setWorkspace(workspace: Workspace): void {
  const { files, references: count = 0, symbols: named = 0, diagnosticsInEach = 0 } = workspace;
  found = references(files, count);
  symbols = workspaceSymbols(files, named);
  published = diagnosticsInEach === 0 ? [] : diagnostics(files, diagnosticsInEach);
}

/** The engine keeps pages for later unless memory is scarce, and gives them back on threads of its own. */
async function resident(): Promise<number> {
  for (let moment = 0; moment < 3; moment += 1) {
    globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    await setTimeout(50);
  }
  return process.memoryUsage.rss();
}

function loop(): LoopCosts {
  const { active, idle } = performance.eventLoopUtilization(before.loop);
  const { user, system } = process.threadCpuUsage(before.processor);
  const costs = {
    spanMs: active + idle,
    activeMs: active,
    processorMs: (user + system) / 1e3,
    longestMs: Math.max(0, delays.max / 1e6 - RESOLUTION_MS),
  };
  // Not from the start: other measurements are not to have the timer.
  delays.enable();
  delays.reset();
  before = { loop: performance.eventLoopUtilization(), processor: process.threadCpuUsage() };
  return costs;
}

const host: Host = {
  open: async () => {
    const facts = { lineCount: 1000, lineLength: 1000, language: "typescript" };
    return packOpen({ ...facts, hasReadinessProbe: true, ready: true, inTab: false });
  },
  ready: async () => packReady("shown"),
  mainDocuments: async () =>
    packMainDocuments([{ uri: "file:///main.ts", language: "typescript", hasReadinessProbe: true }]),
  async ask({ method }) {
    switch (method) {
      case "textDocument/references":
        return packLocations(found);
      case "textDocument/definition":
        return packTargets(found.slice(0, 1));
      case "textDocument/hover":
        return packHovers([{ contents: [{ value: "```typescript\nfunction resolve(): void\n```" }] }]);
      case "workspace/symbol":
        return packWorkspaceSymbols(symbols);
      case "workspace/diagnostic":
        return packDiagnostics(published);
      default:
        return noProvider();
    }
  },
  sessionsEnded: async () => noted(),
};
