// Each text that the command "Connect a Client…" copies, given to the client that it is for.

import assert from "node:assert/strict";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { type Client, SERVER } from "../../extension/ui/clients.ts";
import { LoopbackServer } from "../../harness/clients/loopback-server.ts";
import {
  CLAUDE_CODE,
  CODEX,
  codexTools,
  GEMINI,
  INSPECTOR,
  install,
  MCPORTER,
  OPENCODE,
} from "../../harness/clients/real-clients.ts";
import { clientNamed, type Place, type Setup, settle } from "./place.ts";
import { TOOLS } from "./schemas.ts";

/** Where a client believes its model to be: it hears what the client would tell the model, and refuses to answer. */
async function silentModel(t: TestContext): Promise<{ url: string; heard: string[] }> {
  const heard: string[] = [];
  const server = await LoopbackServer.start(async (incoming, outgoing) => {
    heard.push(await text(incoming));
    outgoing.writeHead(400, { "Content-Type": "application/json" });
    outgoing.end(JSON.stringify({ error: { code: 400, message: "No model is here.", status: "INVALID_ARGUMENT" } }));
  });
  t.after(() => server.close());
  return { url: server.origin, heard };
}

/** A text as it was copied when another token was in force. */
const OLD_TOKEN = "A".repeat(43);

/** What to do with each text of a client, by its label. A text that nothing is said about fails the test. */
type Follow = Readonly<Record<string, (place: Place, text: string) => Promise<unknown>>>;

/** One test for each text of the client: it is followed, and then `look` sees what the client has. */
function testEachWay(
  id: Client["id"],
  title: string,
  follow: Follow,
  setup: () => Promise<Setup>,
  look: (place: Place, t: TestContext) => Promise<void>,
): void {
  for (const [index, { label, token }] of clientNamed(id).ways({ url: "", token: "" }).entries()) {
    test(`${title} connects and lists seven tools: ${label}`, async (t) => {
      const place = await settle(t, token, await setup());
      const way = clientNamed(id).ways({ url: place.proxy.url, token: place.token })[index];
      assert.ok(way !== undefined);
      const step = follow[label] ?? assert.fail(`Nothing is known about ${label}.`);
      await step(place, way.text);
      await look(place, t);
      const heard = place.proxy.heard.map(({ method }) => method);
      assert.ok(heard.includes("tools/list"), heard.join());
    });
  }
}

const runs = (place: Place, text: string): Promise<unknown> => place.shell(text);
const writes =
  (file: string) =>
  (place: Place, text: string): Promise<unknown> =>
    place.write(file, text);

/** What the client called itself when it began its last session, and the revision that it asked for. */
function introduction({ proxy }: Place): [string | undefined, string | undefined] {
  const greeting = proxy.heard.findLast(({ method }) => method === "initialize");
  return [greeting?.client, greeting?.revision];
}

testEachWay(
  "claude-code",
  `Claude Code ${CLAUDE_CODE.version}`,
  {
    Command: async (place, text) => {
      const [earlier] = clientNamed("claude-code").ways({ url: place.proxy.url, token: OLD_TOKEN });
      await place.shell(earlier?.text ?? assert.fail());
      assert.doesNotMatch(await place.shell("claude mcp list"), /Connected/);
      await place.shell(text);
    },
    "Command, token from the environment": runs,
    "Piece of .mcp.json, token from the environment": async (place, text) => {
      await place.write(".mcp.json", text);
      // What a person answers when Claude Code asks about a file of the project.
      await place.write("~/.claude/settings.json", JSON.stringify({ enableAllProjectMcpServers: true }));
    },
  },
  async () => ({
    binaries: [path.dirname(await install(CLAUDE_CODE))],
    // A key that opens nothing, and nobody there to ask: what it can call is told before the model is asked anything.
    variables: { ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: "http://127.0.0.1:9", CLAUDE_CODE_MAX_RETRIES: "0" },
  }),
  async (place) => {
    assert.match(await place.shell("claude mcp list"), /vscode-lsp: http:\S+ \(HTTP\) - ✔ Connected/);
    const [first] = (
      await place.shell("claude -p hello --output-format stream-json --verbose < /dev/null || true")
    ).split("\n");
    const { type, subtype, tools } = JSON.parse(first ?? "");
    assert.deepEqual([type, subtype], ["system", "init"]);
    // It takes no dots in names.
    assert.deepEqual(
      tools.filter((name: string) => name.startsWith("mcp__")).sort(),
      TOOLS.map((name) => `mcp__vscode-lsp__${name.replaceAll(".", "_")}`).sort(),
    );
    assert.deepEqual(introduction(place), ["claude-code", "2025-11-25"]);
  },
);

testEachWay(
  "codex",
  `Codex ${CODEX.version}`,
  {
    "Piece of config.toml": writes("~/.codex/config.toml"),
    "Command, token from the environment": runs,
    "Piece of config.toml, token from the environment": writes("~/.codex/config.toml"),
  },
  async () => ({ binaries: [path.dirname(await install(CODEX))] }),
  async (place) => {
    assert.deepEqual((await codexTools(place.env, SERVER)).sort(), [...TOOLS].sort());
    assert.deepEqual(introduction(place), ["codex-mcp-client", "2025-06-18"]);
  },
);

testEachWay(
  "opencode",
  `opencode ${OPENCODE.version}`,
  {
    "Piece of opencode.json": writes("opencode.json"),
    "Piece of opencode.json, token from the environment": writes("~/.config/opencode/opencode.json"),
  },
  async () => ({ binaries: [path.dirname(await install(OPENCODE))] }),
  async (place) => {
    // It shows that a server is connected, which it is once it has listed its tools, and not which tools there are.
    assert.match(await place.shell("opencode mcp list"), /✓ vscode-lsp\b.*connected/);
    assert.deepEqual(introduction(place), ["opencode", "2025-11-25"]);
  },
);

testEachWay(
  "gemini",
  `Gemini CLI ${GEMINI.version}, with the fallback,`,
  {
    Command: runs,
    "Piece of settings.json, token from the environment": writes(".gemini/settings.json"),
  },
  async () => ({
    binaries: [path.dirname(await install(GEMINI))],
    variables: { GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_API_KEY: "none" },
    settings: { protocolFallback: "true" },
    files: { "~/.gemini/settings.json": JSON.stringify({ security: { auth: { selectedType: "gemini-api-key" } } }) },
  }),
  async (place, t) => {
    assert.match(await place.shell("gemini mcp list"), /✓ vscode-lsp: .*- Connected/);
    // What it can call it tells nobody but its model, whose place is taken here. Without --yolo it would leave out what
    // it cannot ask a person about.
    const model = await silentModel(t);
    await place.shell(`GOOGLE_GEMINI_BASE_URL=${model.url} gemini --yolo --prompt hello < /dev/null || true`);
    const offered = new Set(
      model.heard.flatMap((body) => [...body.matchAll(/"mcp_vscode-lsp_([\w.]+)"/g)].map(([, name]) => name)),
    );
    assert.deepEqual([...offered].sort(), [...TOOLS].sort());
    assert.equal(introduction(place)[1], "2025-06-18");
  },
);

testEachWay(
  "generic",
  `mcporter ${MCPORTER.version}`,
  {
    "Piece of JSON": writes("servers.json"),
    "Piece of JSON, token from the environment": writes("servers.json"),
  },
  async () => ({ binaries: [path.dirname(await install(MCPORTER))] }),
  async (place) => {
    const listed = await place.shell("mcporter --config servers.json list --json 2> /dev/null");
    const [server] = JSON.parse(listed).servers;
    assert.deepEqual([server.name, server.status], [SERVER, "ok"]);
    assert.deepEqual(
      server.tools.map(({ name }: { name: string }) => name),
      [...TOOLS],
    );
    assert.equal(introduction(place)[1], "2025-11-25");
  },
);

test("the command line of the inspector reads the piece of JSON for other clients, and lists seven tools", async (t) => {
  const launcher = await install(INSPECTOR);
  const place = await settle(t, "inside", { binaries: [] });
  const [way] = clientNamed("generic").ways({ url: place.proxy.url, token: place.token });
  await place.write("servers.json", way?.text ?? assert.fail());
  const listed = await place.shell(
    `node ${launcher} --cli --config servers.json --server ${SERVER} --method tools/list --format json --quiet`,
  );
  const { result } = JSON.parse(listed);
  assert.deepEqual(
    result.tools.map(({ name }: { name: string }) => name),
    [...TOOLS],
  );
});

test("without the fallback, Gemini CLI does not connect", async (t) => {
  const binaries = [path.dirname(await install(GEMINI))];
  const place = await settle(t, "inside", { binaries, variables: { GEMINI_CLI_TRUST_WORKSPACE: "true" } });
  const [way] = clientNamed("gemini").ways({ url: place.proxy.url, token: place.token });
  await place.shell(way?.text ?? assert.fail());
  assert.match(await place.shell("gemini mcp list"), /✗ vscode-lsp: .*- Disconnected/);
  assert.equal(introduction(place)[1], "2025-06-18");
});
