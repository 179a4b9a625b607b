import assert from "node:assert/strict";
import { test } from "node:test";
import { Tokens, workspaceIdentity } from "../../extension/gateway/tokens.ts";

class Store {
  readonly values = new Map<string, string>();
  async get(key: string): Promise<string | undefined> {
    return this.values.get(key);
  }
  async store(key: string, value: string): Promise<void> {
    this.values.set(key, value);
  }
}

test("a token is 32 random bytes in base64url, and stays until it is rotated", async () => {
  const tokens = new Tokens(new Store(), "i", "w");
  const first = await tokens.read();

  assert.equal(first.tokens.length, 1);
  assert.match(first.tokens[0] ?? "", /^[A-Za-z0-9_-]{43}$/);
  assert.equal(Buffer.from(first.tokens[0] ?? "", "base64url").length, 32);
  assert.equal(Buffer.from(first.sessionKey, "base64url").length, 32);
  assert.deepEqual(await tokens.read(), first);
});

test("rotating replaces all tokens at once and keeps the session key", async () => {
  const store = new Store();
  const tokens = new Tokens(store, "i", "w");
  const { sessionKey } = await tokens.read();
  const [key] = store.values.keys();
  assert(key);
  const two = ["A".repeat(43), "B".repeat(43)];
  store.values.set(key, JSON.stringify({ tokens: two, sessionKey }));
  assert.deepEqual((await tokens.read()).tokens, two);

  await tokens.rotate();

  const rotated = await tokens.read();
  assert.equal(rotated.tokens.length, 1);
  assert(!two.includes(rotated.tokens[0] ?? ""));
  assert.equal(rotated.sessionKey, sessionKey);
});

test("another workspace and another installation have other secrets", async () => {
  const store = new Store();
  const all = await Promise.all(
    [
      ["i", "w"],
      ["i", "x"],
      ["j", "w"],
    ].map(([installation, workspace]) => new Tokens(store, installation ?? "", workspace ?? "").read()),
  );

  assert.equal(new Set(all.map(({ tokens }) => tokens[0])).size, 3);
  assert.equal(new Set(all.map(({ sessionKey }) => sessionKey)).size, 3);
});

test("a change that another window makes concerns this workspace, and only its own key does", async () => {
  const store = new Store();
  const here = new Tokens(store, "i", "w");
  const there = new Tokens(store, "i", "w");
  await here.read();
  const [key] = store.values.keys();
  assert(key);
  assert.equal(here.concerns(key), true);
  assert.equal(here.concerns(key.replace("w", "x")), false);

  await there.rotate();

  assert.deepEqual(await here.read(), await there.read());
});

test("what is stored and is not a set of secrets is replaced", async () => {
  for (const stored of [
    "",
    "x",
    "null",
    "{}",
    '{"tokens":[],"sessionKey":"x"}',
    '{"tokens":["short"],"sessionKey":"x"}',
  ]) {
    const store = new Store();
    const tokens = new Tokens(store, "i", "w");
    await tokens.read();
    const [key] = store.values.keys();
    assert(key);
    store.values.set(key, stored);
    const { tokens: replaced } = await tokens.read();
    assert.match(replaced[0] ?? "", /^[A-Za-z0-9_-]{43}$/);
    assert.deepEqual((await tokens.read()).tokens, replaced);
  }
});

test("a workspace is known by its file, else by its folder", () => {
  const identities = [
    workspaceIdentity("file:///a", "file:///b"),
    workspaceIdentity(undefined, "file:///a"),
    workspaceIdentity(undefined, "file:///b"),
    workspaceIdentity(undefined, undefined),
  ];

  assert.equal(new Set(identities).size, 4);
  assert.equal(identities[0], workspaceIdentity("file:///a", "file:///c"));
});
