// `npm start -- <folder> [--once]`: our extension in a real VS Code on a folder, asked by a real client.
// `npm start -- <folder> --headless [--trust]`: the program without an editor, asked the same.

import { mkdirSync, realpathSync, statSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { buildHeadless } from "../harness/build/headless.ts";
import { packVsix } from "../harness/build/vsix.ts";
import { GatewayClient, type Location, ToolFailure } from "../harness/clients/gateway-client.ts";
import { DesktopVsCode } from "../harness/editor/desktop-vscode.ts";
import { type HandoverFiles, packHandover, runInside, takeConfiguration } from "../harness/editor/handover.ts";
import { RealVsCode, stopOnSignals } from "../harness/editor/real-vscode.ts";
import { linkPrograms, serversFor } from "../harness/languages/language-servers.ts";
import { pickSubject, type Subject } from "../harness/languages/pick-subject.ts";
import { root, serversFolder } from "../harness/layout.ts";
import { command, Failure, say, step } from "../harness/machine/progress.mjs";

/** A small project with a file of mistakes. */
const EXAMPLE = join(root, "harness", "workspace");
/** How often a tool is asked whose pages a change of the workspace has parted. */
const TRIES = 5;
/** An extension that has not reported on a file in a tab after this long has nothing to report: some keep silent then. */
const REPORTED = 10_000;
/** Of a long list or text the first and last few lines are printed. */
const SHOWN = 3;
/** What every language with an extension of its own has. Of the other tools a language may lack some. */
const NEEDED: ReadonlySet<string> = new Set(["vscode.lsp.definition", "vscode.lsp.references"]);

// Whoever reads our output may stop reading, as `head` does; the editor has to be ended in order all the same.
process.stdout.on("error", () => {});

await command(async () => {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { once: { type: "boolean" }, headless: { type: "boolean" }, trust: { type: "boolean" } },
  });
  const folder = existingFolder(positionals[0] ?? EXAMPLE);
  const subject = pickSubject(folder);
  const mistakes = positionals[0] === undefined ? join(folder, "src", "mistakes.ts") : subject.declaration.file;
  const about = { folder, subject, mistakes };
  const trust = values.trust === true;
  return values.headless === true ? withoutEditor(about, trust) : inEditor(about, values.once === true, trust);
});

/** What tools are asked about. */
interface About {
  readonly folder: string;
  readonly subject: Subject;
  /** The file whose diagnostics are asked for. */
  readonly mistakes: string;
}

/** Asks the extension in a real VS Code, and resolves to the exit code. */
async function inEditor(about: About, once: boolean, trust: boolean): Promise<number> {
  const { folder } = about;
  const isOnDesktop = DesktopVsCode.isUsable();
  // An editor that has to be installed comes while the addon is compiled.
  const [{ file }, handover, isThere] = await Promise.all([packVsix("dev"), packHandover(), isOnDesktop || install()]);
  if (!isThere) {
    say("VS Code cannot be installed here: language servers are asked without it, as by --headless.");
    return withoutEditor(about, trust);
  }
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
    const unanswered = await askEverything({ ...about, client, window });
    await client.close();
    print("", `Endpoint: ${configuration.url}`, "Client configuration:", configuration.text);
    print(`Where to look: ${editor.addressOf(folder)}`);
    if (!once) {
      say("\nThe editor stays up until Ctrl-C.");
      await editor.closed();
    }
    return unanswered === 0 ? 0 : 1;
  } finally {
    await editor.stop();
  }
}

/** Installs VS Code, and resolves to whether that went well. */
async function install(): Promise<boolean> {
  try {
    await RealVsCode.install();
    return true;
  } catch (error) {
    if (!(error instanceof Failure)) {
      throw error;
    }
    say(error.message);
    return false;
  }
}

/**
 * Asks `mcp-lsp-gateway`, with servers of our own before those that are on PATH, and resolves to the exit code. Nothing
 * stays up: a client starts the program itself.
 */
async function withoutEditor(about: About, trust: boolean): Promise<number> {
  const { folder } = about;
  const [program, servers] = await Promise.all([buildHeadless("dev"), serversFor(folder)]);
  mkdirSync(serversFolder, { recursive: true });
  linkPrograms(serversFolder, servers);
  const entry = { command: program, args: ["--root", folder, ...(trust ? ["--trust"] : [])] };
  const env = { ...process.env, PATH: [serversFolder, process.env["PATH"]].join(delimiter) };
  const client = await step(`Starting mcp-lsp-gateway on ${folder}`, () => GatewayClient.start({ ...entry, env }));
  const unanswered = await askEverything({ ...about, client });
  await client.close();
  print("", "Client configuration:", JSON.stringify({ mcpServers: { lsp: entry } }, undefined, 2));
  print(`The language servers have to be on PATH. Those that were asked here are in ${serversFolder}`);
  return unanswered === 0 ? 0 : 1;
}

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

/** A tool as `tools/list` tells of it. */
type Tool = Awaited<ReturnType<GatewayClient["tools"]>>[number];

interface Question {
  /** What it is about, for the person who reads the answer. */
  readonly about: string;
  /** The file that it is about; none if it is about all. */
  readonly uri?: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** An item of a payload, of whatever tool. What it has of these says how it is shown. */
interface Item {
  readonly uri?: string;
  readonly range?: Location["range"];
  readonly location?: { readonly uri: string; readonly range?: Location["range"] };
  readonly name?: string;
  readonly message?: string;
  readonly source?: string;
  readonly code?: string;
  /** A text. */
  readonly value?: string;
  /** What is wrong in a file. */
  readonly diagnostics?: readonly Item[];
}

/** Who is asked, and about what. */
interface Tour extends About {
  readonly client: GatewayClient;
  /** None without an editor. */
  readonly window?: HandoverFiles;
}

/** Calls every tool, prints what each answered, and resolves to how many gave no answer. */
async function askEverything(tour: Tour): Promise<number> {
  const { window } = tour;
  let unanswered = 0;
  for (const tool of await tour.client.tools()) {
    const question = questionFor(tool, tour);
    print("", `${tool.name}  (${question.about})`);
    const { lines, failed } = await step(`Asking ${tool.name}`, async () => {
      if (window !== undefined && reportsDiagnostics(tool) && question.uri !== undefined) {
        // Some extensions look only at files that are in a tab.
        await showInTab(window, question.uri);
      }
      return outcome(() => ask(tool, question, tour), NEEDED.has(tool.name));
    });
    print(...lines.map((line) => `  ${line}`));
    unanswered += failed ? 1 : 0;
  }
  return unanswered;
}

/** What a tool is asked: it is given the arguments that it cannot do without, and no other. */
function questionFor(tool: Tool, { folder, subject, mistakes }: Tour): Question {
  const { required = [] } = tool.inputSchema;
  const place = required.includes("position") ? subject.use : subject.declaration;
  const { position } = place;
  const file = reportsDiagnostics(tool) ? mistakes : place.file;
  const known: Readonly<Record<string, unknown>> = { uri: pathToFileURL(file).href, position, query: subject.name };
  const unknown = required.find((argument) => !(argument in known));
  if (unknown !== undefined) {
    throw new Failure(`${tool.name} needs ${unknown}, which this script cannot give it: add it to scripts/start.ts.`);
  }
  const input = Object.fromEntries(required.map((argument) => [argument, known[argument]]));
  if (!("uri" in input)) {
    return { about: "query" in input ? subject.name : "the whole workspace", input };
  }
  const at = `${relative(folder, file)}:${position.line + 1}:${position.character + 1}`;
  const about = "position" in input ? `${subject.name} in ${at}` : relative(folder, file);
  return { about, uri: pathToFileURL(file).href, input };
}

function reportsDiagnostics({ outputSchema }: Tool): boolean {
  return "diagnostics" in (outputSchema?.properties ?? {});
}

/** Asks a tool, page by page if it has pages. */
async function ask(tool: Tool, { uri, input }: Question, { client, folder }: Tour): Promise<Told> {
  const shown = (items: readonly Item[]) => excerpt(items.flatMap((item) => linesOf(item, { folder, uri })));
  if ("cursor" in (tool.inputSchema.properties ?? {})) {
    const items: Item[] = [];
    let pages = 0;
    for await (const page of client.pages<Item>(tool.name, input)) {
      items.push(...page.items);
      pages += 1;
    }
    const size = `${items.length} items on ${pages} page${pages === 1 ? "" : "s"}`;
    return { found: items.length > 0, lines: [size, ...shown(items)] };
  }
  const { summary = "", ...payload }: { summary?: string } = await client.call(tool.name, input);
  const items: Item[] = Object.values(payload).find(Array.isArray) ?? [];
  return { found: items.length > 0, lines: [summary, ...shown(items)] };
}

/** An item as lines to print. */
function linesOf(item: Item, about: { readonly folder: string; readonly uri: string | undefined }): string[] {
  const { value, diagnostics, name, message, source = "", code = "" } = item;
  if (value !== undefined) {
    return value.trim().split("\n");
  }
  const uri = item.uri ?? item.location?.uri ?? about.uri;
  if (diagnostics !== undefined) {
    return diagnostics.flatMap((diagnostic) => linesOf(diagnostic, { ...about, uri }));
  }
  const start = (item.range ?? item.location?.range)?.start;
  const place = [
    uri === undefined ? "" : relative(about.folder, fileURLToPath(uri)),
    ...(start === undefined ? [] : [start.line + 1, start.character + 1]),
  ].join(":");
  if (message !== undefined) {
    return [`${place}  ${`${source} ${code} ${message.split("\n", 1)[0]}`.trim()}`];
  }
  return [name === undefined ? place : `${name}  ${place}`];
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
async function outcome(
  ask: () => Promise<Told>,
  needed: boolean,
): Promise<{ lines: readonly string[]; failed: boolean }> {
  try {
    const { found, lines } = await wholly(ask);
    return { lines, failed: needed && !found };
  } catch (error) {
    const lacking = error instanceof ToolFailure && error.code === "PROVIDER_UNAVAILABLE";
    return { lines: [error instanceof Error ? error.message : String(error)], failed: needed || !lacking };
  }
}

/** Asks anew when a cursor was refused, as clients have to. */
async function wholly(ask: () => Promise<Told>): Promise<Told> {
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

function excerpt(lines: readonly string[]): string[] {
  if (lines.length <= 2 * SHOWN) {
    return [...lines];
  }
  return [...lines.slice(0, SHOWN), `... ${lines.length - 2 * SHOWN} more ...`, ...lines.slice(-SHOWN)];
}

function print(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}
