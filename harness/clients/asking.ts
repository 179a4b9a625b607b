// How a person asks real clients a question on the command line, with a stand-in in the place of the model.

import { SERVER } from "../../extension/ui/clients.ts";
import { LoopbackServer } from "./loopback-server.ts";
import { CLAUDE_CODE, CODEX, CODEX_QUIET, GEMINI, OPENCODE, type Package } from "./real-clients.ts";

export interface Asking {
  readonly client: Package;
  /** What has to be in the environment for the client to take the stand-in for its model, and to ask nobody else. */
  variables(model: string): Readonly<Record<string, string>>;
  /** What the person types. */
  command(question: string, model: string): string;
  /** What it looks for on the network whatever it is told. */
  readonly wants?: readonly string[];
}

export const ASKING = {
  "claude-code": {
    client: CLAUDE_CODE,
    variables: (model) => ({
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    command: (question) => `claude --print "${question}" --allowedTools mcp__${SERVER} < /dev/null`,
  },
  codex: {
    client: CODEX,
    variables: () => ({}),
    command: (question, model) => {
      const settings = [
        "model_provider=stand-in",
        "model_providers.stand-in.name=stand-in",
        `model_providers.stand-in.base_url=${model}`,
        ...CODEX_QUIET,
      ];
      const options = settings.map((setting) => `-c ${setting}`).join(" ");
      return `codex exec --skip-git-repo-check ${options} "${question}" < /dev/null`;
    },
  },
  opencode: {
    client: OPENCODE,
    variables: (model) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: "stand-in/stand-in",
        provider: {
          "stand-in": {
            npm: "@ai-sdk/anthropic",
            options: { baseURL: model, apiKey: "none" },
            models: { "stand-in": {} },
          },
        },
      }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    command: (question) => `opencode run "${question}" < /dev/null`,
    // A package for plugins, into its configuration.
    wants: ["CONNECT registry.npmjs.org:443"],
  },
  gemini: {
    client: GEMINI,
    variables: (model) => ({
      GEMINI_API_KEY: "none",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
      GEMINI_TELEMETRY_ENABLED: "false",
      GOOGLE_GEMINI_BASE_URL: model,
    }),
    // It asks the person about each call, and leaves tools out where there is nobody to ask.
    command: (question) => `gemini --yolo --model gemini-2.5-flash --prompt "${question}" < /dev/null`,
  },
} satisfies Record<string, Asking>;

/** The last line of what a client has printed that is JSON, which is what the model was given for its call. */
export function answerIn(output: string): Record<string, unknown> {
  const line = output.split("\n").findLast((line) => line.startsWith("{"));
  if (line === undefined) throw new Error(`No answer is in this:\n${output}`);
  const given = JSON.parse(line);
  // Codex hands on the whole result, the others what is in it.
  return given.structuredContent ?? given;
}

/** A proxy that lets nothing out of the machine, and tells what wanted to get there. */
export class WayOut {
  readonly variables: Readonly<Record<string, string>>;
  readonly refused: readonly string[];
  readonly close: () => void;

  private constructor(url: string, refused: readonly string[], close: () => void) {
    const names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
    this.variables = { ...Object.fromEntries(names.map((name) => [name, url])), NO_PROXY: "127.0.0.1" };
    this.refused = refused;
    this.close = close;
  }

  static async closed(): Promise<WayOut> {
    const refused: string[] = [];
    const listening = await LoopbackServer.start((request, response) => {
      refused.push(`${request.method} ${request.url}`);
      response.writeHead(403).end();
    });
    listening.server.on("connect", (request, socket) => {
      refused.push(`${request.method} ${request.url}`);
      // The client may be gone before it has heard the answer.
      socket.on("error", () => {});
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    return new WayOut(listening.origin, refused, () => void listening.close());
  }
}
