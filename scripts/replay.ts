// `npm run --silent replay -- --roots DIR[,DIR…] --provider FILE.json [--port N] [--token T] [--setting name=value …]`
//
// The gateway in plain Node, in front of an editor whose answers come out of a file: for tests, and for people who report
// bugs. docs/REPLAY.md describes it. stdout carries nothing but the lines described there.

import { randomBytes } from "node:crypto";
import { constants, existsSync, readFileSync, type Stats, statSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PACK, shapeOf } from "../extension/boundary/providers.ts";
import { carryQuestions, type Host as EditorHost } from "../extension/boundary/questions.ts";
import {
  noProvider,
  noted,
  notFound,
  type OpenRequest,
  packMainDocuments,
  packOpen,
  packReady,
} from "../extension/boundary/rows.ts";
import { portCandidates } from "../extension/gateway/ports.ts";
import { type AdditionalRoot, LOG_LEVELS, readSettings, type Settings } from "../extension/gateway/settings.ts";
import type * as Native from "../extension/native.d.ts";
import { buildAddon } from "../harness/build/addon.ts";
import { addonFile, manifest } from "../harness/layout.ts";
import { Failure, say } from "../harness/machine/progress.mjs";
import { isObject, type Provider, questionOf, readProvider } from "./replay-provider.ts";

/** npm runs scripts in the folder of the package; paths are meant from where the person typed. */
const startFolder = (process.env["npm_lifecycle_event"] === "replay" && process.env["INIT_CWD"]) || process.cwd();

/** Longer delays than this fire at once. */
const LONGEST_DELAY = 0x7fff_ffff;

/** Larger documents VS Code does not hand to extensions. */
const MAX_BYTES = 50 * 1024 * 1024;

/** How long the gateway may take to stop. */
const GOODBYE = 1_000;

/** The language of every document, whose extension is in the provider file. */
const LANGUAGE = "replay";

/** How many odd items are told one by one. */
const TOLD_ODDITIES = 20;

const PREFIX = "mcpLspGateway.";
const SECRET_BYTES = 32;
/** What a client can send behind `Bearer`. */
const TOKEN = /^[\x21-\x7e]+$/;

/** What answers now; read from the command line before anything is asked. */
let provider: Provider;
let gateway: Native.Gateway | undefined;
let ending = false;

/** Why a command line cannot be followed, in one sentence. */
class BadCommandLine extends Failure {}

async function run(options: Native.GatewayOptions): Promise<void> {
  if (!existsSync(addonFile)) {
    await buildAddon("dev");
  }
  const native: typeof Native = createRequire(import.meta.url)(addonFile);
  try {
    gateway = await native.Gateway.start(options, carryQuestions(host, native), (levels, lines) => {
      for (const [index, line] of lines.entries()) {
        say(`[${LOG_LEVELS[levels[index] ?? 0]}] ${line}`);
      }
    });
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error));
  }
  // The addon does not hold the process, and neither does a stdin that has ended.
  setInterval(() => {}, LONGEST_DELAY);
  tell({ url: `http://127.0.0.1:${gateway.port}/mcp`, token: options.tokens[0] });
  await follow(gateway, options);
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

// The editor.

/** Answers the gateway's questions. What it throws is, to the gateway, a provider that failed. */
const host: EditorHost = {
  open: openDocument,
  // What is in the file is all there will ever be.
  ready: async () => packReady("shown"),
  mainDocuments: async () => packMainDocuments([{ uri: "file:///", language: LANGUAGE, hasReadinessProbe: true }]),
  async ask({ method }) {
    // A question is answered by the provider that it was put to, even if another takes over meanwhile.
    const { answers, delayMs } = provider;
    const question = questionOf(method);
    const milliseconds = delayMs.get(question) ?? 0;
    if (milliseconds > 0) {
      await delay(Math.min(milliseconds, LONGEST_DELAY));
    }
    return answers.has(question) ? PACK[shapeOf(method)](answers.get(question)) : noProvider();
  },
  sessionsEnded: async () => noted(),
};

/** Reads the document from disk, and counts lines and characters as VS Code does. */
async function openDocument({ uri, line }: OpenRequest): Promise<Native.Answer> {
  const lines = await linesOf(uri);
  if (lines === undefined) {
    return notFound();
  }
  const lineLength = lines[line ?? -1]?.length;
  return packOpen({
    lineCount: lines.length,
    lineLength,
    language: LANGUAGE,
    hasReadinessProbe: true,
    ready: true,
    inTab: false,
  });
}

/** The lines of a text file; undefined if there is none, or something that is not text. */
async function linesOf(uri: string): Promise<string[] | undefined> {
  const bytes = await bytesOf(fileURLToPath(uri)).catch(() => undefined);
  const encoding = bytes === undefined ? undefined : encodingOf(bytes);
  return encoding === undefined ? undefined : new TextDecoder(encoding).decode(bytes).split(/\r\n|\r|\n/);
}

/** The content of a regular file; undefined for whatever else is there, and for a file that VS Code finds too large. */
async function bytesOf(path: string): Promise<Buffer | undefined> {
  // Whoever opens a pipe waits for somebody at its other end, and nothing but an end to the wait lets the process end.
  if (!isReadable(await stat(path))) {
    return undefined;
  }
  // It may have become another since.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return isReadable(await file.stat()) ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}

function isReadable(file: Stats): boolean {
  return file.isFile() && file.size <= MAX_BYTES;
}

/** How many bytes VS Code looks at to tell a binary file. */
const LOOKED_AT = 512;

function encodingOf(bytes: Buffer): "utf-16le" | "utf-16be" | "utf-8" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return "utf-16le";
  }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return "utf-16be";
  }
  return bytes.subarray(0, LOOKED_AT).includes(0) ? undefined : "utf-8";
}

// What comes in on stdin.

/** Applies the lines of stdin, one after the other, and tells after each that it is in effect. */
async function follow(running: Native.Gateway, start: Native.GatewayOptions): Promise<void> {
  let options = start;
  let applied = 0;
  let number = 0;
  for await (const line of linesOfStdin()) {
    number += 1;
    if (line.trim() === "") {
      continue;
    }
    try {
      options = await apply(line, running, options);
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
      provider = providerOf(value, "provider");
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

// What comes in on the command line.

interface Host {
  readonly options: Native.GatewayOptions;
  readonly provider: Provider;
}

function readCommandLine(args: readonly string[]): Host {
  const given = readArguments(args);
  const roots = required(given.roots, "--roots", "the folders, separated by commas").split(",").map(existingFolder);
  const file = resolve(startFolder, required(given.provider, "--provider", "the file with the editor's answers"));
  const settings = settingsFrom(given.settings);
  return {
    provider: providerOf(parseFile(file), "The file of --provider", BadCommandLine),
    options: {
      version: manifest.version,
      roots: [...roots, ...settings.additionalAllowedRoots.filter(exists).map(({ path }) => path)],
      // There are no language servers, and nobody who tells what they know.
      ignore: ["**"],
      catalog: [...settings.catalog],
      tokens: [given.token === undefined ? secret() : tokenOf(given.token)],
      sessionKey: secret(),
      workspace: JSON.stringify(roots),
      endedSessions: [],
      allowedOrigins: [...settings.allowedOrigins],
      protocolFallback: settings.protocolFallback,
      maxItemsPerPage: settings.maxItemsPerPage,
      maxResponseBytes: settings.maxResponseBytes,
      requestTimeoutMs: settings.requestTimeoutMs,
      rootsEpoch: Date.now(),
      ports: given.port === undefined ? wishedPorts(given.settings, settings) : [portOf(given.port)],
      logLevel: settings.logLevel,
    },
  };
}

/** Whether an additional root is a folder. What is none is told, and left out, as in the extension. */
function exists({ path, entry }: AdditionalRoot): boolean {
  const is = isFolder(path);
  if (!is) {
    say(
      `Entry ${entry} of ${PREFIX}additionalAllowedRoots names no existing folder: create it and start again, or remove the entry.`,
    );
  }
  return is;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

interface Arguments {
  roots?: string;
  provider?: string;
  port?: string;
  token?: string;
  readonly settings: Map<string, string>;
}

/** The value of an option is the argument after it whatever it looks like, since a token may begin with a dash. */
function readArguments(args: readonly string[]): Arguments {
  const given: Arguments = { settings: new Map() };
  for (let at = 0; at < args.length; at++) {
    const [option, attached] = splitAt(args[at] ?? "", "=");
    const next = () => attached ?? args[++at];
    switch (option) {
      case "--roots":
      case "--provider":
      case "--port":
      case "--token":
        given[option.slice(2) as "roots" | "provider" | "port" | "token"] = required(next(), option, "a value");
        break;
      case "--setting":
        addSetting(given.settings, required(next(), option, "name=value"));
        // More than one setting may follow.
        while (args[at + 1]?.startsWith("-") === false) {
          addSetting(given.settings, args[++at] ?? "");
        }
        break;
      default:
        throw new BadCommandLine(
          `${JSON.stringify(args[at])} is not an option: use --roots DIR[,DIR…] --provider FILE.json [--port N] [--token T] [--setting name=value …].`,
        );
    }
  }
  return given;
}

function addSetting(settings: Map<string, string>, argument: string): void {
  const [name, value] = splitAt(argument, "=");
  if (value === undefined) {
    throw new BadCommandLine(`--setting ${JSON.stringify(argument)} has no value: write name=value.`);
  }
  settings.set(name, value);
}

/** Reads the settings as the extension does, which clamps what is out of bounds and says so. */
function settingsFrom(given: ReadonlyMap<string, string>): Settings {
  const declared = declaredSettings();
  const values = new Map(
    [...given].map(([name, text]) => {
      const type = declared.get(name);
      if (type === undefined) {
        const names = [...declared.keys()].join(", ");
        throw new BadCommandLine(`There is no setting ${JSON.stringify(name)}: use one of ${names}, without a prefix.`);
      }
      return [name, settingValue(name, type, text)];
    }),
  );
  const configuration = {
    get: (name: string) => values.get(name),
    inspect: (name: string) => ({ globalValue: values.get(name) }),
  };
  // The addon, which could tell, may not be built yet. What is no glob ignores nothing, and what is no tool offers none.
  const { settings, problems } = readSettings(configuration, { isGlob: () => true, isCatalog: () => true });
  for (const problem of problems) {
    say(problem);
  }
  if (!settings.enabled) {
    throw new BadCommandLine("The setting enabled cannot be false here: without the gateway there is nothing to run.");
  }
  return settings;
}

/** The names of the extension's settings without their prefix, and their JSON types. */
function declaredSettings(): Map<string, string> {
  const { contributes } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return new Map(
    Object.entries<{ type: string | string[] }>(contributes.configuration.properties).map(([name, { type }]) => [
      name.slice(PREFIX.length),
      // What may stand by itself as well as in a list is a list of one.
      typeof type === "string" ? type : "array",
    ]),
  );
}

function settingValue(name: string, type: string, text: string): unknown {
  switch (type) {
    case "integer":
      if (!/^-?\d+$/.test(text)) {
        throw new BadCommandLine(`The setting ${name} is a whole number, not ${JSON.stringify(text)}.`);
      }
      return Number(text);
    case "boolean":
      if (text !== "true" && text !== "false") {
        throw new BadCommandLine(`The setting ${name} is true or false, not ${JSON.stringify(text)}.`);
      }
      return text === "true";
    case "array":
      return text.startsWith("[") ? parseJson(text, `The setting ${name}`, BadCommandLine) : text.split(",");
    default:
      return text;
  }
}

function wishedPorts(given: ReadonlyMap<string, string>, { port }: Settings): number[] {
  return given.has("port") ? portCandidates({ port, ofWorkspace: false }) : [0];
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 0xffff) {
    throw new BadCommandLine(`--port ${JSON.stringify(text)} is not a number from 0, for any port, to 65535.`);
  }
  return port;
}

function existingFolder(folder: string): string {
  const path = resolve(startFolder, folder);
  if (folder === "" || !isFolder(path)) {
    throw new BadCommandLine(`--roots names ${JSON.stringify(folder)}, which is not a folder.`);
  }
  return path;
}

function parseFile(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new BadCommandLine(`The file of --provider, ${file}, cannot be read.`);
  }
  return parseJson(text.replace(/^\uFEFF/, ""), "The file of --provider", BadCommandLine);
}

function providerOf(value: unknown, source: string, Kind: typeof Failure = Failure): Provider {
  try {
    const { provider: read, oddities } = readProvider(value);
    for (const oddity of oddities.slice(0, TOLD_ODDITIES)) {
      say(`${source}: ${oddity}; no provider of VS Code returns this, and it is passed on as it is.`);
    }
    if (oddities.length > TOLD_ODDITIES) {
      say(`${source}: ${oddities.length - TOLD_ODDITIES} more items are odd as well.`);
    }
    return read;
  } catch (error) {
    throw error instanceof Failure ? new Kind(`${source} cannot be used: ${error.message}`) : error;
  }
}

function parseJson(text: string, source: string, Kind: typeof Failure = Failure): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Kind(`${source} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function texts(name: string, value: unknown): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string" && item !== "")) {
    throw new Failure(`${name} is not a list of texts.`);
  }
  return value;
}

function tokenOf(token: string): string {
  if (!TOKEN.test(token)) {
    throw new BadCommandLine("A token is made of printable ASCII characters without spaces.");
  }
  return token;
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

function required(value: string | undefined, option: string, what: string): string {
  if (value === undefined || value === "") {
    throw new BadCommandLine(`${option} is missing: it takes ${what}.`);
  }
  return value;
}

function splitAt(text: string, separator: string): [before: string, after: string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

// Last, since it does not return before stdin has ended, and what is declared after it would not be there till then.

// Whoever read our lines is gone.
process.stdout.on("error", () => end(0));

try {
  const host = readCommandLine(process.argv.slice(2));
  // Not before: while a file of the command line is waited for, a signal has to end the process by itself.
  process.on("SIGTERM", () => end(0));
  process.on("SIGINT", () => end(0));
  provider = host.provider;
  await run(host.options);
} catch (error) {
  say(error instanceof Failure ? error.message : String(error instanceof Error ? error.stack : error));
  end(error instanceof BadCommandLine ? 2 : 1);
}
