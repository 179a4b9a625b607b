import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { Endpoint } from "../../extension/gateway/lifecycle.ts";
import "./stand-in-vscode.ts";

const { ServerDefinitions } = await import("../../extension/ui/definitions.ts");

let endpoint: Endpoint | undefined;
/** How often the editor was told to ask again. */
let told: number;
let definitions: InstanceType<typeof ServerDefinitions>;

beforeEach(() => {
  endpoint = { url: "http://127.0.0.1:39400/mcp", token: "a" };
  told = 0;
  definitions = new ServerDefinitions({ version: "1.2.3", endpoint: () => endpoint });
  definitions.onDidChangeMcpServerDefinitions(() => {
    told += 1;
  });
  definitions.update();
});

/** What the editor lists, as it is before it starts anything. */
function listed(): unknown[] {
  return definitions
    .provideMcpServerDefinitions()
    .map(({ label, uri, headers, version }) => ({ label, uri: uri.toString(true), headers, version }));
}

test("the editor lists one server, and is told the token only when it starts it", () => {
  assert.deepEqual(listed(), [
    { label: "MCP LSP Gateway", uri: "http://127.0.0.1:39400/mcp", headers: {}, version: "1.2.3+1" },
  ]);
  const [definition] = definitions.provideMcpServerDefinitions();
  const resolved = definitions.resolveMcpServerDefinition(definition ?? assert.fail());
  assert.deepEqual(resolved?.headers, { Authorization: "Bearer a" });
});

test("another port, another token and none at all are announced once each, and nothing else is", () => {
  assert.equal(told, 1);
  definitions.update();
  assert.equal(told, 1);
  endpoint = { url: "http://127.0.0.1:39401/mcp", token: "a" };
  definitions.update();
  assert.equal(told, 2);
  endpoint = { url: "http://127.0.0.1:39401/mcp", token: "b" };
  definitions.update();
  assert.equal(told, 3);
  endpoint = undefined;
  definitions.update();
  assert.equal(told, 4);
  assert.deepEqual(listed(), []);
});

test("a connection that was made with an old token is outdated, and one that was paused is not", () => {
  endpoint = undefined;
  definitions.update();
  endpoint = { url: "http://127.0.0.1:39400/mcp", token: "a" };
  definitions.update();
  assert.deepEqual(
    definitions.provideMcpServerDefinitions().map(({ version }) => version),
    ["1.2.3+1"],
  );
  endpoint = { url: "http://127.0.0.1:39400/mcp", token: "b" };
  definitions.update();
  assert.deepEqual(
    definitions.provideMcpServerDefinitions().map(({ version }) => version),
    ["1.2.3+2"],
  );
});

test("a server that is started with what was known before is started where the gateway is now, or not at all", () => {
  const [definition] = definitions.provideMcpServerDefinitions();
  endpoint = { url: "http://127.0.0.1:39402/mcp", token: "b" };
  const resolved = definitions.resolveMcpServerDefinition(definition ?? assert.fail());
  assert.deepEqual(
    [resolved?.uri.toString(true), resolved?.headers],
    ["http://127.0.0.1:39402/mcp", { Authorization: "Bearer b" }],
  );
  endpoint = undefined;
  assert.equal(definitions.resolveMcpServerDefinition(definition ?? assert.fail()), undefined);
});
