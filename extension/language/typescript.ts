import * as vscode from "vscode";
import { type Clock, pause } from "../clock.ts";
import { NO_SIGN_MS } from "./analysis.ts";
import type { LanguageAdapter } from "./languages.ts";

const EXTENSION = "vscode.typescript-language-features";
/** By it, the built-in extension lets others put a few read-only requests to its language server. */
const REQUEST = "typescript.tsserverRequest";

/** The server that knows the whole project, and not the one that only knows the syntax of single files. */
const SEMANTIC = { executionTarget: 0 };

/** Where every document can be asked about, counted from 1. */
const START = { line: 1, offset: 1 };

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;

const FAMILY: ReadonlyMap<string, "typescript" | "javascript"> = new Map([
  ["typescript", "typescript"],
  ["typescriptreact", "typescript"],
  ["javascript", "javascript"],
  ["javascriptreact", "javascript"],
]);

/** What the built-in extension names as the source of all that it publishes, for JavaScript as well. */
const SOURCE = "ts";

/** Names that are never used, code that is never reached and the like, which the extension calls matters of style. */
const STYLE_CHECKS: ReadonlySet<number> = new Set([6133, 6138, 6192, 6196, 7027, 7028, 7029, 7030]);

/**
 * TypeScript and JavaScript, as VS Code's built-in extension answers for them. While the project is loading it answers
 * from a part of it, with nothing to show for that, and it publishes diagnostics only for documents in a tab; its language
 * server can be asked about both.
 */
export class TypeScriptAdapter implements LanguageAdapter {
  readonly languages = new Set(FAMILY.keys());
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async isUsable(): Promise<boolean> {
    const extension = vscode.extensions.getExtension(EXTENSION);
    if (extension === undefined) {
      return false;
    }
    await extension.activate();
    return (await vscode.commands.getCommands(true)).includes(REQUEST);
  }

  async isReady(document: vscode.TextDocument): Promise<boolean> {
    return (await answerTo("quickinfo", { file: document.uri, ...START })) !== undefined;
  }

  /** Asks each time, since the server may have been started anew, or the project have become another. */
  async ready(document: vscode.TextDocument): Promise<boolean> {
    return (await this.#request("quickinfo", document, START)) !== undefined;
  }

  async diagnostics(document: vscode.TextDocument): Promise<vscode.Diagnostic[] | undefined> {
    const family = FAMILY.get(document.languageId);
    if (family === undefined || !setting("validate.enabled", `${family}.validate.enable`, document)) {
      return undefined;
    }
    const styleAsWarnings = setting("reportStyleChecksAsWarnings", "typescript.reportStyleChecksAsWarnings");
    const suggestions = setting("suggestionActions.enabled", `${family}.suggestionActions.enabled`, document);
    const [syntactic, semantic, suggested] = await Promise.all([
      this.#diagnostics("syntacticDiagnosticsSync", document),
      this.#diagnostics("semanticDiagnosticsSync", document),
      this.#diagnostics("suggestionDiagnosticsSync", document),
    ]);
    const shown = suggestions
      ? suggested
      : suggested.filter(({ reportsUnnecessary, reportsDeprecated }) => reportsUnnecessary || reportsDeprecated);
    const now = [...syntactic, ...semantic, ...shown].map((item) => diagnosticOf(item, styleAsWarnings));
    const sources = new Set([SOURCE, ...now.map(({ source }) => source)]);
    const ofOthers = vscode.languages.getDiagnostics(document.uri).filter(({ source }) => !sources.has(source));
    return [...now, ...ofOthers];
  }

  async #diagnostics(request: string, document: vscode.TextDocument): Promise<ServerDiagnostic[]> {
    const answer = await this.#request(request, document);
    if (!Array.isArray(answer?.body)) {
      throw new Error(`TypeScript's language server did not answer ${request}`);
    }
    return answer.body;
  }

  /** Asks until the server answers, or does not for too long. A question that it is still busy with is waited for. */
  async #request(request: string, document: vscode.TextDocument, more: object = {}): Promise<ServerAnswer | undefined> {
    const deadline = this.#clock.now() + NO_SIGN_MS;
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(2 * wait, LONGEST_PAUSE_MS)) {
      const answer = await answerTo(request, { file: document.uri, ...more });
      if (answer !== undefined) {
        return answer;
      }
      if (this.#clock.now() + wait >= deadline) {
        return undefined;
      }
      await pause(this.#clock, wait);
    }
  }
}

interface ServerAnswer {
  readonly type?: unknown;
  readonly body?: unknown;
}

/** Positions are counted from 1. */
interface ServerDiagnostic {
  readonly start: { readonly line: number; readonly offset: number };
  readonly end: { readonly line: number; readonly offset: number };
  readonly text: string;
  readonly code?: number;
  readonly category: string;
  readonly source?: string;
  readonly reportsUnnecessary?: unknown;
  readonly reportsDeprecated?: unknown;
}

/** What the server answered; undefined if it does not run, or the request was cancelled or failed. */
async function answerTo(request: string, about: object): Promise<ServerAnswer | undefined> {
  try {
    const answer = await vscode.commands.executeCommand<ServerAnswer | undefined>(REQUEST, request, about, SEMANTIC);
    // To have nothing to say about a position is an answer.
    return answer?.type === "response" || answer?.type === "noContent" ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** As the built-in extension converts what its server says. */
function diagnosticOf(item: ServerDiagnostic, styleAsWarnings: boolean): vscode.Diagnostic {
  const { start, end, text, code, source = SOURCE } = item;
  const range = new vscode.Range(start.line - 1, start.offset - 1, end.line - 1, end.offset - 1);
  const diagnostic = new vscode.Diagnostic(range, text, severityOf(item, styleAsWarnings));
  diagnostic.source = source;
  if (code !== undefined) {
    diagnostic.code = code;
  }
  return diagnostic;
}

function severityOf({ category, code }: ServerDiagnostic, styleAsWarnings: boolean): vscode.DiagnosticSeverity {
  switch (category) {
    case "warning":
      return vscode.DiagnosticSeverity.Warning;
    case "suggestion":
      return vscode.DiagnosticSeverity.Hint;
    default:
      return styleAsWarnings && category === "error" && code !== undefined && STYLE_CHECKS.has(code)
        ? vscode.DiagnosticSeverity.Warning
        : vscode.DiagnosticSeverity.Error;
  }
}

/**
 * A setting of the built-in extension, on unless turned off, under the name that it has today or, where nothing is set
 * under that, the one it had before.
 */
function setting(name: string, before: string, scope?: vscode.ConfigurationScope): boolean {
  const today = vscode.workspace.getConfiguration("js/ts", scope);
  const { globalValue, workspaceValue, workspaceFolderValue, languageIds } = today.inspect(name) ?? {};
  const isSet = [globalValue, workspaceValue, workspaceFolderValue].some((value) => value !== undefined);
  return isSet || (languageIds?.length ?? 0) > 0
    ? today.get(name, true)
    : vscode.workspace.getConfiguration(undefined, scope).get(before, true);
}
