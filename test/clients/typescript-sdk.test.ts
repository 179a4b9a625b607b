import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { Ajv } from "ajv";
import { type Answer, assertAnswered, type Call, callsAbout } from "./conversation.ts";
import { type Location, type Project, writeProject } from "./project.ts";
import { ReplayHost, temporaryFolder } from "./replay-host.ts";
import { compileStrictly, readDescriptions, readSchema, TOOLS, type ToolName } from "./schemas.ts";

type Connection = { client: Client; transport: StreamableHTTPClientTransport; host: ReplayHost; project: Project };

async function connect(t: TestContext): Promise<Connection> {
  const folder = await temporaryFolder(t);
  const project = await writeProject(folder);
  const host = await ReplayHost.start(t, { roots: [folder], provider: project.provider });
  const transport = new StreamableHTTPClientTransport(host.url, {
    requestInit: { headers: { Authorization: host.authorization } },
  });
  const client = new Client({ name: "test-clients", version: "1.0.0" });
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  t.after(() => client.close());
  // Once it has the catalog, the client checks every answer against the output schemas by itself.
  await client.listTools();
  return { client, transport, host, project };
}

/** Calls a tool, and checks the envelope and the payload without the client's or the gateway's own validator. */
async function call(client: Client, name: ToolName, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: args });
  assert.deepEqual(result.content, []);
  assert.equal(result.isError, false);
  const fits = compileStrictly(readSchema(`${name}.output.json`));
  assert.ok(fits(result.structuredContent), JSON.stringify(fits.errors));
  return result.structuredContent as Record<string, unknown>;
}

async function refusal(pending: Promise<unknown>): Promise<McpError> {
  try {
    await pending;
  } catch (error) {
    assert.ok(error instanceof McpError, String(error));
    return error;
  }
  assert.fail("the call was answered");
}

test("the client initializes and learns who answers", async (t) => {
  const { client, transport } = await connect(t);

  assert.equal(transport.protocolVersion, "2025-11-25");
  assert.equal(client.getServerVersion()?.name, "vscode-mcp-lsp-gateway");
  assert.deepEqual(Object.keys(client.getServerCapabilities() ?? {}), ["tools"]);
  assert.ok(transport.sessionId);
  assert.deepEqual(await client.ping(), {});
});

test("the catalog holds exactly the seven tools, with the schemas of the files inlined", async (t) => {
  const { client } = await connect(t);
  const { tools, nextCursor } = await client.listTools();

  assert.equal(nextCursor, undefined);
  assert.deepEqual(
    tools.map((tool) => tool.name),
    [...TOOLS],
  );
  for (const tool of tools) {
    assert.equal(tool.description, readDescriptions()[tool.name]);
    assert.equal(tool.annotations?.readOnlyHint, true);
    const { $schema: _input, ...input } = readSchema(`${tool.name}.json`);
    const { $schema: _output, ...output } = readSchema(`${tool.name}.output.json`);
    assert.deepEqual(tool.inputSchema, input);
    assert.deepEqual(tool.outputSchema, output);
  }
});

test("a validator that knows no dialect but draft-07 takes every schema of the catalog", async (t) => {
  const { client } = await connect(t);

  for (const tool of (await client.listTools()).tools) {
    new Ajv({ strict: true }).compile(tool.inputSchema);
    new Ajv({ strict: true }).compile(tool.outputSchema ?? false);
  }
});

test("all seven tools are answered, every page of them, and a bad position is refused", async (t) => {
  const { client, project } = await connect(t);
  const answers: Answer[] = [];
  for (const call of callsAbout(project)) answers.push(await allPages(client, call));

  assertAnswered(answers, project);
});

async function allPages(client: Client, [tool, arguments_]: Call): Promise<Answer> {
  const payloads: Record<string, unknown>[] = [];
  try {
    for (let cursor: unknown = null; cursor !== undefined; ) {
      const page = await call(client, tool, cursor === null ? arguments_ : { ...arguments_, cursor });
      payloads.push(page);
      cursor = page["nextCursor"] ?? undefined;
    }
  } catch (error) {
    assert.ok(error instanceof McpError, String(error));
    return { error };
  }
  return { payloads };
}

test("a definition is answered, and what lies outside the roots is counted and not shown", async (t) => {
  const { client, project } = await connect(t);

  assert.deepEqual(await call(client, "vscode.lsp.definition", project.place), {
    locations: [project.definition],
    summary: "Found 1 definition; 1 outside the allowed roots was left out.",
  });
});

test("references are paged to the end, in order and without duplicates", async (t) => {
  const { client, project } = await connect(t);
  const items: Location[] = [];
  const sizes: number[] = [];
  let cursor: unknown = null;
  do {
    const page = await call(client, "vscode.lsp.references", { ...project.place, pageSize: 100, cursor });
    items.push(...(page["items"] as Location[]));
    sizes.push((page["items"] as Location[]).length);
    cursor = page["nextCursor"];
  } while (cursor !== null);

  assert.deepEqual(sizes, [100, 100, 42]);
  assert.deepEqual(items, project.references);
});

test("includeDeclaration adds the place of the declaration at its place in the order", async (t) => {
  const { client, project } = await connect(t);
  const page = await call(client, "vscode.lsp.references", {
    ...project.place,
    includeDeclaration: true,
    pageSize: 1_000,
  });

  assert.equal((page["items"] as Location[]).length, 200);
  const rest = await call(client, "vscode.lsp.references", {
    ...project.place,
    includeDeclaration: true,
    cursor: page["nextCursor"],
  });
  const [round, square] = [project.references.slice(0, 121), project.references.slice(121)];
  assert.deepEqual(
    [...(page["items"] as Location[]), ...(rest["items"] as Location[])],
    [...round, project.definition, ...square],
  );
});

test("an error tells the model in one sentence what to do, with the code in brackets", async (t) => {
  const { client, project, host } = await connect(t);
  const first = await call(client, "vscode.lsp.references", { ...project.place, pageSize: 10 });
  await host.change({ bump: "text" });
  const next = { ...project.place, pageSize: 10, cursor: first["nextCursor"] };
  const error = await refusal(client.callTool({ name: "vscode.lsp.references", arguments: next }));

  assert.equal(error.code, -32602);
  assert.equal(
    error.message,
    "MCP error -32602: The workspace changed since this cursor was made; call again with cursor null. [MCP_LSP_GATEWAY/CURSOR_STALE]",
  );
  assert.deepEqual(error.data, {
    code: "MCP_LSP_GATEWAY/CURSOR_STALE",
    message: "The workspace changed since this cursor was made; call again with cursor null.",
    details: { changed: ["text"] },
  });
});

test("a file outside the roots is denied without a word on whether it exists", async (t) => {
  const { client, project, host } = await connect(t);
  const ask = (uri: string) =>
    refusal(client.callTool({ name: "vscode.lsp.definition", arguments: { ...project.place, uri } }));
  const there = await ask("file:///etc/hostname");
  const notThere = await ask("file:///etc/no-such-file");

  assert.deepEqual(there.data, notThere.data);
  assert.equal(there.message, notThere.message);
  assert.equal((there.data as { code: string }).code, "MCP_LSP_GATEWAY/WORKSPACE_DENIED");
  assert.ok(!there.message.includes("/etc"));
  assert.ok(!there.message.includes(host.token));
});

test("nothing found is an answer of every tool, and a file that nobody reported on is not taken for a clean one", async (t) => {
  const { client, project, host } = await connect(t);
  const { uri } = project.place;
  const nothing = {
    definition: [],
    references: [],
    hover: [],
    documentSymbols: [],
    workspaceSymbols: [],
    diagnostics: [[uri, []]],
  };
  await host.change({ provider: nothing });
  for (const [name, arguments_] of callsAbout(project).slice(0, TOOLS.length)) {
    const payload = await call(client, name, arguments_);
    const { locations, items, contents, symbols, diagnostics } = payload;
    assert.deepEqual(locations ?? items ?? contents ?? symbols ?? diagnostics, [], name);
  }

  await host.change({ provider: { ...nothing, diagnostics: [] } });
  const error = await refusal(client.callTool({ name: "vscode.lsp.diagnostics.document", arguments: { uri } }));
  assert.deepEqual((error.data as { details: object }).details, { reason: "not_analysed" });
});

test("a position past the end is refused with the size of what is there", async (t) => {
  const { client, project } = await connect(t);
  const at = (line: number, character: number) =>
    refusal(
      client.callTool({
        name: "vscode.lsp.definition",
        arguments: { uri: project.place.uri, position: { line, character } },
      }),
    );

  // The import, 120 uses, and the empty line after the last newline.
  assert.deepEqual(((await at(500, 0)).data as { details: object }).details, { lineCount: 122 });
  assert.deepEqual(((await at(1, 15)).data as { details: object }).details, { lineLength: 14 });
});

test("a question that nothing in the editor answers is an error, not an empty answer", async (t) => {
  const { client, project, host } = await connect(t);
  await host.change({ provider: {} });

  for (const [name, arguments_] of callsAbout(project).slice(0, TOOLS.length)) {
    const error = await refusal(client.callTool({ name, arguments: arguments_ }));
    assert.equal(error.code, -32603, name);
    assert.equal((error.data as { code: string }).code, "MCP_LSP_GATEWAY/PROVIDER_UNAVAILABLE", name);
  }
});

test("a session that the client ends is gone", async (t) => {
  const { transport, host } = await connect(t);
  const session = transport.sessionId ?? "";
  await transport.terminateSession();
  const response = await fetch(host.url, {
    method: "POST",
    headers: {
      Authorization: host.authorization,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Session-Id": session,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });

  assert.equal(response.status, 404);
  assert.equal(transport.sessionId, undefined);
});
