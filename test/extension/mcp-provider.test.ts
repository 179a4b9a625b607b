import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Endpoint } from "../../extension/gateway/lifecycle.ts";
import "./stand-in-vscode.ts";

const { McpProvider } = await import("../../extension/ui/mcp-provider.ts");

let endpoint: Endpoint | undefined;
/** How often the editor was told to ask again. */
let told: number;
let provider: InstanceType<typeof McpProvider>;

beforeEach(() => {
  endpoint = { url: "http://127.0.0.1:39400/mcp", token: "a" };
  told = 0;
  provider = new McpProvider({ version: "1.2.3", endpoint: () => endpoint });
  provider.onDidChangeMcpServerDefinitions(() => {
    told += 1;
  });
  provider.update();
});

/** What the editor lists, as it is before it starts anything. */
function listed(): unknown[] {
  return provider
    .provideMcpServerDefinitions()
    .map(({ label, uri, headers, version }) => ({ label, uri: uri.toString(true), headers, version }));
}

test("the editor lists one server, and is told the token only when it starts it", () => {
  assert.deepEqual(listed(), [
    { label: "MCP LSP Gateway", uri: "http://127.0.0.1:39400/mcp", headers: {}, version: "1.2.3+1" },
  ]);
  const [definition] = provider.provideMcpServerDefinitions();
  const resolved = provider.resolveMcpServerDefinition(definition ?? assert.fail());
  assert.deepEqual(resolved?.headers, { Authorization: "Bearer a" });
});

test("another port, another token and none at all are announced once each, and nothing else is", () => {
  assert.equal(told, 1);
  provider.update();
  assert.equal(told, 1);
  endpoint = { url: "http://127.0.0.1:39401/mcp", token: "a" };
  provider.update();
  assert.equal(told, 2);
  endpoint = { url: "http://127.0.0.1:39401/mcp", token: "b" };
  provider.update();
  assert.equal(told, 3);
  endpoint = undefined;
  provider.update();
  assert.equal(told, 4);
  assert.deepEqual(listed(), []);
});

test("a connection that was made with an old token is outdated, and one that was paused is not", () => {
  endpoint = undefined;
  provider.update();
  endpoint = { url: "http://127.0.0.1:39400/mcp", token: "a" };
  provider.update();
  assert.deepEqual(
    provider.provideMcpServerDefinitions().map(({ version }) => version),
    ["1.2.3+1"],
  );
  endpoint = { url: "http://127.0.0.1:39400/mcp", token: "b" };
  provider.update();
  assert.deepEqual(
    provider.provideMcpServerDefinitions().map(({ version }) => version),
    ["1.2.3+2"],
  );
});

test("a server that is started with what was known before is started where the gateway is now, or not at all", () => {
  const [definition] = provider.provideMcpServerDefinitions();
  endpoint = { url: "http://127.0.0.1:39402/mcp", token: "b" };
  const resolved = provider.resolveMcpServerDefinition(definition ?? assert.fail());
  assert.deepEqual(
    [resolved?.uri.toString(true), resolved?.headers],
    ["http://127.0.0.1:39402/mcp", { Authorization: "Bearer b" }],
  );
  endpoint = undefined;
  assert.equal(provider.resolveMcpServerDefinition(definition ?? assert.fail()), undefined);
});
