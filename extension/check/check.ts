import { homedir } from "node:os";
import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import type { Endpoint, State } from "../gateway/lifecycle.ts";
import { nameOf } from "../gateway/log.ts";
import type { SweptFolders } from "../native.d.ts";
import {
  type Call,
  type FileFindings,
  type Findings,
  headline,
  nextSteps,
  report,
  withoutHome,
} from "./check-report.ts";
import { type OfferedTool, type Outcome, OwnClient } from "./own-client.ts";
import { type ButtonAction, offer, recoveryActionFor, whyNot } from "./recovery-actions.ts";

/** The scheme and the path of the report, which is a document that nobody can save. */
const SCHEME = "mcp-lsp-gateway";
const REPORT = vscode.Uri.from({ scheme: SCHEME, path: "/Check of This Workspace.md" });

/** How long a tool that asks for another try is asked again, and how long to wait in between. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 250;

/** Settings whose values say something of the machine that the report must not. */
const PRIVATE = new Set(["additionalAllowedRoots", "allowedOrigins"]);

export interface Parts {
  readonly version: string;
  state(): State;
  endpoint(): Endpoint | undefined;
  roots(): readonly string[];
  warmingUp(): readonly string[];
  /** The folders that cannot be watched. */
  swept(): Promise<readonly SweptFolders[]>;
}

/** Asks all tools about the file in the active editor, as a client would, and shows what came of it. */
export class Check implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #parts: Parts;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration: vscode.Disposable;
  #text = "";

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  provideTextDocumentContent(): string {
    return this.#text;
  }

  /** Checks, shows the report and offers to copy it. */
  async run(): Promise<void> {
    const findings = await this.#look();
    this.#text = report(findings);
    this.#changed.fire(REPORT);
    // A preview that does not come up keeps nobody from being told.
    await Promise.all([show(), this.#offerCopy(findings)]);
  }

  /** Puts the last report on the clipboard; that of a new check if there was none. */
  async copy(): Promise<void> {
    if (this.#text === "") {
      this.#text = report(await this.#look());
    }
    await vscode.env.clipboard.writeText(this.#text);
    vscode.window.setStatusBarMessage("Copied the report; paste it into the bug report.", 5000);
  }

  async #offerCopy(findings: Findings): Promise<void> {
    const message = headline(findings, nextSteps(findings).length).replaceAll("*", "");
    const copy: ButtonAction = { title: "Copy for a Bug Report", command: "mcpLspGateway.copyCheck" };
    const state = this.#parts.state();
    const offered = state.kind === "running" ? [copy] : [recoveryActionFor(state), copy];
    const answer = vscode.window.showInformationMessage(message, ...offered.map(({ title }) => title));
    await offer(answer, ...offered);
  }

  #look(): PromiseLike<Findings> {
    if (this.#parts.endpoint() === undefined) {
      // Nothing is asked, so there is nothing to wait for. Of many messages at once the editor shows the first three.
      return this.#findings(() => {});
    }
    return vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: "Checking this workspace" },
      (progress) => this.#findings((message) => progress.report({ message })),
    );
  }

  async #findings(tell: (message: string) => void): Promise<Findings> {
    const { version, state, endpoint, roots, warmingUp, swept } = this.#parts;
    const now = state();
    const home = homedir();
    const common = {
      versions: [
        `MCP LSP Gateway ${version}`,
        `${vscode.env.appName} ${vscode.version}`,
        `${process.platform} ${process.arch}, Node ${process.versions.node}`,
      ],
      roots: roots().map((root) => withoutHome(root, home)),
      warmingUp: [...warmingUp()],
      swept: await swept(),
      settings: changedSettings(),
    };
    const known = endpoint();
    if (now.kind !== "running" || known === undefined) {
      const why = now.kind === "running" ? "it is being restarted; check again." : whyNot(now);
      return {
        ...common,
        notRunning: `${why.slice(0, 1).toUpperCase()}${why.slice(1)}`,
        file: { kind: "none" },
        calls: [],
      };
    }
    const asked = subject(roots());
    const client = new OwnClient(known);
    const place = { url: known.url, port: now.port, lost: now.lost };
    try {
      tell("connecting");
      const revision = await client.begin(version);
      const tools = await client.tools();
      const greeting = { revision, tools: tools.map(({ name }) => name) };
      const { file, calls } = await askAll(client, tools, asked, tell);
      return { ...common, endpoint: place, greeting, file, calls };
    } catch (error) {
      const failed =
        error instanceof Error && error.message.startsWith("The gateway") ? error.message : `${nameOf(error)}.`;
      return { ...common, endpoint: place, greeting: { failed }, file: asked.file, calls: [] };
    } finally {
      await client.end().catch(() => {});
    }
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

const SYMBOLS = "vscode.lsp.documentSymbols";
const HOVER = "vscode.lsp.hover";

/** The file to ask about, and where in it: where the cursor is, if it is at a word. */
interface Subject {
  readonly file: FileFindings;
  readonly uri?: string;
  readonly word?: string;
}

/** With the report in front, the file beside it is meant. */
function subject(roots: readonly string[]): Subject {
  const { activeTextEditor: active, visibleTextEditors: visible } = vscode.window;
  const editor = active ?? visible.find(({ document }) => document.uri.scheme === "file");
  if (editor === undefined) {
    return { file: { kind: "none" } };
  }
  const { document, selection } = editor;
  const inside = roots.some((root) => isInside(document.uri.fsPath, root));
  if (document.uri.scheme !== "file" || !inside) {
    return { file: { kind: "outside" } };
  }
  const range = document.getWordRangeAtPosition(selection.active);
  const { line, character } = selection.active;
  return {
    file: {
      kind: "asked",
      path: vscode.workspace.asRelativePath(document.uri),
      language: document.languageId,
      position: { line, character },
    },
    uri: document.uri.toString(),
    ...(range === undefined ? {} : { word: document.getText(range) }),
  };
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(/[/\\]$/.test(root) ? root : `${root}${path.includes("\\") ? "\\" : "/"}`);
}

async function askAll(
  client: OwnClient,
  tools: readonly OfferedTool[],
  { file, uri, word }: Subject,
  tell: (message: string) => void,
): Promise<{ file: FileFindings; calls: Call[] }> {
  const asked = new Map<string, Call>();
  const ask = async (tool: string, given: object): Promise<Outcome> => {
    tell(tool);
    const call = await patiently(tool, () => client.call(tool, given));
    asked.set(tool, call);
    return call.outcome;
  };
  let about = file;
  // Any text does where there is no name: it matters only that there is an answer.
  let name = word ?? "a";
  const isOffered = (tool: string): boolean => tools.some((offered) => offered.name === tool);
  if (file.kind === "asked" && uri !== undefined && isOffered(SYMBOLS)) {
    const first = firstSymbol(await ask(SYMBOLS, { uri }));
    const { position } = file;
    const saidNothing = word === undefined || (isOffered(HOVER) && saysNothing(await ask(HOVER, { uri, position })));
    // A keyword or a blank says nothing of whether the tools work, so the first symbol takes its place.
    if (first !== undefined && saidNothing) {
      name = first.name;
      about = { ...file, position: first.position };
      asked.delete(HOVER);
    }
  }
  const known: Readonly<Record<string, unknown>> = {
    ...(uri === undefined ? {} : { uri }),
    ...(about.kind === "asked" ? { position: about.position } : {}),
    query: name,
  };
  const calls: Call[] = [];
  for (const { name: tool, required } of tools) {
    if (!asked.has(tool) && required.every((argument) => argument in known)) {
      await ask(tool, Object.fromEntries(required.map((argument) => [argument, known[argument]])));
    }
    calls.push(...[asked.get(tool)].filter((call) => call !== undefined));
  }
  return { file: about, calls };
}

function saysNothing(hover: Outcome): boolean {
  const contents = hover.kind === "answered" ? hover.payload["contents"] : undefined;
  return Array.isArray(contents) && contents.length === 0;
}

interface NamedPosition {
  readonly name: string;
  readonly position: { readonly line: number; readonly character: number };
}

/** The first symbol of a file, at its name. */
function firstSymbol(outcome: Outcome): NamedPosition | undefined {
  const symbols = outcome.kind === "answered" ? outcome.payload["symbols"] : undefined;
  const first = Array.isArray(symbols) ? symbols[0] : undefined;
  return first === undefined
    ? undefined
    : { name: /\w*/.exec(first.name)?.[0] || first.name, position: first.selectionRange.start };
}

/** Asks as often as the answer asks for another try. */
async function patiently(tool: string, ask: () => Promise<Outcome>): Promise<Call> {
  const begun = performance.now();
  for (let tries = 1; ; tries++) {
    const tried = performance.now();
    const outcome = await ask();
    const ended = performance.now();
    const again = outcome.kind === "refused" && outcome.details["retryable"] === true;
    if (!again || ended - begun > PATIENCE_MS) {
      return { tool, outcome, ms: ended - tried, tries, waitedMs: ended - begun };
    }
    await delay(PAUSE_MS);
  }
}

/** Our settings that somebody has set. Lists that may hold paths or hosts are counted. */
function changedSettings(): string[] {
  const configuration = vscode.workspace.getConfiguration("mcpLspGateway");
  const names = Object.keys(configuration).filter((name) => typeof configuration[name] !== "function");
  return [...names, "watch.ignore", "diagnostics.openTab"].flatMap((name) => {
    const known = configuration.inspect(name);
    const value = configuration.get(name);
    if (known === undefined || JSON.stringify(value) === JSON.stringify(known.defaultValue) || value === undefined) {
      return [];
    }
    const isPrivate = PRIVATE.has(name) || Array.isArray(value);
    if (!isPrivate && typeof value === "object") {
      return [];
    }
    const shown = isPrivate ? `${Array.isArray(value) ? value.length : 0} entries` : JSON.stringify(value);
    return [`mcpLspGateway.${name}: ${shown}`];
  });
}

/** Beside the file that it is about, as a preview, or as text where there is none. */
async function show(): Promise<void> {
  try {
    await vscode.commands.executeCommand("markdown.showPreviewToSide", REPORT);
  } catch {
    await vscode.window.showTextDocument(REPORT, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}
