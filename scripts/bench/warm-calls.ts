// Calls of the tools in few tokens to a program that is ready, beside what its language server takes for the same questions.

import type { Position } from "../../harness/clients/gateway-client.ts";
import type { LanguageServer } from "../../harness/languages/language-server.ts";

/** What is asked about. */
export interface Named {
  readonly uri: string;
  readonly position: Position;
  readonly word: string;
}

/** A call, and the same asked of the server itself. */
export interface WarmCall {
  readonly name: string;
  readonly tool: string;
  readonly input: (about: Named) => object;
  /** What the server has to offer. */
  readonly question?: string;
  readonly alone: (server: LanguageServer, about: Named) => Promise<unknown>;
}

/** A call may take this many times as long as the server, and this many milliseconds more. */
const MAX_TIMES = 1.15;
const MAX_MORE_MS = 1;

const at = ({ uri, position: { line, character } }: Named) => ({ file: uri, at: `${line}:${character}` });

function lead(question: string): WarmCall {
  return {
    ...{ name: question, tool: question, input: at, question },
    alone: (server, { uri, position }) => server.places(question, uri, position),
  };
}

/** Pages are as large as they can be, so that an answer is one call. */
export const WARM_CALLS: readonly WarmCall[] = [
  {
    ...{ name: "usages", tool: "usages" },
    input: (about) => ({ ...at(about), declarations: true, maxTokens: 20_000 }),
    alone: (server, { uri, position }) => server.references(uri, position),
  },
  {
    ...{ name: "outline", tool: "outline" },
    input: ({ uri }) => ({ file: uri, maxTokens: 20_000 }),
    alone: (server, { uri }) => server.outline(uri),
  },
  {
    ...{ name: "symbol.source", tool: "symbol.source" },
    input: (about) => ({ ...at(about), maxTokens: 20_000 }),
    alone: (server, { uri }) => server.outline(uri),
  },
  {
    ...{ name: "symbol.find in a file", tool: "symbol.find" },
    input: ({ uri, word }) => ({ file: uri, symbol: word, maxTokens: 20_000 }),
    alone: (server, { uri }) => server.outline(uri),
  },
  {
    ...{ name: "symbol.find", tool: "symbol.find", question: "workspaceSymbol" },
    input: ({ word }) => ({ symbol: word, maxTokens: 20_000 }),
    alone: async (server, { word }) => Promise.all((await server.filesWith(word)).map((uri) => server.outline(uri))),
  },
  ...["implementation", "typeDefinition", "declaration"].map(lead),
];

/** A row of the table: a call, and the medians in milliseconds of the server alone and of the program. */
export function warmRow(project: string, call: string, alone: number, byProgram: number): string {
  const within = byProgram <= alone * MAX_TIMES + MAX_MORE_MS ? "yes" : "no";
  return `| ${[project, call, alone.toFixed(2), byProgram.toFixed(2), within].join(" | ")} |`;
}

export const WARM_HEAD = `| project | call | alone, ms | by the program, ms | at most ${MAX_TIMES} times and ${MAX_MORE_MS} ms |
| --- | --- | --- | --- | --- |`;
