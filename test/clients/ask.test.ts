// A question to each client that is connected by the copied text: it finds our tool, calls it through the gateway, and its
// model is given what the tool answered. The model is a stand-in; everything else is real.

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { ASKING, type Asking, answerIn, WayOut } from "../../harness/clients/asking.ts";
import { install } from "../../harness/clients/real-clients.ts";
import { ScriptedModel } from "../../harness/clients/scripted-model.ts";
import { clientNamed, type Place, type Setup, settle } from "./place.ts";
import { writeProject } from "./project.ts";
import { ReplayHost, temporaryFolder } from "./replay-host.ts";

interface Connection {
  readonly follow: (place: Place, text: string) => Promise<unknown>;
  readonly setup?: Pick<Setup, "settings" | "files">;
}

const CONNECTIONS: Readonly<Record<keyof typeof ASKING, Connection>> = {
  "claude-code": { follow: (place, text) => place.shell(text) },
  codex: { follow: (place, text) => place.write("~/.codex/config.toml", text) },
  opencode: { follow: (place, text) => place.write("opencode.json", text) },
  gemini: {
    follow: (place, text) => place.shell(text),
    setup: {
      settings: { protocolFallback: "true" },
      files: {
        "~/.gemini/settings.json": JSON.stringify({
          privacy: { usageStatisticsEnabled: false },
          security: { auth: { selectedType: "gemini-api-key" } },
        }),
      },
    },
  },
};

for (const id of Object.keys(ASKING) as (keyof typeof ASKING)[]) {
  const { client, variables, command, wants = [] }: Asking = ASKING[id];
  test(`${clientNamed(id).name} ${client.version} asks through the gateway, and its model gets the answer`, async (t) => {
    const folder = await temporaryFolder(t);
    const { place: shape, references, provider } = await writeProject(folder);
    const wayOut = await WayOut.closed();
    t.after(() => wayOut.close());
    const model = await ScriptedModel.start([{ tool: "vscode.lsp.references", input: { ...shape, pageSize: 2 } }]);
    t.after(() => model.close());
    const place = await settle(t, "inside", {
      binaries: [path.dirname(await install(client))],
      variables: { ...wayOut.variables, ...variables(model.url) },
      ...CONNECTIONS[id].setup,
      project: folder,
      provider,
    });
    const [copied] = clientNamed(id).ways({ url: place.proxy.url, token: place.token });
    await CONNECTIONS[id].follow(place, copied?.text ?? assert.fail());

    const output = await place.shell(command("Who uses shape?", model.url));

    const { items, nextCursor, summary } = answerIn(output);
    assert.deepEqual(items, references.slice(0, 2), output);
    assert.equal(typeof nextCursor, "string");
    assert.equal(summary, "Returned 2 references (next page available).");
    const calls = place.proxy.heard.filter(({ method }) => method === "tools/call");
    assert.equal(calls.length, 1);
    assert.deepEqual(
      wayOut.refused.filter((host) => !wants.includes(host)),
      [],
    );
    assert.deepEqual(model.refused, []);
  });
}

for (const id of ["claude-code", "codex", "opencode"] as const) {
  const { client, variables, command }: Asking = ASKING[id];
  test(`${clientNamed(id).name} finds a symbol by name, then its uses, then a source`, async (t) => {
    const folder = await temporaryFolder(t);
    const { provider } = await writeProject(folder);
    const wayOut = await WayOut.closed();
    t.after(() => wayOut.close());
    const file = "src/round.ts";
    const model = await ScriptedModel.start([
      { tool: "vscode.lsp.symbol.find", input: { symbol: "shape" }, words: "find symbol" },
      { tool: "vscode.lsp.usages", input: { symbol: "shape", file, maxTokens: 60 }, words: "usages" },
      { tool: "vscode.lsp.symbol.source", input: { symbol: "Ring.area", file }, words: "symbol source" },
    ]);
    t.after(() => model.close());
    const { settings, files } = CONNECTIONS[id].setup ?? {};
    const place = await settle(t, "inside", {
      binaries: [path.dirname(await install(client))],
      variables: { ...wayOut.variables, ...variables(model.url) },
      ...(files === undefined ? {} : { files }),
      settings: { ...settings, catalog: "core" },
      project: folder,
      provider,
    });
    const [copied] = clientNamed(id).ways({ url: place.proxy.url, token: place.token });
    await CONNECTIONS[id].follow(place, copied?.text ?? assert.fail());

    const output = await place.shell(command("What is area?", model.url));

    const { target, path: found, source } = answerIn(output);
    assert.deepEqual([found, source], [file, ["use(shape, 2);"]], output);
    assert.deepEqual(target, {
      name: "area",
      in: "Ring",
      kind: "method",
      path: file,
      at: "3:2-6",
      head: "use(shape, 2);",
    });
    const calls = place.proxy.heard.filter(({ method }) => method === "tools/call");
    assert.equal(calls.length, 3);
    assert.deepEqual(model.refused, []);
  });
}

test("with the fallback, each page is a text as well, since Gemini CLI shows its model nothing else", async (t) => {
  const folder = await temporaryFolder(t);
  const project = await writeProject(folder);
  const { url, authorization } = await ReplayHost.start(t, {
    roots: [folder],
    provider: project.provider,
    settings: { protocolFallback: "true" },
  });
  const post = async (session: string | null, message: object): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: {
        Authorization: authorization,
        Accept: "application/json, text/event-stream",
        "Content-Type": "application/json",
        ...(session === null ? {} : { "MCP-Session-Id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const session = (await post(null, { id: 1, method: "initialize", params })).headers.get("MCP-Session-Id");
  await post(session, { method: "notifications/initialized" });
  const page = async (cursor: string | null) => {
    const call = { name: "vscode.lsp.references", arguments: { ...project.place, pageSize: 200, cursor } };
    const response = await post(session, { id: 2, method: "tools/call", params: call });
    const { result } = JSON.parse(await response.text());
    assert.equal(result.content.length, 1);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    return result.structuredContent;
  };
  const first = await page(null);
  // Pages that are held already go another way through the server than the first.
  const last = await page(first.nextCursor);
  assert.deepEqual([...first.items, ...last.items], project.references);
});
