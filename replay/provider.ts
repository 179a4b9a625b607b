// The answers that the replay host gives: read from its provider file, or from a line on its stdin.

import { PROVIDERS, type Shape, shapeOf } from "../extension/boundary/providers.ts";
import { Failure } from "../harness/machine/progress.mjs";

/** What a provider file calls the question of a method: by its last part, and these by what they ask for. */
export function questionOf(method: string): string {
  const named = { "textDocument/documentSymbol": "documentSymbols", "workspace/symbol": "workspaceSymbols" };
  const last = method.slice(method.lastIndexOf("/") + 1);
  return shapeOf(method) === "diagnostics" ? "diagnostics" : (named[method as keyof typeof named] ?? last);
}

/** The questions that a provider file can answer, by its keys, each with the shape of its items; each can be given a delay. */
const QUESTIONS: ReadonlyMap<string, Shape> = new Map([
  ...PROVIDERS.map(({ method, shape }) => [questionOf(method), shape] as const),
  ["diagnostics", "diagnostics"] as const,
]);

/** What the editor answers. The lists are as they were written: what is odd about them is for the gateway to find. */
export interface Provider {
  /** The answer to each question that has one. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** How long the editor takes to answer. */
  readonly delayMs: ReadonlyMap<string, number>;
}

/**
 * Reads a provider. A part that no answer can be made of is a `Failure`. An item that no provider of VS Code would return
 * is kept, since reproducing a faulty provider is a use of this host, and `oddities` says of each what is odd.
 */
export function readProvider(value: unknown): { provider: Provider; oddities: string[] } {
  if (!isObject(value)) {
    throw new Failure('A provider is a JSON object such as {"references":[]}.');
  }
  const answers = new Map<string, unknown>();
  const oddities: string[] = [];
  let delayMs = new Map<string, number>();
  for (const [key, part] of Object.entries(value)) {
    if (key === "delayMs") {
      delayMs = readDelays(part);
      continue;
    }
    const question = questionNamed(key);
    // Of a language without a provider for a question, null says the same as leaving the question out.
    if (part !== null) {
      answers.set(question, part);
      oddities.push(...oddItems(question, part));
    }
  }
  return { provider: { answers, delayMs }, oddities };
}

function questionNamed(key: string): string {
  if (!QUESTIONS.has(key)) {
    const known = [...QUESTIONS.keys()].join(", ");
    throw new Failure(`A provider has no part ${JSON.stringify(key)}: use ${known} or, to answer late, delayMs.`);
  }
  return key;
}

function readDelays(value: unknown): Map<string, number> {
  if (!isObject(value)) {
    throw new Failure('delayMs is an object of milliseconds by question, such as {"references":500}.');
  }
  return new Map(
    Object.entries(value).map(([key, delay]) => {
      if (typeof delay !== "number" || !(delay >= 0)) {
        throw new Failure(`delayMs.${key} is not a number of milliseconds: make it 0 or more.`);
      }
      return [questionNamed(key), delay];
    }),
  );
}

/** Says what is odd about an item; undefined if nothing is. */
type Check = (value: unknown) => string | undefined;

function oddItems(question: string, part: unknown): string[] {
  if (!Array.isArray(part)) {
    return [`${question} is not a list`];
  }
  return part.flatMap((item, index) => {
    const oddity = (CHECKS[QUESTIONS.get(question) ?? "diagnostics"] ?? isRanged)(item);
    return oddity === undefined ? [] : [`${question}[${index}]${oddity}`];
  });
}

const isText: Check = (value) => (typeof value === "string" ? undefined : " is not a text");

const isPosition: Check = fields({ line: wholeNumber(), character: wholeNumber() });

const isRange: Check = fields({ start: isPosition, end: isPosition });

const isRanged: Check = fields({ range: isRange });

const isLocation: Check = fields({ uri: isText, range: isRange });

const isLink: Check = fields({
  targetUri: isText,
  targetRange: isRange,
  targetSelectionRange: optional(isRange),
  originSelectionRange: optional(isRange),
});

const isTarget: Check = (value) => (has(value, "targetUri") ? isLink(value) : isLocation(value));

const isHoverContent: Check = (value) =>
  typeof value === "string" ? undefined : fields({ value: isText, language: optional(isText) })(value);

const isHover: Check = fields({ contents: listOf(isHoverContent), range: optional(isRange) });

/** VS Code counts the kinds of symbols from 0 (a file) to 25 (a type parameter). */
const isSymbolKind: Check = wholeNumber(25);

const isDocumentSymbol: Check = (value) =>
  fields({
    name: isText,
    detail: optional(isText),
    kind: isSymbolKind,
    range: isRange,
    selectionRange: isRange,
    children: optional(listOf(isDocumentSymbol)),
  })(value);

/** A workspace symbol may come without a range, to be resolved when somebody goes to it. */
const isSymbolInformation: Check = fields({
  name: isText,
  kind: isSymbolKind,
  containerName: optional(isText),
  location: fields({ uri: isText, range: optional(isRange) }),
});

const isDiagnosticCode: Check = (value) =>
  typeof value === "number" || typeof value === "string"
    ? undefined
    : fields({ value: (code) => (typeof code === "number" ? undefined : isText(code)) })(value);

const isDiagnostic: Check = fields({
  message: isText,
  range: isRange,
  // VS Code counts severities from 0 (an error) to 3 (a hint).
  severity: optional(wholeNumber(3)),
  code: optional(isDiagnosticCode),
  source: optional(isText),
});

const isDiagnosticsOfFile: Check = (value) =>
  Array.isArray(value) && value.length === 2
    ? (inside("[0]", isText(value[0])) ?? inside("[1]", listOf(isDiagnostic)(value[1])))
    : " is not a pair of a URI and its diagnostics";

/** Of a shape that is not among them, each item is an object with a range. */
const CHECKS: Readonly<Partial<Record<Shape, Check>>> = {
  targets: isTarget,
  locations: isLocation,
  hovers: isHover,
  documentSymbols: (value) => (has(value, "location") ? isSymbolInformation(value) : isDocumentSymbol(value)),
  workspaceSymbols: isSymbolInformation,
  diagnostics: isDiagnosticsOfFile,
};

function fields(checks: Readonly<Record<string, Check>>): Check {
  return (value) => {
    if (!isObject(value)) {
      return " is not an object";
    }
    for (const [name, check] of Object.entries(checks)) {
      const oddity = inside(`.${name}`, check(value[name]));
      if (oddity !== undefined) {
        return oddity;
      }
    }
    return undefined;
  };
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) {
      return " is not a list";
    }
    for (const [index, item] of value.entries()) {
      const oddity = inside(`[${index}]`, check(item));
      if (oddity !== undefined) {
        return oddity;
      }
    }
    return undefined;
  };
}

function optional(check: Check): Check {
  return (value) => (value === undefined || value === null ? undefined : check(value));
}

function wholeNumber(largest?: number): Check {
  return (value) => {
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
      return " is not a whole number from 0";
    }
    return largest !== undefined && value > largest ? ` is not a number from 0 to ${largest}` : undefined;
  };
}

function inside(place: string, oddity: string | undefined): string | undefined {
  return oddity === undefined ? undefined : place + oddity;
}

function has(value: unknown, name: string): boolean {
  return isObject(value) && value[name] !== undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
