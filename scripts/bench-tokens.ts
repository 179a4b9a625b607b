// `npm run bench:tokens`: what answers cost their reader, in tokens of `o200k_base`: all uses of a class of rxjs, those of a
// symbol with more than ten thousand in TypeScript's own compiler, any symbol of a file of 46,000 lines, and the tools'
// descriptions. By TypeScript 7 and the program without an editor. A bar that is missed ends it with 1.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildHeadless } from "../harness/build/headless.ts";
import { GatewayClient, type Location, type Page } from "../harness/clients/gateway-client.ts";
import { removeFolder, temporaryFolder } from "../harness/editor/gateway-window.ts";
import { ON_RXJS } from "../harness/languages/asked-projects.ts";
import { linkPrograms, typescript7 } from "../harness/languages/language-servers.ts";
import { namesIn } from "../harness/languages/outline-names.ts";
import { placeIn } from "../harness/languages/sample.ts";
import { copyTypescriptCompiler } from "../harness/languages/typescript-compiler.ts";
import { eventually } from "../harness/machine/eventually.ts";
import { ownEnvironment } from "../harness/machine/own-environment.ts";
import { command, Failure, say, step } from "../harness/machine/progress.mjs";
import { countTokens } from "./bench/tokens.ts";

/** More than any answer here has on one page. */
const LARGEST_PAGE = 20_000;
/** Of the outline of a large file, every so many-th symbol is looked for. */
const EVERY = 47;
const MAX_SYMBOL_TOKENS = 3_000;
/** The tools that were made to cost little. */
const TERSE =
  /^vscode\.lsp\.(symbol\.find|symbol\.source|outline|usages|implementation|typeDefinition|declaration|status)$/;

interface Usages {
  readonly uses: number;
  readonly inFiles: number;
  readonly files: readonly { readonly path: string; readonly uses?: number }[];
  readonly nextCursor: string | null;
}

interface Row {
  readonly what: string;
  readonly tokens: number;
  readonly bar?: number;
}

await command(async () => {
  const { values } = parseArgs({ options: { program: { type: "string" } } });
  const program = values.program ?? (await buildHeadless("release"));
  const rows = [
    await step("The tools", () => tools(program)),
    ...(await step("References of a class of rxjs", () => ofRxjs(program))),
    ...(await step("References and symbols of TypeScript's compiler", () => ofCompiler(program))),
  ];
  say("| what | tokens | bar |");
  say("| --- | --- | --- |");
  for (const { what, tokens, bar } of rows) {
    say(`| ${what} | ${tokens} | ${bar === undefined ? "" : `at most ${bar}`} |`);
  }
  return rows.some(({ tokens, bar }) => bar !== undefined && tokens > bar) ? 1 : 0;
});

async function tools(program: string): Promise<Row> {
  return inProject(
    program,
    async () => {},
    async (client) => {
      const terse = (await client.tools()).filter(({ name }) => TERSE.test(name));
      // What models are given of a tool.
      const told = terse.map(({ name, description, inputSchema }) =>
        JSON.stringify({ name, description, inputSchema }),
      );
      const tokens = await countTokens(told.join("\n"));
      return { what: `names, descriptions and inputs of ${terse.length} tools`, tokens, bar: 1_600 };
    },
  );
}

async function ofRxjs(program: string): Promise<Row[]> {
  return inProject(program, ON_RXJS.copyTo, async (client, folder) => {
    const { uri, position } = placeIn(folder, "src/internal/Observable.ts", "Observable", "export class ");
    const at = `${position.line}:${position.character}`;
    const whole = await wholeOf(client, { file: "src/internal/Observable.ts", at, detail: "counts" });
    const named = `${whole.uses} uses in ${whole.inFiles} files`;
    return [
      { what: `${named}, by vscode.lsp.references`, tokens: await ofReferences(client, uri, position) },
      {
        what: named,
        tokens: await ofPages(client, { symbol: "Observable", file: "src/internal/Observable.ts" }),
        bar: 3_000,
      },
      {
        what: `${named}, with their lines`,
        tokens: await ofPages(client, { symbol: "Observable", file: "src/internal/Observable.ts", lines: true }),
        bar: 9_000,
      },
      {
        what: `${named}, counts only`,
        tokens: await ofPages(client, { symbol: "Observable", file: "src/internal/Observable.ts", detail: "counts" }),
      },
    ];
  });
}

async function ofCompiler(program: string): Promise<Row[]> {
  return inProject(program, copyTypescriptCompiler, async (client) => {
    const target = { symbol: "SyntaxKind", file: "src/compiler/types.ts" };
    const counts = { ...target, detail: "counts", maxTokens: LARGEST_PAGE };
    const { uses, inFiles, files, nextCursor } = await wholeOf(client, counts);
    if (nextCursor !== null) {
      throw new Failure("The counts do not fit one page.");
    }
    const most = files.reduce((one, other) => ((other.uses ?? 0) > (one.uses ?? 0) ? other : one));
    const rows: Row[] = [
      {
        what: `${uses} uses in ${inFiles} files, counts only`,
        tokens: await ofCall(client, "usages", counts),
        bar: 4_000,
      },
      {
        what: `of these, the first page of the ${most.uses} in ${most.path}`,
        tokens: await ofCall(client, "usages", { ...target, paths: [most.path] }),
      },
    ];
    return [...rows, ...(await ofSymbols(client))];
  });
}

/** Looks for symbols of a large file by their names. */
async function ofSymbols(client: GatewayClient): Promise<Row[]> {
  const file = "src/compiler/checker.ts";
  const names = (await namesIn(client, file)).map((names) => names.slice(-2).join("."));
  let [most, found] = [0, 0];
  const sought = names.filter((_, index) => index % EVERY === 0);
  const missed: string[] = [];
  for (const symbol of sought) {
    const answer = await client.call<{ symbols: readonly { name: string }[] }>("vscode.lsp.symbol.find", {
      symbol,
      file,
    });
    const tokens = await countTokens(JSON.stringify(answer));
    most = Math.max(most, tokens);
    if (answer.symbols.some(({ name }) => symbol.endsWith(name))) {
      found += 1;
    } else {
      missed.push(symbol);
    }
  }
  if (missed.length > 0) {
    say(`not found: ${missed.join(", ")}`);
  }
  return [
    {
      what: `checker.ts, ${names.length} symbols: ${found} of ${sought.length} found by name in one call, the dearest`,
      tokens: found === sought.length ? most : Number.POSITIVE_INFINITY,
      bar: MAX_SYMBOL_TOKENS,
    },
  ];
}

async function wholeOf(client: GatewayClient, input: Record<string, unknown>): Promise<Usages> {
  return eventually(
    () => client.call<Usages & { summary: string }>("vscode.lsp.usages", input),
    ({ uses, summary }) => uses !== undefined && !summary.includes("there may be more"),
  );
}

/** What all pages cost together. */
async function ofPages(client: GatewayClient, input: Record<string, unknown>): Promise<number> {
  let [tokens, cursor]: [number, string | null] = [0, null];
  do {
    const page: Usages = await client.call("vscode.lsp.usages", { ...input, maxTokens: LARGEST_PAGE, cursor });
    tokens += await countTokens(JSON.stringify(page));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return tokens;
}

async function ofReferences(client: GatewayClient, uri: string, position: Location["range"]["start"]): Promise<number> {
  const input = { uri, position, includeDeclaration: false, pageSize: 200 };
  let [tokens, cursor]: [number, string | null] = [0, null];
  do {
    const page: Page<Location> = await client.call("vscode.lsp.references", { ...input, cursor });
    tokens += await countTokens(JSON.stringify(page));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return tokens;
}

async function ofCall(client: GatewayClient, tool: string, input: Record<string, unknown>): Promise<number> {
  return countTokens(JSON.stringify(await client.call(`vscode.lsp.${tool}`, input)));
}

async function inProject<T>(
  program: string,
  copyTo: (folder: string) => Promise<void> | void,
  work: (client: GatewayClient, folder: string) => Promise<T>,
): Promise<T> {
  const [folder, own] = [temporaryFolder("tokens"), temporaryFolder("tokens-own")];
  try {
    await copyTo(folder);
    mkdirSync(join(own, "programs"));
    linkPrograms(join(own, "programs"), [await typescript7()]);
    const client = await GatewayClient.start({
      command: program,
      args: ["--root", folder, "--trust", "--catalog", "all"],
      env: ownEnvironment(join(own, "kept"), join(own, "programs")),
    });
    const result = await work(client, folder);
    await client.close();
    return result;
  } finally {
    removeFolder(folder);
    removeFolder(own);
  }
}
