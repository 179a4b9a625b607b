// The command line of the replay host.

import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { portCandidates } from "../extension/gateway/ports.ts";
import { type AdditionalRoot, readSettings, type Settings } from "../extension/gateway/settings.ts";
import type * as Native from "../extension/native.d.ts";
import { manifest } from "../harness/layout.ts";
import { say } from "../harness/machine/progress.mjs";
import { BadCommandLine, parseJson, providerOf, startFolder, tokenOf } from "./input.ts";
import type { Provider } from "./provider.ts";

const PREFIX = "mcpLspGateway.";
const SECRET_BYTES = 32;

/** What is to run, and what it answers first. */
interface Start {
  readonly options: Native.GatewayOptions;
  readonly provider: Provider;
}

/** Reads the arguments of the process; what is wrong with them is a `BadCommandLine`. */
export function readCommandLine(args: readonly string[]): Start {
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
