import assert from "node:assert/strict";
import { test } from "node:test";
import { clientConfiguration, clients } from "../../extension/ui/clients.ts";

const ENDPOINT = { url: "http://127.0.0.1:39407/mcp", token: "abcdefghijklmnopqrstuvwxyz0123456789-_ABCDE" };

const WAYS = clients("vscodium").flatMap((client) =>
  client.ways(ENDPOINT).map((way) => ({ ...way, name: `${client.name}: ${way.label}` })),
);

function textOf(name: string): string {
  return WAYS.find((way) => way.name === name)?.text ?? assert.fail(name);
}

test("a text holds the token once if it says so, and otherwise not in any form; no link does", () => {
  const { token } = ENDPOINT;
  for (const { name, text, token: where } of WAYS) {
    assert.equal(text.split(token).length - 1, where === "inside" ? 1 : 0, name);
    const link = /^\w+:\S+\?/.test(text);
    if (link) {
      assert.notEqual(where, "inside", name);
      const base64 = /config=([^&]*)/.exec(text)?.[1] ?? "";
      const readable = decodeURIComponent(text) + Buffer.from(decodeURIComponent(base64), "base64").toString();
      assert.ok(readable.includes(ENDPOINT.url), name);
      assert.ok(!readable.includes(token), name);
    }
  }
  assert.equal(WAYS.filter(({ text }) => /^\w+:\S+\?/.test(text)).length, 2);
});

test("each client has a way, the labels of one client differ, and each text but a link's names the endpoint as it is", () => {
  assert.deepEqual(
    clients("vscode").map(({ id }) => id),
    ["claude-code", "codex", "vscode", "cursor", "opencode", "gemini", "generic"],
  );
  assert.equal(new Set(WAYS.map(({ name }) => name)).size, WAYS.length);
  for (const { name, text, next } of WAYS) {
    assert.ok(/^\w+:\S+\?/.test(text) || text.includes(ENDPOINT.url), name);
    assert.match(next, /^[A-Z].*\.$/, name);
  }
});

test("what is copied for other clients is what most of them read", () => {
  assert.deepEqual(JSON.parse(clientConfiguration(ENDPOINT)), {
    mcpServers: {
      "vscode-lsp": {
        type: "http",
        url: "http://127.0.0.1:39407/mcp",
        headers: { Authorization: "Bearer abcdefghijklmnopqrstuvwxyz0123456789-_ABCDE" },
      },
    },
  });
});

test("the links of VS Code and Cursor decode to the server that is to be installed", () => {
  const link = new URL(textOf("VS Code (this window): Link that installs it, token asked for"));
  assert.equal(link.protocol, "vscodium:");
  assert.equal(link.pathname, "mcp/install");
  assert.deepEqual(JSON.parse(decodeURIComponent(link.search.slice(1))), {
    name: "vscode-lsp",
    inputs: [{ id: "vscode-lsp-token", type: "promptString", description: "Token of MCP LSP Gateway", password: true }],
    type: "http",
    url: "http://127.0.0.1:39407/mcp",
    headers: { Authorization: `Bearer ${"$"}{input:vscode-lsp-token}` },
  });

  const cursor = new URL(textOf("Cursor: Link that installs it, token from the environment"));
  assert.equal(cursor.host + cursor.pathname, "anysphere.cursor-deeplink/mcp/install");
  assert.equal(cursor.searchParams.get("name"), "vscode-lsp");
  const config = Buffer.from(cursor.searchParams.get("config") ?? "", "base64").toString();
  assert.deepEqual(JSON.parse(config), {
    url: "http://127.0.0.1:39407/mcp",
    headers: { Authorization: `Bearer ${"$"}{env:VSCODE_LSP_TOKEN}` },
  });
});

test("the pieces for VS Code and Cursor hold the server under the keys that those editors read", () => {
  assert.deepEqual(
    Object.keys(JSON.parse(textOf("VS Code (this window): Piece of .vscode/mcp.json, token asked for"))),
    ["inputs", "servers"],
  );
  const { mcpServers } = JSON.parse(textOf("Cursor: Piece of mcp.json"));
  assert.equal(mcpServers["vscode-lsp"].headers.Authorization, `Bearer ${ENDPOINT.token}`);
});
