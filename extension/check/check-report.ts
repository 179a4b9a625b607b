// What the check of a workspace found, as a text to read. No editor is needed here.

import type { SweptFolders } from "../native.d.ts";
import type { Outcome } from "./own-client.ts";

/** What a check looks at, and what it found. */
export interface Findings {
  /** The gateway, the editor and the system, with their versions. */
  readonly versions: readonly string[];
  /** Why the gateway does not run, as a sentence; nothing else was looked at then. */
  readonly notRunning?: string | undefined;
  readonly endpoint?: { readonly url: string; readonly port: number; readonly lost: number | undefined } | undefined;
  /** The folders that clients may ask about, as they may be shown. */
  readonly roots: readonly string[];
  /** Languages whose servers were not ready when the check began. */
  readonly warmingUp: readonly string[];
  /** Folders that cannot be watched, by cause. */
  readonly swept: readonly SweptFolders[];
  /** Our settings that differ from their defaults, as they may be shown. */
  readonly settings: readonly string[];
  readonly file: FileFindings;
  /** What a client is greeted with; the reason if it is not. */
  readonly greeting?: { readonly revision: string; readonly tools: readonly string[] } | { readonly failed: string };
  readonly calls: readonly Call[];
}

export type FileFindings =
  | { readonly kind: "none" }
  /** It is no file on disk, or lies outside every root, so nothing is told of it. */
  | { readonly kind: "outside" }
  | {
      readonly kind: "asked";
      /** From its root. */
      readonly path: string;
      readonly language: string;
      /** Where the tools were asked, from 0. */
      readonly position: { readonly line: number; readonly character: number };
    };

/** One tool that was asked, as often as it asked for another try. */
export interface Call {
  readonly tool: string;
  readonly outcome: Outcome;
  /** How long the last try took. */
  readonly ms: number;
  readonly tries: number;
  /** From the first try to the end of the last. */
  readonly waitedMs: number;
}

/** What all names begin with. Without it the table fits beside a file. */
const PREFIX = "vscode.lsp.";

/** A space at which a narrow table does not go on to the next line. */
const NO_BREAK = "\u00a0";

/** The whole report in Markdown. It holds no token and no path but those that it was given. */
export function report(findings: Findings): string {
  const steps = nextSteps(findings);
  return [
    "# Check of this workspace",
    headline(findings, steps.length),
    ...(steps.length === 0 ? [] : ["## What to do", steps.map((step, index) => `${index + 1}. ${step}`).join("\n")]),
    ...(findings.notRunning === undefined ? clientView(findings) : []),
    "## Folders that clients may ask about",
    list(findings.roots.map(code), "None."),
    "## Settings that differ from their defaults",
    list(findings.settings.map(code), "None."),
    "## Versions",
    list(findings.versions, ""),
  ].join("\n\n");
}

/** One sentence. */
export function headline({ notRunning, greeting, calls }: Findings, steps: number): string {
  if (notRunning !== undefined) {
    return "**The gateway is not running.**";
  }
  const answered = calls.filter(({ outcome }) => outcome.kind === "answered").length;
  const offered = greeting === undefined || "failed" in greeting ? calls.length : greeting.tools.length;
  const rest = steps === 0 ? "nothing has to be done" : steps === 1 ? "one thing to do" : `${steps} things to do`;
  return `**${answered} of ${offered} tools answered; ${rest}.**`;
}

/** What is to be done, as sentences in the order in which they matter. */
export function nextSteps(findings: Findings): string[] {
  const { notRunning, endpoint, roots, warmingUp, swept, file, greeting, calls } = findings;
  if (notRunning !== undefined) {
    return [notRunning];
  }
  const steps: string[] = [];
  if (greeting !== undefined && "failed" in greeting) {
    steps.push(
      `A client cannot connect: ${greeting.failed} Run **MCP LSP Gateway: Restart**, then look at **MCP LSP Gateway: Show Log**.`,
    );
  } else if (greeting !== undefined && greeting.tools.length === 0) {
    steps.push("A client sees no tools: install the extension again.");
  }
  if (roots.length === 0) {
    steps.push("Open a folder: without one, every call is refused.");
  } else if (file.kind === "none") {
    steps.push("Open a file of the workspace in an editor and check again: only the workspace could be asked about.");
  } else if (file.kind === "outside") {
    steps.push(
      "The file in the editor lies outside the folders below, so clients may not ask about it: open one inside, or add its folder to `mcpLspGateway.additionalAllowedRoots`.",
    );
  }
  if (endpoint?.lost !== undefined) {
    steps.push(
      `Port ${endpoint.lost}, which this workspace had before, could not be had, so it listens on ${endpoint.port}: clients that know the other port are to be connected again with **MCP LSP Gateway: Connect a Client…**.`,
    );
  }
  const language = file.kind === "asked" ? file.language : "";
  steps.push(...new Set(calls.flatMap((call) => stepAfter(call, language, warmingUp))));
  steps.push(...swept.map(stepToWatch));
  if (foundNothing(calls)) {
    steps.push(
      `Nothing was found in this file: if there is code in it, install an extension that knows ${language || "its language"}, or wait until it has started, and check again.`,
    );
  }
  return steps;
}

function stepToWatch({ cause, folders }: SweptFolders): string {
  const slow = `${folders === 1 ? "One folder is" : `${folders} folders are`} looked through for each answer, which is slow`;
  const less = "add what need not be watched there to `mcpLspGateway.watch.ignore`";
  switch (cause) {
    case "outOfWatches":
      return `${slow}: the system allows no more watches. Raise \`fs.inotify.max_user_watches\`, or ${less}.`;
    case "fileSystem":
      return `${slow}: the file system does not tell of writes from elsewhere. Open a copy on a local disk, or ${less}.`;
    case "twoNames":
      return `${slow}: the same folder lies under two names. Open one of them only, or ${less}.`;
    case "refused":
      return `${slow}: the system does not let it be watched. Make it readable, or ${less}.`;
    case "noQueue":
      return `${slow}: the gateway can watch nothing on this system. If answers take too long, ${less}.`;
  }
}

function stepAfter({ tool, outcome, tries }: Call, language: string, warmingUp: readonly string[]): string[] {
  if (outcome.kind === "answered") {
    return [];
  }
  const name = code(tool);
  const { reason } = outcome.details;
  if (reason === "warming_up") {
    const who = warmingUp.length === 0 ? "The language server" : `The language server of ${warmingUp.join(", ")}`;
    return [`${who} was still starting after ${tries} tries: wait a moment and check again.`];
  }
  if (reason === "timeout") {
    return [
      `${name} took longer than \`mcpLspGateway.requestTimeoutMs\`: check again, and if it stays so, see in the editor itself whether the extension for ${language || "the language"} answers.`,
    ];
  }
  if (reason === "not_analysed") {
    return [
      "No extension has reported on this file, so nobody knows whether it is clean: leave it open in a tab, or turn on `mcpLspGateway.diagnostics.openTab`.",
    ];
  }
  if (outcome.code === "PROVIDER_UNAVAILABLE") {
    return [
      `No extension answers ${name} for ${language || "this workspace"}: install one that does, or, if there is one and the folder has just been trusted, run **Developer: Reload Window**.`,
    ];
  }
  if (outcome.code === "INTERNAL") {
    return [`${name} failed: look at **MCP LSP Gateway: Show Log**, which tells what the extension said.`];
  }
  return [`${name} was refused: ${plain(outcome.message)}`];
}

/** Whether all that was asked about the file was answered, and by nothing. */
function foundNothing(calls: readonly Call[]): boolean {
  const symbols = calls.find(({ tool }) => tool === "vscode.lsp.documentSymbols")?.outcome;
  const hover = calls.find(({ tool }) => tool === "vscode.lsp.hover")?.outcome;
  return (
    symbols?.kind === "answered" &&
    hover?.kind === "answered" &&
    isEmpty(symbols.payload["symbols"]) &&
    isEmpty(hover.payload["contents"])
  );
}

function isEmpty(items: unknown): boolean {
  return Array.isArray(items) && items.length === 0;
}

function clientView({ endpoint, greeting, file, calls, warmingUp }: Findings): string[] {
  const connected =
    greeting === undefined || "failed" in greeting
      ? []
      : [`It is spoken to in revision ${code(greeting.revision)} of MCP and sees ${greeting.tools.length} tools.`];
  const asked =
    file.kind === "asked"
      ? `The tools were asked about ${code(file.path)} (${file.language}), line ${file.position.line + 1}, column ${file.position.character + 1}, over HTTP as any client asks them.`
      : "The tools were asked over HTTP as any client asks them.";
  return [
    "## What a client sees",
    [`It connects to ${code(endpoint?.url ?? "")}.`, ...connected, asked].join(" "),
    ...(calls.length === 0 ? [] : [table(calls)]),
    ...(warmingUp.length === 0 ? [] : [`When the check began, ${warmingUp.join(", ")} was still warming up.`]),
  ];
}

function table(calls: readonly Call[]): string {
  const rows = calls.map(({ tool, outcome, ms, tries, waitedMs }) => {
    const answer =
      outcome.kind === "answered"
        ? `✔ ${plain(String(outcome.payload["summary"] ?? "Answered."))}`
        : `✘ ${plain(outcome.message)} ${code(outcome.code)}`;
    const waited = tries === 1 ? "" : `, after ${tries} tries in ${(waitedMs / 1000).toFixed(1)} s`;
    return `| ${code(tool.replace(PREFIX, ""))} | ${answer} | ${Math.round(ms)}${NO_BREAK}ms${waited} |`;
  });
  return [`| ${code(PREFIX)} | Answer | Time |`, "| --- | --- | --- |", ...rows].join("\n");
}

function list(items: readonly string[], otherwise: string): string {
  return items.length === 0 ? otherwise : items.map((item) => `- ${item}`).join("\n");
}

/** A span of code that ends where it should, whatever the text holds, and does not end the cell of a table either. */
function code(text: string): string {
  return `\`${text.replaceAll("`", "'").replaceAll("|", "¦").replaceAll(/\s+/g, " ")}\``;
}

function plain(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>|#]/g, "\\$&").replaceAll(/\s+/g, " ");
}

/** A path as it may be shown to others: the home folder has the person's name in it. */
export function withoutHome(path: string, home: string): string {
  const rest = path.slice(home.length);
  return home.length > 1 && path.startsWith(home) && /^([/\\]|$)/.test(rest) ? `~${rest}` : path;
}
