import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Call,
  type Findings,
  headline,
  nextSteps,
  report,
  withoutHome,
} from "../../extension/check/check-report.ts";

const TOOLS = [
  "vscode.lsp.documentSymbols",
  "vscode.lsp.definition",
  "vscode.lsp.references",
  "vscode.lsp.hover",
  "vscode.lsp.diagnostics.document",
  "vscode.lsp.workspaceSymbols",
  "vscode.lsp.diagnostics.workspace",
];

function answered(tool: string, payload: Record<string, unknown> = {}): Call {
  return {
    tool,
    outcome: { kind: "answered", payload: { summary: `Found by ${tool}.`, ...payload } },
    ms: 12.4,
    tries: 1,
    waitedMs: 12.4,
  };
}

function refused(tool: string, code: string, details: Record<string, unknown> = {}, message = "It was refused."): Call {
  return { tool, outcome: { kind: "refused", code, message, details }, ms: 3, tries: 1, waitedMs: 3 };
}

const WELL: Findings = {
  versions: ["MCP LSP Gateway 1.2.3"],
  endpoint: { url: "http://127.0.0.1:39400/mcp", port: 39400, lost: undefined },
  roots: ["~/harbour"],
  warmingUp: [],
  swept: [],
  settings: [],
  file: { kind: "asked", path: "src/ship.ts", language: "typescript", position: { line: 8, character: 13 } },
  greeting: { revision: "2025-11-25", tools: TOOLS },
  calls: TOOLS.map((tool) => answered(tool)),
};

/** The steps for what is like `WELL` but for these calls, by tool. */
function stepsWith(...calls: readonly Call[]): string[] {
  const others = WELL.calls.filter(({ tool }) => !calls.some((call) => call.tool === tool));
  return nextSteps({ ...WELL, calls: [...others, ...calls] });
}

test("where all is well there is nothing to do, and the report says what was asked and answered, and where", () => {
  assert.deepEqual(nextSteps(WELL), []);
  assert.equal(headline(WELL, 0), "**7 of 7 tools answered; nothing has to be done.**");
  const text = report(WELL);
  assert.doesNotMatch(text, /What to do/);
  assert.ok(text.includes("It connects to `http://127.0.0.1:39400/mcp`. It is spoken to in revision `2025-11-25`"));
  assert.ok(text.includes("asked about `src/ship.ts` (typescript), line 9, column 14"));
  assert.ok(text.includes("| `hover` | ✔ Found by vscode.lsp.hover. | 12\u00a0ms |"));
  assert.ok(text.includes("- `~/harbour`"));
});

test("a gateway that does not run is the one thing to mend, and nothing else is told to have been looked at", () => {
  const findings: Findings = {
    ...WELL,
    notRunning: "It is paused in this window; resume it to open the port.",
    calls: [],
    file: { kind: "none" },
  };
  assert.deepEqual(nextSteps(findings), ["It is paused in this window; resume it to open the port."]);
  assert.match(report(findings), /\*\*The gateway is not running\.\*\*/);
  assert.doesNotMatch(report(findings), /What a client sees/);
});

test("each thing that is wrong has a step of its own, which says what to do", () => {
  const cases: readonly [string[], RegExp][] = [
    [nextSteps({ ...WELL, roots: [] }), /^Open a folder/],
    [nextSteps({ ...WELL, file: { kind: "none" } }), /^Open a file of the workspace/],
    [nextSteps({ ...WELL, file: { kind: "outside" } }), /outside .*mcpLspGateway\.additionalAllowedRoots/],
    [
      nextSteps({ ...WELL, endpoint: { url: "", port: 39402, lost: 39400 } }),
      /^Port 39400, which this workspace had before, .* listens on 39402.*Connect a Client/,
    ],
    [nextSteps({ ...WELL, greeting: { failed: "ECONNREFUSED." } }), /cannot connect: ECONNREFUSED\. Run .*Restart/],
    [nextSteps({ ...WELL, greeting: { revision: "2025-11-25", tools: [] } }), /sees no tools/],
    [
      stepsWith(refused("vscode.lsp.hover", "CAP_EXCEEDED", { reason: "warming_up", retryable: true })),
      /still starting .*check again/,
    ],
    [stepsWith(refused("vscode.lsp.hover", "CAP_EXCEEDED", { reason: "timeout" })), /requestTimeoutMs/],
    [
      stepsWith(refused("vscode.lsp.diagnostics.document", "PROVIDER_UNAVAILABLE", { reason: "not_analysed" })),
      /No extension has reported .*openTab/,
    ],
    [stepsWith(refused("vscode.lsp.hover", "PROVIDER_UNAVAILABLE")), /No extension answers .*typescript: install/],
    [stepsWith(refused("vscode.lsp.hover", "INTERNAL")), /Show Log/],
    [stepsWith(refused("vscode.lsp.hover", "NOT_FOUND", {}, "Save the file.")), /was refused: Save the file\./],
    [
      stepsWith(
        answered("vscode.lsp.documentSymbols", { symbols: [] }),
        answered("vscode.lsp.hover", { contents: [] }),
      ),
      /^Nothing was found in this file.* install an extension that knows typescript/,
    ],
  ];
  for (const [steps, expected] of cases) {
    assert.equal(steps.length, 1, steps.join("\n"));
    assert.match(steps[0] ?? "", expected);
    assert.match(steps[0] ?? "", /\.$/);
  }
});

test("what several tools report alike is told once", () => {
  const warming = { reason: "warming_up", retryable: true };
  assert.equal(
    stepsWith(
      refused("vscode.lsp.hover", "CAP_EXCEEDED", warming),
      refused("vscode.lsp.definition", "CAP_EXCEEDED", warming),
    ).length,
    1,
  );
});

test("texts from elsewhere cannot break the table or become links", () => {
  const text = report({
    ...WELL,
    roots: ["/w/`x` | y"],
    calls: [refused("vscode.lsp.hover", "INTERNAL", {}, "a | b\n[c](command:x) <img>")],
  });
  assert.ok(text.includes("✘ a \\| b \\[c\\](command:x) \\<img\\> `INTERNAL`"), text);
  assert.ok(text.includes("- `/w/'x' ¦ y`"), text);
});

test("a try that was not the first is told with how long it took in all", () => {
  const call = { ...answered("vscode.lsp.hover"), tries: 3, waitedMs: 4200 };
  assert.ok(report({ ...WELL, calls: [call] }).includes("| 12\u00a0ms, after 3 tries in 4.2 s |"));
});

test("the home folder is not named, and a folder whose name only begins alike is", () => {
  assert.equal(withoutHome("/home/me/code", "/home/me"), "~/code");
  assert.equal(withoutHome("/home/me", "/home/me"), "~");
  assert.equal(withoutHome("/home/menno/code", "/home/me"), "/home/menno/code");
  assert.equal(withoutHome("C:\\Users\\me\\code", "C:\\Users\\me"), "~\\code");
  assert.equal(withoutHome("/srv/code", "/"), "/srv/code");
});

test("folders that cannot be watched are told of, each with what to do", () => {
  const causes = ["outOfWatches", "fileSystem", "twoNames", "refused", "noQueue"] as const;
  const steps = nextSteps({ ...WELL, swept: causes.map((cause, index) => ({ cause, folders: index + 1 })) });
  assert.equal(steps.length, causes.length);
  assert.match(steps[0] ?? "", /^One folder is .* `fs\.inotify\.max_user_watches`/);
  for (const step of steps) {
    assert.match(step, /looked through for each answer.*`mcpLspGateway\.watch\.ignore`/);
  }
});
