// Stands in for the editor's `vscode` module, so that the parts of the extension that import it can be tested in plain
// Node: whoever imports this module first can then import those parts. It holds what they use and no more.

import { EventEmitter as NodeEmitter } from "node:events";
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
  /** The folder of the workspace, and the files that a search in it finds; they can be opened as well. */
  folder: "/w",
  files: [] as Document[],
  searchFails: false,
  /** The arguments of each search. */
  searches: [] as unknown[][],
  /** The documents that were opened, by the text of their URIs. */
  opened: [] as string[],
  /** What every command answers; a function is called with the command and its arguments. */
  answer: undefined as unknown,
  /** The commands that were run, with their arguments. */
  ran: [] as unknown[][],
  /** The commands that there are, besides those of the editor itself. */
  commands: [] as string[],
  /** What the tabs hold, all in one group. */
  tabs: [] as Tab[],
  /** Values of settings, by their whole names. */
  settings: new Map<string, unknown>(),
  /** The manifests of installed extensions. */
  manifests: [] as object[],
  /** Further installed extensions, as VS Code gives them out. */
  installed: [] as { readonly id: string; readonly isActive: boolean; readonly packageJSON: object }[],
  /** The languages that installed extensions contribute. */
  languages: [] as string[],
  /** The folders of the workspace. */
  folders: [] as string[],
  /** The folders for which watchers were made, one after the other. */
  watched: [] as string[],
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
      folder: "/w",
      files: [],
      searchFails: false,
      searches: [],
      opened: [],
      answer: undefined,
      ran: [],
      commands: [],
      tabs: [],
      settings: new Map(),
      manifests: [],
      installed: [],
      languages: [],
      folders: [],
      watched: [],
      choices: [],
      questions: [],
    });
  },
};

const events = new NodeEmitter();

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

export class EventEmitter<T> {
  readonly #listeners: ((value: T) => void)[] = [];
  readonly event = (listener: (value: T) => void): void => void this.#listeners.push(listener);

  fire(value: T): void {
    for (const listener of this.#listeners) {
      listener(value);
    }
  }
}

export class McpHttpServerDefinition {
  readonly label: string;
  uri: URI;
  headers: Record<string, string>;
  version: string;

  constructor(label: string, uri: URI, headers: Record<string, string>, version: string) {
    this.label = label;
    this.uri = uri;
    this.headers = headers;
    this.version = version;
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

export class Range {
  readonly start: Position;
  readonly end: Position;

  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };

export class Diagnostic {
  readonly range: Range;
  readonly message: string;
  readonly severity: number;

  constructor(range: Range, message: string, severity: number) {
    this.range = range;
    this.message = message;
    this.severity = severity;
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

/** A tab in front of its group, which is the one that the person is in. */
export function tabOf(input: object): Tab {
  return { input, isActive: true, isDirty: false, group: { isActive: true } };
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
    return typeof editor.answer === "function" ? editor.answer(...command) : editor.answer;
  },
  getCommands: async () => [...editor.commands],
};

export const ViewColumn = { Active: -1, Beside: -2 };

/** What stands beside what the person looks at, or in the one group that there is. */
interface Tab {
  readonly input: object;
  isActive: boolean;
  isDirty: boolean;
  readonly group: { isActive: boolean };
}

export const window = {
  /** Opens a tab in another group, as the editor does beside the active one, and does not go there. */
  showTextDocument: async (document: Document, options: object) => {
    editor.ran.push(["show", document.uri.toString(), options]);
    const tab: Tab = {
      input: new TabInputText(document.uri),
      isActive: true,
      isDirty: false,
      group: { isActive: false },
    };
    editor.tabs.push(tab);
  },
  onDidChangeTextEditorSelection: on("onDidChangeTextEditorSelection"),
  tabGroups: {
    get all() {
      return [{ tabs: editor.tabs }];
    },
    get activeTabGroup() {
      return { tabs: editor.tabs };
    },
    close: async (tab: Tab, preserveFocus: boolean) => {
      editor.ran.push(["close", preserveFocus]);
      editor.tabs = editor.tabs.filter((other) => other !== tab);
    },
    onDidChangeTabs: on("onDidChangeTabs"),
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
  getWorkspaceFolder: ({ path }: URI) => (editor.folders.includes(path) ? {} : undefined),
  /** Tells of the events `onDidCreate`, `onDidChange` and `onDidDelete` under its folder. */
  createFileSystemWatcher: ({ base }: RelativePattern) => {
    const under = (event: string) => (listener: Listener) =>
      on(event)((uri) => {
        if ((uri as URI).path.startsWith(`${base.path}/`)) {
          listener(uri);
        }
      });
    editor.watched.push(base.path);
    return {
      onDidCreate: under("onDidCreate"),
      onDidChange: under("onDidChange"),
      onDidDelete: under("onDidDelete"),
      dispose: () => {},
    };
  },
  openTextDocument: async (uri: URI) => {
    const known = [...editor.documents, ...editor.files];
    const document = known.find((candidate) => candidate.uri.toString() === uri.toString());
    if (document === undefined) {
      throw new Error("no such file");
    }
    editor.opened.push(uri.toString());
    const { lines } = document;
    return { ...document, lineCount: lines.length, lineAt: (line: number) => ({ text: lines[line] }) };
  },
  findFiles: async (...search: unknown[]) => {
    editor.searches.push(search);
    if (editor.searchFails) {
      throw new Error("the search failed");
    }
    return editor.files.map(({ uri }) => uri);
  },
  asRelativePath: ({ path }: URI) => path.slice(editor.folder.length + 1),
  getConfiguration: (section?: string) => {
    const key = (name: string) => (section === undefined ? name : `${section}.${name}`);
    return {
      get: (name: string, fallback: unknown) => editor.settings.get(key(name)) ?? fallback,
      inspect: (name: string) => ({ globalValue: editor.settings.get(key(name)) }),
    };
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
      { packageJSON: { main: "./main.js", contributes: { languages: editor.languages.map((id) => ({ id })) } } },
      ...editor.manifests.map((packageJSON) => ({ packageJSON })),
      ...editor.installed,
    ];
  },
  getExtension: (id: string) =>
    editor.installed.find((extension) => extension.id === id) ??
    (editor.manifests.some((manifest) => "id" in manifest && manifest.id === id)
      ? { activate: async () => editor.ran.push(["activate", id]) }
      : undefined),
};
