// Stands in for the editor's `vscode` module, so that the parts of the extension that import it can be tested in plain
// Node: whoever imports this module first can then import those parts. It holds what they use and no more.

import { EventEmitter } from "node:events";
import { registerHooks } from "node:module";
import { URI } from "vscode-uri";

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "vscode" ? { url: import.meta.url, shortCircuit: true } : next(specifier, context),
});

export interface Document {
  readonly uri: URI;
  readonly languageId: string;
  readonly lines: readonly string[];
}

/** What the tests set and look at. */
export const editor = {
  /** What is published, by the text of the URI. */
  diagnostics: new Map<string, readonly unknown[]>(),
  documents: [] as Document[],
  /** What every command answers. */
  answer: undefined as unknown,
  /** The commands that were run, with their arguments. */
  ran: [] as unknown[][],
  /** What the tabs hold, all in one group. */
  tabs: [] as object[],
  /** The languages that installed extensions declare. */
  languages: [] as string[],
  /** What the person chooses when asked, one after the other; then nothing. */
  choices: [] as (string | undefined)[],
  /** What the person was asked. */
  questions: [] as string[],
  /** Tells of an event, by the name that `vscode` has for it. */
  fire(event: string, value: unknown): void {
    events.emit(event, value);
  },
  reset(): void {
    events.removeAllListeners();
    Object.assign(this, {
      diagnostics: new Map(),
      documents: [],
      answer: undefined,
      ran: [],
      tabs: [],
      languages: [],
      choices: [],
      questions: [],
    });
  },
};

const events = new EventEmitter();

type Listener = (value: unknown) => void;

function on(event: string): (listener: Listener) => Disposable {
  return (listener) => {
    events.on(event, listener);
    return new Disposable(() => events.off(event, listener));
  };
}

export { URI as Uri };

export class Disposable {
  readonly dispose: () => void;

  constructor(dispose: () => void) {
    this.dispose = dispose;
  }

  static from(...all: Disposable[]): Disposable {
    return new Disposable(() => {
      for (const each of all) {
        each.dispose();
      }
    });
  }
}

export class Position {
  readonly line: number;
  readonly character: number;

  constructor(line: number, character: number) {
    this.line = line;
    this.character = character;
  }
}

export class RelativePattern {
  readonly base: URI;
  readonly pattern: string;

  constructor(base: URI, pattern: string) {
    this.base = base;
    this.pattern = pattern;
  }
}

export class TabInputText {
  readonly uri: URI;

  constructor(uri: URI) {
    this.uri = uri;
  }
}

export class TabInputTextDiff {
  readonly original: URI;
  readonly modified: URI;

  constructor(original: URI, modified: URI) {
    this.original = original;
    this.modified = modified;
  }
}

export const languages = {
  getDiagnostics: (uri?: URI) =>
    uri === undefined
      ? [...editor.diagnostics].map(([text, diagnostics]) => [URI.parse(text), diagnostics])
      : (editor.diagnostics.get(uri.toString()) ?? []),
  onDidChangeDiagnostics: on("onDidChangeDiagnostics"),
};

export const commands = {
  executeCommand: async (...command: unknown[]) => {
    editor.ran.push(command);
    return editor.answer;
  },
};

export const window = {
  tabGroups: {
    get all() {
      return [{ tabs: editor.tabs.map((input) => ({ input })) }];
    },
  },
  showWarningMessage: async (question: string) => {
    editor.questions.push(question);
    return editor.choices.shift();
  },
};

export const workspace = {
  get textDocuments() {
    return editor.documents;
  },
  /** Tells of the events `onDidCreate`, `onDidChange` and `onDidDelete` under its folder. */
  createFileSystemWatcher: ({ base }: RelativePattern) => {
    const under = (event: string) => (listener: Listener) =>
      on(event)((uri) => {
        if ((uri as URI).path.startsWith(`${base.path}/`)) {
          listener(uri);
        }
      });
    return {
      onDidCreate: under("onDidCreate"),
      onDidChange: under("onDidChange"),
      onDidDelete: under("onDidDelete"),
      dispose: () => {},
    };
  },
  openTextDocument: async (uri: URI) => {
    const document = editor.documents.find((known) => known.uri.toString() === uri.toString());
    if (document === undefined) {
      throw new Error("no such file");
    }
    const { lines } = document;
    return { ...document, lineCount: lines.length, lineAt: (line: number) => ({ text: lines[line] }) };
  },
  onDidOpenTextDocument: on("onDidOpenTextDocument"),
  onDidCloseTextDocument: on("onDidCloseTextDocument"),
  onDidChangeTextDocument: on("onDidChangeTextDocument"),
  onDidSaveTextDocument: on("onDidSaveTextDocument"),
  onDidCreateFiles: on("onDidCreateFiles"),
  onDidDeleteFiles: on("onDidDeleteFiles"),
  onDidRenameFiles: on("onDidRenameFiles"),
};

export const extensions = {
  get all() {
    return [
      { packageJSON: {} },
      { packageJSON: { contributes: { languages: editor.languages.map((id) => ({ id })) } } },
    ];
  },
};
