// The process that the tests of the addon start: it loads the built addon, stands in for the editor, and does what lines
// on its stdin say, answering each with one line on its stdout. When stdin ends, nothing of its own holds it any more.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setImmediate, setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { PACK, shapeOf } from "../../extension/boundary/providers.ts";
import { carryQuestions, type Host } from "../../extension/boundary/questions.ts";
import {
  noProvider,
  notFound,
  packMainDocuments,
  packOpen,
  packReady,
  QUESTION,
} from "../../extension/boundary/rows.ts";
import type * as Native from "../../extension/native.d.ts";
import { addonFile } from "../../harness/layout.ts";
import { ANSWERS, FAULTY_CALLBACKS, JUNK, JUNK_BY_TOOL, ODD_CALLBACKS } from "./junk.ts";

/** How the stand-in answers every question about code from now on. */
export interface Behaviour {
  /** What providers return, in the shape that the question is about. */
  readonly items?: readonly object[];
  /** A name from `ANSWERS`, `JUNK` or `JUNK_BY_TOOL`. */
  readonly junk?: string;
  /** A name from `FAULTY_CALLBACKS` or `ODD_CALLBACKS`. */
  readonly callback?: string;
  /** Rejects with this message. */
  readonly fails?: string;
  /** Never answers, and tells when it was asked. */
  readonly hangs?: true;
  readonly says?: "no provider" | "not found";
  /** Answers only after so many milliseconds. */
  readonly late?: number;
  /** Answers only once this file exists, and tells when it was asked. */
  readonly until?: string;
}

export interface Commands {
  start: { options: Native.GatewayOptions };
  configure: { options: Native.GatewayOptions };
  behave: Behaviour;
  bump: { kind: string };
  stop: Record<string, never>;
  /** Starts two stops at once. */
  stopTwice: Record<string, never>;
  /** Blocks the thread until the file exists; this is answered before. */
  blockUntil: { file: string };
  /** Throws from the log callback from now on. */
  throwFromLog: Record<string, never>;
  /** Collects garbage, so that what is left is in use. */
  collect: Record<string, never>;
  /** What was seen so far. */
  report: Record<string, never>;
}

/** A line of stdin. */
type Command = { [C in keyof Commands]: { command: C; argument: Commands[C] } }[keyof Commands];

export interface Report {
  readonly log: readonly { readonly level: number; readonly line: string }[];
  readonly ended: readonly (readonly string[])[];
  /** What reached the process as uncaught. */
  readonly uncaught: readonly string[];
  /** What the process takes for the time of day. */
  readonly clock: number;
}

const ALL_JUNK: typeof JUNK = Object.assign({}, ANSWERS, JUNK, ...Object.values(JUNK_BY_TOOL));
const CALLBACKS = { ...FAULTY_CALLBACKS, ...ODD_CALLBACKS };

const native: typeof Native = createRequire(import.meta.url)(addonFile);
const log: { level: number; line: string }[] = [];
const ended: string[][] = [];
const uncaught: string[] = [];
/** The answers that are still to come. */
const answering = new Set<Promise<Native.Answer>>();
let behaviour: Behaviour = { items: [] };
let gateway: Native.Gateway | undefined;
let logThrows = false;

const host: Host = {
  open: async () => {
    const facts = { lineCount: 1000, lineLength: 1000, language: "typescript" };
    return packOpen({ ...facts, hasReadinessProbe: true, ready: false, inTab: false });
  },
  ready: async () => packReady("shown"),
  mainDocuments: async () => packMainDocuments([{ uri: "file:///", language: "typescript", hasReadinessProbe: true }]),
  ask: ({ method }) => behave(PACK[shapeOf(method)]),
  sessionsEnded: async (ids) => {
    ended.push([...ids]);
    throw new Error("nothing keeps these");
  },
};
const carry = carryQuestions(host, native);

process.on("uncaughtException", (error) => uncaught.push(String(error)));
process.on("unhandledRejection", (error) => uncaught.push(String(error)));
// Node warns, and goes on, where native code leaves an exception behind.
process.on("warning", (warning) => uncaught.push(String(warning)));

for await (const line of createInterface({ input: process.stdin })) {
  try {
    tell({ done: (await obey(JSON.parse(line))) ?? null });
  } catch (error) {
    tell({ failed: error instanceof Error ? error.message : String(error) });
  }
}

async function obey({ command, argument }: Command): Promise<unknown> {
  switch (command) {
    case "start":
      gateway = await native.Gateway.start(argument.options, callback, (levels, lines) => {
        log.push(...lines.map((line, index) => ({ level: levels[index] ?? 0, line })));
        if (logThrows) {
          throw new Error("the log is broken");
        }
      });
      return gateway.port;
    case "configure":
      return running().configure(argument.options);
    case "behave":
      behaviour = argument;
      return;
    case "bump":
      return running().bump(argument.kind as "text");
    case "stop":
      return running().stop();
    case "stopTwice":
      await Promise.all([running().stop(), running().stop()]);
      return;
    case "blockUntil":
      void setImmediate().then(() => {
        while (!existsSync(argument.file));
      });
      return;
    case "throwFromLog":
      logThrows = true;
      return;
    case "collect":
      setFlagsFromString("--expose-gc");
      for (let times = 0; times < 3; times++) {
        runInNewContext("gc")();
        await setImmediate();
      }
      return;
    case "report":
      // What has gone wrong comes to light once the answers that are still to come have come, and their turn is over.
      await Promise.allSettled(answering);
      await setImmediate();
      return { log, ended, uncaught, clock: Date.now() } satisfies Report;
  }
}

function running(): Native.Gateway {
  if (gateway === undefined) {
    throw new Error("no gateway was started");
  }
  return gateway;
}

function callback(id: number, question: number, request: string): void {
  const odd = behaviour.callback === undefined ? undefined : CALLBACKS[behaviour.callback];
  if (odd !== undefined && question === QUESTION.ask) {
    odd(id, native);
  } else {
    carry(id, question, request);
  }
}

/** Not an async function, since some of the junk is thrown before there is a promise. */
function behave(pack: (items: unknown) => Native.Answer): Promise<Native.Answer> {
  const { items, junk, fails, hangs, says, late, until } = behaviour;
  if (hangs) {
    tell({ asked: true });
    return new Promise(() => {});
  }
  if (junk !== undefined) {
    return ALL_JUNK[junk]?.() as Promise<Native.Answer>;
  }
  if (fails !== undefined) {
    return Promise.reject(new Error(fails));
  }
  if (until !== undefined) {
    tell({ asked: true });
    return later(exists(until).then(() => pack(items)));
  }
  if (late !== undefined) {
    return later(setTimeout(late).then(() => pack(items)));
  }
  return Promise.resolve(says === "no provider" ? noProvider() : says === "not found" ? notFound() : pack(items));
}

function later(answer: Promise<Native.Answer>): Promise<Native.Answer> {
  answering.add(answer);
  const isGiven = (): void => void answering.delete(answer);
  answer.then(isGiven, isGiven);
  return answer;
}

async function exists(file: string): Promise<void> {
  while (!existsSync(file)) {
    await setTimeout(5);
  }
}

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
