import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Location, Page } from "../../harness/clients/gateway-client.ts";
import { LanguageProject, on } from "../../harness/languages/language-project.ts";
import { pyright } from "../../harness/languages/language-servers.ts";
import { eventually } from "../../harness/machine/eventually.ts";

describe("a Python project with pyright", () => {
  let project: LanguageProject;
  /** Where `Boat` is, the declaration first. */
  let boats: Location[];

  before(async () => {
    project = await LanguageProject.open("python", await pyright());
    boats = [
      project.at("fleet.py", 0, 6, 10),
      project.at("fleet.py", 10, 25, 29),
      project.at("fleet.py", 11, 11, 15),
      project.at("quay.py", 0, 18, 22),
      project.at("quay.py", 2, 7, 11),
      project.at("quay.py", 3, 9, 13),
    ];
    await project.untilWhole("fleet.py", { line: 0, character: 6 }, boats.length);
  });

  after(() => project?.close());

  test("the definition of a class is found from its use in another file", async () => {
    const { locations } = await project.gateway.client.definition(project.uri("quay.py"), { line: 3, character: 10 });
    assert.deepEqual(locations, [boats[0]]);
  });

  test("the references of a class are paged through, with its declaration and without", async () => {
    const input = { uri: project.uri("fleet.py"), position: { line: 0, character: 6 } };
    const paged: Location[][] = [];
    const wanted = { ...input, includeDeclaration: true, pageSize: 4 };
    for await (const page of project.gateway.client.pages<Location>("vscode.lsp.references", wanted)) {
      paged.push([...page.items]);
    }
    assert.deepEqual(paged, [boats.slice(0, 4), boats.slice(4)]);
    const { items } = await project.gateway.client.call<Page<Location>>("vscode.lsp.references", input);
    assert.deepEqual(items, boats.slice(1));
  });

  test("hovering over a class shows its signature and its docstring", async () => {
    const input = { uri: project.uri("quay.py"), position: { line: 3, character: 10 } };
    assert.deepEqual(await project.gateway.client.call("vscode.lsp.hover", input), {
      contents: [{ kind: "markdown", value: "```python\nclass Boat(name: str)\n```\n---\nSomething that floats." }],
      range: on(3, 9, 13),
      summary: "Hover available.",
    });
  });

  test("the symbols of a file are its classes, functions and variables, each with what it lies in", async () => {
    const file = "fleet.py";
    const block = (first: number, character: number, last: number, end: number) => ({
      start: { line: first, character },
      end: { line: last, character: end },
    });
    assert.deepEqual(await project.gateway.client.call("vscode.lsp.documentSymbols", { uri: project.uri(file) }), {
      symbols: [
        project.documentSymbol(file, "Boat", 5, block(0, 0, 7, 34), on(0, 6, 10)),
        project.documentSymbol(file, "__init__", 6, block(3, 4, 4, 24), on(3, 8, 16), "Boat"),
        project.documentSymbol(file, "name", 13, on(3, 23, 32), on(3, 23, 32), "__init__"),
        project.documentSymbol(file, "name", 13, on(4, 13, 17), on(4, 13, 17), "Boat"),
        project.documentSymbol(file, "greet", 6, block(6, 4, 7, 34), on(6, 8, 13), "Boat"),
        project.documentSymbol(file, "launch", 12, block(10, 0, 11, 21), on(10, 4, 10)),
        project.documentSymbol(file, "name", 13, on(10, 11, 20), on(10, 11, 20), "launch"),
      ],
      summary: "Returned 7 document symbols.",
    });
  });

  test("a function is found by its name in the whole project", async () => {
    assert.deepEqual(await project.gateway.client.call("vscode.lsp.workspaceSymbols", { query: "launch" }), {
      items: [project.workspaceSymbol("launch", 12, project.at("fleet.py", 10, 4, 10))],
      nextCursor: null,
      summary: "Returned 1 workspace symbol.",
    });
  });

  test("a wrong argument in a file in a tab is reported for the file and for the workspace", async () => {
    const uri = project.uri("mistake.py");
    await project.gateway.window.openFile("mistake.py");
    const expected = project.diagnostic("mistake.py", {
      range: on(2, 7, 9),
      severity: 1,
      code: "reportArgumentType",
      source: "Pyright",
      message:
        'Argument of type "Literal[12]" cannot be assigned to parameter "name" of type "str" in function "launch"\n' +
        '\u00a0\u00a0"Literal[12]" is not assignable to "str"',
    });
    const alone = await eventually(
      () => project.gateway.client.call<{ diagnostics: unknown[] }>("vscode.lsp.diagnostics.document", { uri }),
      ({ diagnostics }) => diagnostics.length > 0,
    );
    assert.deepEqual(alone, { uri, diagnostics: [expected], summary: "Returned 1 diagnostic." });
    assert.deepEqual(await project.gateway.client.call("vscode.lsp.diagnostics.workspace", {}), {
      items: [{ uri, diagnostics: [expected] }],
      nextCursor: null,
      summary: "Returned diagnostics for 1 file; files that no language server has analysed are not among them.",
    });
  });
});
