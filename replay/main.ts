// `npm run --silent replay -- --roots DIR[,DIR…] --provider FILE.json [--port N] [--token T] [--setting name=value …]`
//
// The gateway in plain Node, in front of an editor whose answers come out of a file: for tests, and for people who report
// bugs. docs/REPLAY.md describes it. stdout carries nothing but the lines described there.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { carryQuestions } from "../extension/boundary/questions.ts";
import { LOG_LEVELS } from "../extension/gateway/settings.ts";
import type * as Native from "../extension/native.d.ts";
import { buildAddon } from "../harness/build/addon.ts";
import { addonFile } from "../harness/layout.ts";
import { Failure, say } from "../harness/machine/progress.mjs";
import { readCommandLine } from "./command-line.ts";
import { ReplayEditor } from "./editor.ts";
import { BadCommandLine, parseJson, providerOf, startFolder, tokenOf } from "./input.ts";
import { isObject, type Provider } from "./provider.ts";

/** How long the gateway may take to stop. */
const GOODBYE = 1_000;
/** As rarely as a timer can. */
const SELDOM = 0x7fff_ffff;

let gateway: Native.Gateway | undefined;
let ending = false;

async function run(options: Native.GatewayOptions, provider: Provider): Promise<void> {
  if (!existsSync(addonFile)) {
    await buildAddon("dev");
  }
  const native: typeof Native = createRequire(import.meta.url)(addonFile);
  const editor = new ReplayEditor(provider);
  try {
    gateway = await native.Gateway.start(options, carryQuestions(editor, native), (levels, lines) => {
      for (const [index, line] of lines.entries()) {
        say(`[${LOG_LEVELS[levels[index] ?? 0]}] ${line}`);
      }
    });
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error));
  }
  // The addon does not hold the process, and neither does a stdin that has ended.
  setInterval(() => {}, SELDOM);
  tell({ url: `http://127.0.0.1:${gateway.port}/mcp`, token: options.tokens[0] });
  await follow(gateway, editor, options);
}

/** Stops the gateway and ends the process. */
function end(code: number): void {
  if (ending) {
    return;
  }
  ending = true;
  const stopped = gateway?.stop() ?? Promise.resolve();
  void Promise.race([stopped.catch((error: unknown) => say(String(error))), delay(GOODBYE)]).then(() =>
    process.exit(code),
  );
}

function tell(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Applies the lines of stdin, one after the other, and tells after each that it is in effect. */
async function follow(running: Native.Gateway, editor: ReplayEditor, start: Native.GatewayOptions): Promise<void> {
  let options = start;
  let applied = 0;
  let number = 0;
  for await (const line of linesOfStdin()) {
    number += 1;
    if (line.trim() === "") {
      continue;
    }
    try {
      options = await apply(line, running, editor, options);
    } catch (error) {
      say(`Line ${number} of stdin changed nothing: ${error instanceof Error ? error.message : String(error)}`);
      continue;
    }
    applied += 1;
    tell({ applied });
  }
}

async function apply(
  line: string,
  running: Native.Gateway,
  editor: ReplayEditor,
  options: Native.GatewayOptions,
): Promise<Native.GatewayOptions> {
  const [name, value] = readChange(line);
  switch (name) {
    case "bump":
      if (value !== "text" && value !== "fs" && value !== "diagnostics" && value !== "roots") {
        throw new Failure("bump is not one of text, fs, diagnostics and roots.");
      }
      running.bump(value);
      return options;
    case "provider":
      editor.provider = providerOf(value, "provider");
      return options;
    case "roots":
      return configured({ roots: texts(name, value).map((root) => resolve(startFolder, root)) });
    case "tokens":
      return configured({ tokens: texts(name, value).map(tokenOf) });
    default:
      throw new Failure(`${JSON.stringify(name)} is not one of bump, provider, roots and tokens.`);
  }

  async function configured(change: Partial<Native.GatewayOptions>): Promise<Native.GatewayOptions> {
    const changed = { ...options, ...change };
    await running.configure(changed);
    return changed;
  }
}

function readChange(line: string): [name: string, value: unknown] {
  const change = parseJson(line, "it");
  const entries = isObject(change) ? Object.entries(change) : [];
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) {
    throw new Failure('it is not an object with one key, such as {"bump":"text"}.');
  }
  return entry;
}

function texts(name: string, value: unknown): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string" && item !== "")) {
    throw new Failure(`${name} is not a list of texts.`);
  }
  return value;
}

/** Lines as JSON means them: a line feed ends one, and nothing else does. */
async function* linesOfStdin(): AsyncGenerator<string> {
  let begun = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const lines = (begun + chunk).split("\n");
    begun = lines.pop() ?? "";
    yield* lines;
  }
  yield begun;
}

// Last, since it does not return before stdin has ended, and what is declared after it would not be there till then.

// Whoever read our lines is gone.
process.stdout.on("error", () => end(0));

try {
  const { options, provider } = readCommandLine(process.argv.slice(2));
  // Not before: while a file of the command line is waited for, a signal has to end the process by itself.
  process.on("SIGTERM", () => end(0));
  process.on("SIGINT", () => end(0));
  await run(options, provider);
} catch (error) {
  say(error instanceof Failure ? error.message : String(error instanceof Error ? error.stack : error));
  end(error instanceof BadCommandLine ? 2 : 1);
}
