import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type GatewayClient, type Location, type Position, ToolFailure } from "../../harness/clients/gateway-client.ts";
import { type GatewayWindow, openGateway, startEditor } from "../../harness/editor/gateway-window.ts";
import type { EditorWindow, RealVsCode } from "../../harness/editor/real-vscode.ts";
import { LanguageServer } from "../../harness/languages/language-server.ts";
import { type HoverPayload, normalisedHover, normalisedWorkspaceSymbols } from "../../harness/languages/normalised.ts";
import { RxjsWorkspace } from "../../harness/languages/rxjs-workspace.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";
import { LargeWorkspace } from "./large-workspace.ts";
import { hoversInside, workspaceSymbolsInside } from "./own-commands.ts";

const WINDOWS = unlessLonger(1, 5);
const MAX_RETRIES = 60;

/** One question, and its complete answer. */
interface Question {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  /** What of the payload is compared; all items of a paged one are in `items`. */
  readonly answer: (payload: Payload) => unknown;
  /** The complete answer, asked for when the editor knows the project. */
  readonly expected: (window: EditorWindow) => unknown;
}

interface Place {
  readonly uri: string;
  readonly position: Position;
}

interface Payload extends HoverPayload {
  readonly items: readonly unknown[];
  readonly nextCursor?: string | null;
  readonly locations: readonly Location[];
}

describe("scenario 1: the first calls in a new window", () => {
  let editor: RealVsCode;

  before(async () => {
    editor = await startEditor();
  });

  after(() => editor?.stop());

  test(`on rxjs, in ${WINDOWS} new window(s)`, async (context) => {
    const rxjs = await RxjsWorkspace.create();
    const server = await LanguageServer.start(rxjs.folder);
    try {
      const observable = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
      const all = await server.references(observable.uri, observable.position);
      const call = rxjs.find("src/internal/observable/of.ts", "from(", "export function of<T>(...args");
      const definitions = await server.definition(call.uri, call.position);
      assert.ok(all.length > 400 && definitions.length > 0, "The language server knows the project.");
      await inNewWindows(context, rxjs.folder, observable, all.length, [
        references(observable, all),
        definition(call, definitions),
        hover(observable),
        workspaceSymbols(rxjs.folder, "Observable"),
      ]);
    } finally {
      await server.stop();
      rxjs.remove();
    }
  });

  test(`on a project of 3,000 files, in ${WINDOWS} new window(s)`, async (context) => {
    const large = new LargeWorkspace();
    try {
      await inNewWindows(context, large.folder, large.harbour, large.harbours.length, [
        references(large.harbour, large.harbours),
        definition(large.callIn(2_999), [large.declarationOf(2_998)]),
        hover(large.callIn(1_500)),
        workspaceSymbols(large.folder, "berth2999"),
      ]);
    } finally {
      large.remove();
    }
  });

  /** Asks all questions at once as soon as there is a port, each until it has an answer that is not to be asked again. */
  async function inNewWindows(
    context: TestContext,
    folder: string,
    place: Place,
    count: number,
    questions: readonly Question[],
  ): Promise<void> {
    for (let round = 1; round <= WINDOWS; round++) {
      const opened = Date.now();
      const gateway = await openGateway(editor, folder);
      const editorsOwn = untilTheEditorKnows(gateway.window, place, count).then(() => Date.now() - opened);
      const firstCalls = Date.now() - opened;
      const rights = await Promise.all(
        questions.map(async (question) => {
          const { answer, retries } = await untilAnswered(gateway.client, question);
          return { question, answer, retries, ms: Date.now() - opened };
        }),
      );
      const own = await editorsOwn;
      for (const { question, answer } of rights) {
        assert.deepEqual(answer, await question.expected(gateway.window), question.tool);
      }
      const told = rights.map(({ question, retries, ms }) => `${question.tool} ${ms} ms (${retries} retries)`);
      context.diagnostic(
        `window ${round}: asked from ${firstCalls} ms on; right at ${told.join(", ")}; VS Code's own command had all references at ${own} ms`,
      );
      await close(gateway);
    }
  }
});

/** Takes the first answer that is not to be asked again, with all its pages. */
async function untilAnswered(
  client: GatewayClient,
  { tool, input, answer }: Question,
): Promise<{ answer: unknown; retries: number }> {
  for (let retries = 0; ; retries++) {
    try {
      const first = await client.callOnce<Payload>(tool, input);
      const items = [...(first.items ?? [])];
      for (let cursor = first.nextCursor; typeof cursor === "string"; ) {
        const page = await client.call<Payload>(tool, { ...input, cursor });
        items.push(...page.items);
        cursor = page.nextCursor;
      }
      return { answer: answer({ ...first, items }), retries };
    } catch (error) {
      if (!(error instanceof ToolFailure && error.retryable) || retries > MAX_RETRIES) {
        throw error;
      }
    }
  }
}

/** Asks as an extension would that knows nothing of all this, until its answer is complete. */
function untilTheEditorKnows(window: EditorWindow, { uri, position }: Place, count: number): Promise<void> {
  return window.inside(
    async (vscode, { uri, position, count }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      for (const deadline = Date.now() + 120_000; Date.now() < deadline; ) {
        const found = await vscode.commands.executeCommand<unknown[]>(
          "vscode.executeReferenceProvider",
          document.uri,
          new vscode.Position(position.line, position.character),
        );
        if (found.length >= count) {
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      throw new Error("VS Code's own command never had all references");
    },
    { uri, position, count },
  );
}

async function close({ client, window }: GatewayWindow): Promise<void> {
  await client.close();
  await window.close();
}

function references({ uri, position }: Place, expected: readonly Location[]): Question {
  return {
    tool: "vscode.lsp.references",
    input: { uri, position, includeDeclaration: true, pageSize: 200 },
    answer: ({ items }) => items,
    expected: () => expected,
  };
}

function definition({ uri, position }: Place, expected: readonly Location[]): Question {
  return {
    tool: "vscode.lsp.definition",
    input: { uri, position },
    answer: ({ locations }) => locations,
    expected: () => expected,
  };
}

function hover({ uri, position }: Place): Question {
  return {
    tool: "vscode.lsp.hover",
    input: { uri, position },
    answer: ({ contents, range }) => ({ contents, range }),
    expected: async (window) => normalisedHover(await hoversInside(window, uri, position)),
  };
}

function workspaceSymbols(folder: string, query: string): Question {
  return {
    tool: "vscode.lsp.workspaceSymbols",
    input: { query },
    answer: ({ items }) => items,
    expected: async (window) =>
      normalisedWorkspaceSymbols(pathToFileURL(folder).href, await workspaceSymbolsInside(window, query)),
  };
}
