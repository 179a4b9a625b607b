import "./stand-in-vscode.ts";
import assert from "node:assert/strict";
import { test } from "node:test";

const { statusModel } = await import("../../extension/ui/status-model.ts");

const ROOTS = [{ label: "~/harbour", path: "/home/me/harbour" }];
const URL = "http://127.0.0.1:39400/mcp";

test("a gateway that runs shows where it listens, its folders, and what there is to know", () => {
  const running = { kind: "running", port: 39400, wished: 39400, lost: undefined } as const;
  assert.deepEqual(statusModel(running, URL, ROOTS, []), {
    tone: "good",
    headline: "Listening on port 39400",
    detail: "",
    endpoint: URL,
    roots: ROOTS,
    recoveryAction: undefined,
  });
  const model = statusModel({ ...running, wished: 39399 }, URL, [], ["TypeScript", "Rust"]);
  assert.equal(model.tone, "busy");
  assert.equal(
    model.detail,
    "Port 39399 was taken or is kept for another workspace. No folder is open, so every call is refused. Warming up TypeScript, Rust: answers may take a few seconds.",
  );
});

test("a gateway that does not run says why, and has the button that mends it", () => {
  const shown = (state: Parameters<typeof statusModel>[0]) => {
    const { tone, headline, detail, recoveryAction, endpoint } = statusModel(state, undefined, ROOTS, []);
    assert.equal(endpoint, undefined);
    return [tone, headline, detail, recoveryAction];
  };
  assert.deepEqual(shown({ kind: "starting" }), ["busy", "Starting", "", undefined]);
  assert.deepEqual(shown({ kind: "paused" }), [
    "off",
    "Paused",
    "It is paused in this window; resume it to open the port.",
    "Resume",
  ]);
  assert.deepEqual(shown({ kind: "untrusted" }), [
    "off",
    "Restricted",
    "This workspace is in Restricted Mode; trust it to open the port.",
    "Manage Workspace Trust",
  ]);
  assert.deepEqual(shown({ kind: "failed", reason: "No port is free; set mcpLspGateway.port to another." }), [
    "bad",
    "Not running",
    "No port is free; set mcpLspGateway.port to another.",
    "Open Setting",
  ]);
});
