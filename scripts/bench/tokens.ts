// How many tokens a text has for its reader.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { cached, npmInstall } from "../../harness/machine/cache.mjs";

const VERSION = "1.0.21";

interface Tokenizer {
  getEncoding(name: "o200k_base"): { encode(text: string): readonly number[] };
}

let loaded: Promise<ReturnType<Tokenizer["getEncoding"]>> | undefined;

/** The number of tokens of `o200k_base`. */
export async function countTokens(text: string): Promise<number> {
  loaded ??= load();
  return (await loaded).encode(text).length;
}

async function load(): Promise<ReturnType<Tokenizer["getEncoding"]>> {
  const main = join("node_modules", "js-tiktoken", "dist", "index.js");
  const folder = await cached(`js-tiktoken-${VERSION}`, main, `Downloading js-tiktoken ${VERSION}`, (partial) =>
    npmInstall(partial, { "js-tiktoken": VERSION }),
  );
  const tokenizer: Tokenizer = await import(pathToFileURL(join(folder, main)).href);
  return tokenizer.getEncoding("o200k_base");
}
