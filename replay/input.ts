// What the command line and the lines on stdin say in the same words.

import { Failure, say } from "../harness/machine/progress.mjs";
import { type Provider, readProvider } from "./provider.ts";

/** npm runs scripts in the folder of the package; paths are meant from where the person typed. */
export const startFolder =
  (process.env["npm_lifecycle_event"] === "replay" && process.env["INIT_CWD"]) || process.cwd();

/** How many odd items are told one by one. */
const TOLD_ODDITIES = 20;

/** What a client can send behind `Bearer`. */
const TOKEN = /^[\x21-\x7e]+$/;

/** Why a command line cannot be followed, in one sentence. */
export class BadCommandLine extends Failure {}

export function providerOf(value: unknown, source: string, Kind: typeof Failure = Failure): Provider {
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

export function parseJson(text: string, source: string, Kind: typeof Failure = Failure): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Kind(`${source} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

export function tokenOf(token: string): string {
  if (!TOKEN.test(token)) {
    throw new BadCommandLine("A token is made of printable ASCII characters without spaces.");
  }
  return token;
}
