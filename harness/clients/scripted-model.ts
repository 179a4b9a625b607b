// A stand-in for the models of real clients, so that a client can be asked a question without an account and without a
// network. It does what a model does about "who uses this?": it looks for our tool where the client keeps tools back until
// they are asked for, calls it, and then says what came back.

import { text } from "node:stream/consumers";
import { LoopbackServer } from "./loopback-server.ts";

/** What the model asks of one tool. */
export interface Ask {
  /** The tool's own name. Clients change its dots, and put something in front. */
  readonly tool: string;
  readonly input: object;
  /** Words by which a model would look for the tool, where it has to. */
  readonly words?: string;
}

/** What the model is to ask, one after the other. */
export type Script = readonly Ask[];

/** What the model does next. */
export type Turn = { readonly says: string } | Call;

interface Call {
  readonly calls: string;
  readonly input: object;
  readonly id: string;
}

type Json = Readonly<Record<string, unknown>>;

/** An interface by which clients reach their models. */
interface Dialect {
  readonly path: RegExp;
  /** What the model does about a request, by what the client tells it there. */
  turn(body: Json, script: Script): Turn;
  /** The model's turn as a stream of events. */
  events(turn: Turn): readonly Json[];
}

export class ScriptedModel {
  readonly url: string;
  /** What the model did, in this order. */
  readonly turns: readonly Turn[];
  /** Requests that it did not understand, as method and path. */
  readonly refused: readonly string[];
  readonly close: () => Promise<void>;

  private constructor(url: string, turns: readonly Turn[], refused: readonly string[], close: () => Promise<void>) {
    this.url = url;
    this.turns = turns;
    this.refused = refused;
    this.close = close;
  }

  static async start(script: Script): Promise<ScriptedModel> {
    const turns: Turn[] = [];
    const refused: string[] = [];
    const server = await LoopbackServer.start(async (request, response) => {
      const body = await text(request);
      const dialect = DIALECTS.find(({ path }) => path.test(request.url ?? ""));
      if (request.method !== "POST" || dialect === undefined) {
        refused.push(`${request.method} ${request.url}`);
        response.writeHead(404).end();
        return;
      }
      const turn = dialect.turn(JSON.parse(body), script);
      turns.push(turn);
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.end(dialect.events(turn).map(frame).join(""));
    });
    return new ScriptedModel(server.origin, turns, refused, () => server.close());
  }
}

function frame(event: Json): string {
  const { type } = event;
  return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(event)}\n\n`;
}

/** The tool that Claude Code gives its model to find those with that it keeps back, by words such as a model would use. */
const TOOL_SEARCH = "ToolSearch";
const SEARCH_WORDS = "find references";
/** What the ids of the calls of our tool begin with. */
const CALL = "call_of_the_tool";
/** How often the model does what an answer that asks for another try says. */
const TRIES = 20;

/** What the model does after the answers that its calls of our tools got so far. `callOf`: how it calls one of them. */
function nextTurn(
  answers: readonly string[],
  script: Script,
  callOf: (ask: Ask) => Call | Omit<Call, "id"> | undefined,
): Turn {
  const ask = script[answers.filter((answer) => !answer.includes("call again")).length];
  if (ask === undefined || answers.length === TRIES * script.length) {
    return { says: answers.at(-1) ?? "" };
  }
  const call = callOf(ask);
  return call === undefined ? { says: "There is no such tool." } : { id: `${CALL}_${answers.length}`, ...call };
}

function isOurs(id: unknown): boolean {
  return String(id).startsWith(CALL);
}

/** Of Claude Code, and of others that can use Anthropic's models. */
const messages: Dialect = {
  path: /^(\/v1)?\/messages(\?|$)/,
  turn({ tools, messages: said }, script) {
    const offered = listOf(tools).map(({ name }) => String(name));
    const answers = listOf(said)
      .flatMap(({ content }) => listOf(content))
      .filter(({ type, tool_use_id: id }) => type === "tool_result" && isOurs(id))
      .map(({ content }) => textOf(content));
    return nextTurn(answers, script, ({ tool, input, words = SEARCH_WORDS }) => {
      const calls = offered.find((name) => isNamed(name, tool));
      if (calls === undefined && offered.includes(TOOL_SEARCH)) {
        return {
          calls: TOOL_SEARCH,
          input: { query: words, max_results: 5 },
          id: `call_of_the_search_${listOf(said).length}`,
        };
      }
      return calls === undefined ? undefined : { calls, input };
    });
  },
  events(turn) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const [block, delta, reason] =
      "says" in turn
        ? [{ type: "text", text: "" }, { type: "text_delta", text: turn.says }, "end_turn"]
        : [
            { type: "tool_use", id: turn.id, name: turn.calls, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(turn.input) },
            "tool_use",
          ];
    const message = { id: "message", type: "message", role: "assistant", model: "scripted", content: [], usage };
    return [
      { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
  },
};

/** Of Codex, whose models call all tools from JavaScript that they write. */
const responses: Dialect = {
  path: /^\/responses$/,
  turn({ input: said }, script) {
    const answers = listOf(said)
      .filter(({ type, call_id: id }) => type === "custom_tool_call_output" && isOurs(id))
      .map(({ output }) => textOf(output));
    return nextTurn(answers, script, ({ tool, input }) => {
      const found = `ALL_TOOLS.find(({ name }) => name.endsWith(${JSON.stringify(underscored(tool))})).name`;
      return { calls: "exec", input: [`text(await tools[${found}](${JSON.stringify(input)}));`] };
    });
  },
  events(turn) {
    const item =
      "says" in turn
        ? { type: "message", id: "message", role: "assistant", content: [{ type: "output_text", text: turn.says }] }
        : {
            type: "custom_tool_call",
            id: "call",
            call_id: turn.id,
            name: turn.calls,
            input: Object.values(turn.input).join(""),
          };
    const response = { id: "response" };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return [
      { type: "response.created", response },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...response, usage } },
    ];
  },
};

/** Of Gemini CLI. */
const contents: Dialect = {
  path: /^\/v1beta\/models\/[\w.-]+:streamGenerateContent\?/,
  turn({ tools, contents: said }, script) {
    const offered = listOf(tools).flatMap(({ functionDeclarations }) => listOf(functionDeclarations));
    const parts = listOf(said).flatMap((content) => listOf(content["parts"]));
    const answers = parts
      .map(({ functionResponse }) => functionResponse as Json | undefined)
      .filter((part) => part !== undefined)
      .map(({ response }) => textOf((response as Json)["output"] ?? (response as Json)["error"]));
    return nextTurn(answers, script, ({ tool, input }) => {
      const calls = offered.map(({ name }) => String(name)).find((name) => isNamed(name, tool));
      return calls === undefined ? undefined : { calls, input };
    });
  },
  events(turn) {
    const part = "says" in turn ? { text: turn.says } : { functionCall: { name: turn.calls, args: turn.input } };
    return [{ candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }] }];
  },
};

const DIALECTS: readonly Dialect[] = [messages, responses, contents];

function isNamed(offered: string, tool: string): boolean {
  return underscored(offered).endsWith(underscored(tool));
}

function underscored(name: string): string {
  return name.replaceAll(".", "_");
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A tool's result as the client hands it to its model: a text, or pieces of one. */
function textOf(result: unknown): string {
  return typeof result === "string"
    ? result
    : listOf(result)
        .map((piece) => piece["text"] ?? "")
        .join("\n");
}
