import assert from "node:assert/strict";
import { test } from "node:test";
import { INSPECTOR, install } from "../../harness/clients/real-clients.ts";
import { run } from "../../harness/machine/processes.mjs";
import { type Answer, assertAnswered, type Call, callsAbout } from "./conversation.ts";
import { writeProject } from "./project.ts";
import { ReplayHost, temporaryFolder } from "./replay-host.ts";
import { TOOLS } from "./schemas.ts";

/** Runs the inspector's command line once, which is a session of its own, and resolves to what it printed as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each method has a result of its own.
type Inspector = (...args: string[]) => Promise<{ result?: any; error?: { message: string } }>;

test("the command line of the inspector gets through: all seven tools, every page and an error", async (t) => {
  const folder = await temporaryFolder(t);
  const project = await writeProject(folder);
  const host = await ReplayHost.start(t, { roots: [folder], provider: project.provider });
  const inspector = await inspectorOf(host, await temporaryFolder(t));

  const { result: greeting } = await inspector("--method", "initialize");
  assert.equal(greeting.protocolVersion, "2025-11-25");
  assert.equal(greeting.serverInfo.name, "vscode-mcp-lsp-gateway");
  // With `--strict` a schema that some model's provider cannot read fails the run.
  const { result: catalog } = await inspector("--method", "tools/list", "--strict");
  assert.deepEqual(
    catalog.tools.map(({ name }: { name: string }) => name),
    [...TOOLS],
  );
  const answers: Answer[] = [];
  for (const call of callsAbout(project)) answers.push(await allPages(inspector, call));
  assertAnswered(answers, project);
});

async function inspectorOf(host: ReplayHost, home: string): Promise<Inspector> {
  const first = [await install(INSPECTOR), "--cli", host.url.href, "--transport", "http"];
  const options = ["--header", `Authorization: ${host.authorization}`, "--format", "json", "--quiet"];
  // It keeps a catalog of servers in the home folder.
  const env = { ...process.env, HOME: home, USERPROFILE: home };
  return async (...args) => {
    const { code, stdout, output } = await run(process.execPath, [...first, ...options, ...args], { env });
    // An error is told on stderr; so is advice on an answer, which is not looked at here.
    return JSON.parse(code === 0 ? stdout : output);
  };
}

async function allPages(inspector: Inspector, [tool, arguments_]: Call): Promise<Answer> {
  const payloads: Record<string, unknown>[] = [];
  let cursor: unknown = null;
  do {
    const given = Object.entries(cursor === null ? arguments_ : { ...arguments_, cursor });
    const pairs = given.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
    const { result, error } = await inspector("--method", "tools/call", "--tool-name", tool, "--tool-arg", ...pairs);
    if (error !== undefined) return { error: { message: error.message } };
    assert.deepEqual(result.content, []);
    payloads.push(result.structuredContent);
    cursor = result.structuredContent.nextCursor ?? null;
  } while (cursor !== null);
  return { payloads };
}
