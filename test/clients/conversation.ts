import assert from "node:assert/strict";
import type { Project } from "./project.ts";
import { compileStrictly, readSchema, type ToolName } from "./schemas.ts";

export type Call = [tool: ToolName, arguments_: Record<string, unknown>];

/** What a client made of one call: the payloads of all pages, or the error in their place. */
export type Answer = { payloads: Record<string, unknown>[] } | { error: ToolError };

/** Not every client hands on more than the message. */
export type ToolError = { message: string; code?: number; data?: unknown };

/** What every client is to ask about the project: each tool once, the last page included, and something that is refused. */
export function callsAbout({ place }: Project): Call[] {
  const { uri } = place;
  return [
    ["vscode.lsp.definition", place],
    ["vscode.lsp.references", { ...place, pageSize: 100 }],
    ["vscode.lsp.hover", place],
    ["vscode.lsp.documentSymbols", { uri }],
    ["vscode.lsp.workspaceSymbols", { query: " shape ", pageSize: 2 }],
    ["vscode.lsp.diagnostics.document", { uri }],
    ["vscode.lsp.diagnostics.workspace", { pageSize: 1 }],
    ["vscode.lsp.definition", { uri, position: { line: 500, character: 0 } }],
  ];
}

/** Checks what came back for the calls, down to the last byte that a client can see. */
export function assertAnswered(answers: readonly Answer[], project: Project): void {
  const calls = callsAbout(project);
  assert.equal(answers.length, calls.length);
  for (const [index, [tool]] of calls.slice(0, -1).entries()) {
    const fits = compileStrictly(readSchema(`${tool}.output.json`));
    for (const payload of payloadsOf(answers[index])) {
      assert.ok(fits(payload), `${tool}: ${JSON.stringify(fits.errors)}`);
    }
  }
  const [definition, references, hover, outline, symbols, document, workspace, refused] = answers;
  const { place, diagnostics } = project;
  assert.deepEqual(payloadsOf(definition), [
    { locations: [project.definition], summary: "Found 1 definition; 1 outside the allowed roots was left out." },
  ]);
  // The one outside is a definition as well, and so not left out but not asked for.
  assertPages(references, [100, 100, 42], project.references, (size) => `Returned ${size} references`);
  assert.deepEqual(payloadsOf(hover), [project.hover]);
  assert.deepEqual(payloadsOf(outline), [
    { symbols: project.documentSymbols, summary: "Returned 3 document symbols." },
  ]);
  const outside = "; 1 outside the allowed roots was left out";
  const notAnalysed = "; files that no language server has analysed are not among them";
  const found = (size: number): string => `Returned ${size} workspace symbol${size === 1 ? "" : "s"}`;
  assertPages(symbols, [2, 1], project.workspaceSymbols, found, outside);
  assert.deepEqual(payloadsOf(document), [
    { uri: place.uri, diagnostics: diagnostics[0].diagnostics, summary: "Returned 2 diagnostics." },
  ]);
  assertPages(workspace, [1, 1], diagnostics, (size) => `Returned diagnostics for ${size} file`, outside + notAnalysed);

  assert.ok(refused !== undefined && "error" in refused, "the last call was answered");
  const { code, message, data } = refused.error;
  assert.ok(message.endsWith("correct the line. [MCP_LSP_GATEWAY/NOT_FOUND]"), message);
  if (code !== undefined) {
    assert.equal(code, -32603);
    assert.deepEqual((data as { details: object }).details, { lineCount: 122 });
  }
}

/** Checks the items of all pages, and of each page its size, its cursor and its summary. */
function assertPages(
  answer: Answer | undefined,
  sizes: readonly number[],
  items: readonly object[],
  summaryOf: (size: number) => string,
  leftOut = "",
): void {
  const payloads = payloadsOf(answer);
  assert.deepEqual(
    payloads.flatMap((page) => page["items"]),
    items,
  );
  assert.equal(payloads.length, sizes.length);
  for (const [index, size] of sizes.entries()) {
    const page = payloads[index] ?? {};
    const isLast = index === sizes.length - 1;
    assert.equal((page["items"] as object[]).length, size);
    assert.equal(typeof page["nextCursor"], isLast ? "object" : "string");
    assert.equal(page["summary"], `${summaryOf(size)}${isLast ? "" : " (next page available)"}${leftOut}.`);
  }
}

function payloadsOf(answer: Answer | undefined): Record<string, unknown>[] {
  assert.ok(answer !== undefined && "payloads" in answer, JSON.stringify(answer));
  return answer.payloads;
}
