// `npm start -- <folder> [--once]`: our extension in a real VS Code on a folder, asked by a real client.

import { realpathSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { packVsix } from "../harness/build/vsix.ts";
import {
  type DefinitionPayload,
  GatewayClient,
  type Location,
  type Page,
  ToolFailure,
} from "../harness/clients/gateway-client.ts";
import { DesktopVsCode } from "../harness/editor/desktop-vscode.ts";
import { type HandoverFiles, packHandover, runInside, takeConfiguration } from "../harness/editor/handover.ts";
import { RealVsCode, stopOnSignals } from "../harness/editor/real-vscode.ts";
import { pickSubject, type Subject } from "../harness/languages/pick-subject.ts";
import { root } from "../harness/layout.ts";
import { command, Failure, say, step } from "../harness/machine/progress.mjs";

/** A small project with a file of mistakes. */
const EXAMPLE = join(root, "harness", "workspace");
/** How often a tool is asked whose pages a change of the workspace has parted. */
const TRIES = 5;
/** An extension that has not reported on a file in a tab after this long has nothing to report: some keep silent then. */
const REPORTED = 10_000;
/** Of a long list the first and last few are printed, of a long text twice as many lines of its beginning. */
const SHOWN = 3;
/** What every language with an extension of its own has. Of the other tools a language may lack some. */
const NEEDED: ReadonlySet<string> = new Set(["vscode.lsp.definition", "vscode.lsp.references"]);

// Whoever reads our output may stop reading, as `head` does; the editor has to be ended in order all the same.
process.stdout.on("error", () => {});

await command(async () => {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { once: { type: "boolean" } } });
  const folder = existingFolder(positionals[0] ?? EXAMPLE);
  const subject = pickSubject(folder);
  const mistakes = positionals[0] === undefined ? join(folder, "src", "mistakes.ts") : subject.declaration.file;
  const isOnDesktop = DesktopVsCode.isUsable();
  // An editor that has to be installed comes while the addon is compiled.
  const [{ file }, handover] = await Promise.all([
    packVsix("dev"),
    packHandover(),
    isOnDesktop ? undefined : RealVsCode.install(),
  ]);
  const extensions = [file, handover];
  const editor = await step("Starting VS Code", async () =>
    isOnDesktop ? DesktopVsCode.start({ extensions }) : RealVsCode.start({ extensions }),
  );
  stopOnSignals(editor, 0);
  try {
    const { window, configuration } = await step(`Opening ${folder}`, async () => {
      const opened = await editor.openWindow(folder);
      return { window: opened.handover, configuration: await takeConfiguration(opened.handover) };
    });
    const client = await GatewayClient.connect(configuration);
    const unanswered = await askEverything({ client, window, folder, subject, mistakes });
    await client.close();
    print("", `Endpoint: ${configuration.url}`, "Client configuration:", configuration.text);
    print(`Where to look: ${editor.addressOf(folder)}`);
    if (!values.once) {
      say("\nThe editor stays up until Ctrl-C.");
      await editor.closed();
    }
    return unanswered === 0 ? 0 : 1;
  } finally {
    await editor.stop();
  }
});

function existingFolder(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Failure(`${path} is not a folder: give the folder of a project.`);
  }
  return realpathSync(path);
}

/** An answer as lines to print, and whether it is more than "nothing". */
interface Told {
  readonly found: boolean;
  readonly lines: string[];
}

interface Question {
  readonly about: string;
  /** Done once, before the tool is asked. */
  readonly prepare?: () => Promise<void>;
  readonly ask: () => Promise<Told>;
}

interface HoverPayload {
  readonly contents: readonly { readonly value: string }[];
  readonly summary?: string;
}

interface SymbolsPayload {
  readonly symbols: readonly { readonly name: string; readonly range: Location["range"] }[];
  readonly summary?: string;
}

interface Diagnostic {
  readonly range: Location["range"];
  readonly source?: string;
  readonly code?: string;
  readonly message: string;
}

/** The payload for one file, and an item of the one for all. */
interface Diagnosed {
  readonly uri: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly summary?: string;
}

/** Who is asked, and about what. */
interface Tour {
  readonly client: GatewayClient;
  readonly window: HandoverFiles;
  readonly folder: string;
  readonly subject: Subject;
  /** The file whose diagnostics are asked for. */
  readonly mistakes: string;
}

/** Calls every tool, prints what each answered, and resolves to how many gave no answer. */
async function askEverything({ client, window, folder, subject, mistakes }: Tour): Promise<number> {
  const { name, declaration, use } = subject;
  const at = (place: Subject["use"]): string =>
    `${name} in ${relative(folder, place.file)}:${place.position.line + 1}:${place.position.character + 1}`;
  const shown = ({ uri, range }: Location): string =>
    `${relative(folder, fileURLToPath(uri))}:${range.start.line + 1}:${range.start.character + 1}`;
  const wrongIn = ({ uri, diagnostics }: Diagnosed): string[] =>
    diagnostics.map((diagnostic) => `${shown({ uri, range: diagnostic.range })}  ${wrong(diagnostic)}`);
  const paged = async (tool: string, input: Record<string, unknown>): Promise<Page<object>[]> => {
    const pages: Page<object>[] = [];
    for await (const page of client.pages<object>(tool, input)) {
      pages.push(page);
    }
    return pages;
  };
  const sizes = (pages: readonly Page<object>[]): string =>
    `${pages.reduce((sum, { items }) => sum + items.length, 0)} items on ${pages.length} page${pages.length === 1 ? "" : "s"}`;

  const questions: Record<string, Question> = {
    "vscode.lsp.definition": {
      about: at(use),
      ask: async () => {
        const { locations, summary }: DefinitionPayload = await client.definition(use.uri, use.position);
        return { found: locations.length > 0, lines: [summary ?? "", ...excerpt(locations.map(shown))] };
      },
    },
    "vscode.lsp.references": {
      about: at(declaration),
      ask: async () => {
        const { uri, position } = declaration;
        const pages = await paged("vscode.lsp.references", { uri, position, includeDeclaration: true, pageSize: 50 });
        const items = pages.flatMap((page) => page.items) as Location[];
        return { found: items.length > 0, lines: [sizes(pages), ...excerpt(items.map(shown))] };
      },
    },
    "vscode.lsp.hover": {
      about: at(use),
      ask: async () => {
        const { uri, position } = use;
        const { contents, summary }: HoverPayload = await client.call("vscode.lsp.hover", { uri, position });
        const lines = contents.flatMap(({ value }) => value.trim().split("\n"));
        return { found: contents.length > 0, lines: [summary ?? "", ...beginning(lines)] };
      },
    },
    "vscode.lsp.documentSymbols": {
      about: relative(folder, declaration.file),
      ask: async () => {
        const { uri } = declaration;
        const { symbols, summary }: SymbolsPayload = await client.call("vscode.lsp.documentSymbols", { uri });
        const lines = symbols.map((symbol) => `${symbol.name}  ${shown({ uri, range: symbol.range })}`);
        return { found: symbols.length > 0, lines: [summary ?? "", ...excerpt(lines)] };
      },
    },
    "vscode.lsp.workspaceSymbols": {
      about: name,
      ask: async () => {
        const pages = await paged("vscode.lsp.workspaceSymbols", { query: name });
        const items = pages.flatMap((page) => page.items) as { name: string; location: Location }[];
        const lines = items.map((symbol) => `${symbol.name}  ${shown(symbol.location)}`);
        return { found: items.length > 0, lines: [sizes(pages), ...excerpt(lines)] };
      },
    },
    "vscode.lsp.diagnostics.document": {
      about: relative(folder, mistakes),
      // Some extensions look only at files that are in a tab.
      prepare: () => showInTab(window, pathToFileURL(mistakes).href),
      ask: async () => {
        const uri = pathToFileURL(mistakes).href;
        const payload: Diagnosed = await client.call("vscode.lsp.diagnostics.document", { uri });
        return { found: true, lines: [payload.summary ?? "", ...excerpt(wrongIn(payload))] };
      },
    },
    "vscode.lsp.diagnostics.workspace": {
      about: "the whole workspace",
      ask: async () => {
        const pages = await paged("vscode.lsp.diagnostics.workspace", {});
        const items = pages.flatMap((page) => page.items) as Diagnosed[];
        return { found: true, lines: [sizes(pages), ...excerpt(items.flatMap(wrongIn))] };
      },
    },
  };

  let unanswered = 0;
  for (const tool of await client.toolNames()) {
    const question = questions[tool];
    if (question === undefined) {
      throw new Failure(`The catalog has a tool that this script does not know: add ${tool} to scripts/start.ts.`);
    }
    print("", `${tool}  (${question.about})`);
    const { lines, failed } = await step(`Asking ${tool}`, async () => {
      await question.prepare?.();
      return outcome(question.ask, NEEDED.has(tool));
    });
    print(...lines.map((line) => `  ${line}`));
    unanswered += failed ? 1 : 0;
  }
  return unanswered;
}

/** Shows a file as a person would who works on it, and waits until somebody has reported on it, if anybody does. */
function showInTab(window: HandoverFiles, uri: string): Promise<void> {
  return runInside(
    window,
    async (vscode, { uri, patience }) => {
      const file = vscode.Uri.parse(uri);
      const isReported = () =>
        vscode.languages.getDiagnostics().some(([other]) => other.toString() === file.toString());
      const reported = new Promise<void>((resolve) => {
        const subscription = vscode.languages.onDidChangeDiagnostics(() => isReported() && done());
        const timer = setTimeout(done, patience);
        function done(): void {
          clearTimeout(timer);
          subscription.dispose();
          resolve();
        }
      });
      await vscode.window.showTextDocument(file, { preview: false });
      if (!isReported()) {
        await reported;
      }
    },
    { uri, patience: REPORTED },
  );
}

/** What a tool answered, or in its place why it gave no answer. */
async function outcome(ask: Question["ask"], needed: boolean): Promise<{ lines: readonly string[]; failed: boolean }> {
  try {
    const { found, lines } = await wholly(ask);
    return { lines, failed: needed && !found };
  } catch (error) {
    const lacking = error instanceof ToolFailure && error.code === "PROVIDER_UNAVAILABLE";
    return { lines: [error instanceof Error ? error.message : String(error)], failed: needed || !lacking };
  }
}

/** Asks anew when a cursor was refused, as clients have to. */
async function wholly(ask: Question["ask"]): Promise<Told> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const parted = error instanceof ToolFailure && /^CURSOR_(STALE|EXPIRED)$/.test(error.code);
      if (!parted || tries === TRIES) {
        throw error;
      }
    }
  }
}

/** A diagnostic on one line. */
function wrong({ source = "", code = "", message }: Diagnostic): string {
  return `${source} ${code} ${message.split("\n", 1)[0]}`.trim();
}

function beginning(lines: readonly string[]): string[] {
  const more = lines.length - 2 * SHOWN;
  return more <= 0 ? [...lines] : [...lines.slice(0, 2 * SHOWN), `... ${more} more lines ...`];
}

function excerpt(lines: readonly string[]): string[] {
  if (lines.length <= 2 * SHOWN) {
    return [...lines];
  }
  return [...lines.slice(0, SHOWN), `... ${lines.length - 2 * SHOWN} more ...`, ...lines.slice(-SHOWN)];
}

function print(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
