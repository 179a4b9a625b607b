import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Location, Page } from "../../harness/clients/gateway-client.ts";
import { LanguageProject, on } from "../../harness/languages/language-project.ts";
import { clangd } from "../../harness/languages/language-servers.ts";
import { eventually } from "../../harness/machine/eventually.ts";

describe("a C++ project with clangd", () => {
  let project: LanguageProject;
  /** Where `Boat` is; the third is its declaration. */
  let boats: Location[];

  before(async () => {
    project = await LanguageProject.open("cpp", await clangd(), writeCompileCommands, "clangd");
    boats = [
      project.at("fleet.cpp", 2, 0, 4),
      project.at("fleet.cpp", 3, 9, 13),
      project.at("fleet.h", 3, 7, 11),
      project.at("fleet.h", 8, 0, 4),
      project.at("quay.cpp", 3, 2, 6),
    ];
    await project.untilWhole("quay.cpp", { line: 3, character: 3 }, boats.length);
  });

  after(() => project?.close());

  test("the definition of a function is found from a call in another file", async () => {
    const { locations } = await project.gateway.client.definition(project.uri("quay.cpp"), { line: 3, character: 16 });
    assert.deepEqual(locations, [project.at("fleet.cpp", 2, 5, 11)]);
  });

  test("the references of a struct are paged through, with its declaration and without", async () => {
    const input = { uri: project.uri("fleet.h"), position: { line: 3, character: 7 } };
    const paged: Location[][] = [];
    const wanted = { ...input, includeDeclaration: true, pageSize: 2 };
    for await (const page of project.gateway.client.pages<Location>("vscode.lsp.references", wanted)) {
      paged.push([...page.items]);
    }
    assert.deepEqual(paged, [boats.slice(0, 2), boats.slice(2, 4), boats.slice(4)]);
    const { items } = await project.gateway.client.call<Page<Location>>("vscode.lsp.references", input);
    assert.deepEqual(items, [...boats.slice(0, 2), ...boats.slice(3)]);
  });

  test("hovering over a call shows the function's signature", async () => {
    const input = { uri: project.uri("quay.cpp"), position: { line: 3, character: 16 } };
    const value = [
      "### function `launch`\n",
      'provided by `"fleet.h"`\n',
      "---",
      "→ `Boat`\n",
      "Parameters:\n",
      "- `int length`\n",
      "---",
      "```cpp\nBoat launch(int length)\n```",
    ].join("\n");
    assert.deepEqual(await project.gateway.client.call("vscode.lsp.hover", input), {
      contents: [{ kind: "markdown", value }],
      range: on(3, 15, 21),
      summary: "Hover available.",
    });
  });

  test("the symbols of a header are its types, their members and its functions", async () => {
    const file = "fleet.h";
    const struct = { start: { line: 3, character: 0 }, end: { line: 6, character: 1 } };
    assert.deepEqual(await project.gateway.client.call("vscode.lsp.documentSymbols", { uri: project.uri(file) }), {
      symbols: [
        project.documentSymbol(file, "Boat", 23, struct, on(3, 7, 11)),
        project.documentSymbol(file, "length", 8, on(4, 2, 12), on(4, 6, 12), "Boat"),
        project.documentSymbol(file, "doubled", 6, on(5, 2, 44), on(5, 6, 13), "Boat"),
        project.documentSymbol(file, "launch", 12, on(8, 0, 23), on(8, 5, 11)),
      ],
      summary: "Returned 4 document symbols.",
    });
  });

  test("a function is found by its name in the whole project", async () => {
    assert.deepEqual(await project.gateway.client.call("vscode.lsp.workspaceSymbols", { query: "launch" }), {
      items: [project.workspaceSymbol("launch", 12, project.at("fleet.cpp", 2, 5, 11))],
      nextCursor: null,
      summary: "Returned 1 workspace symbol.",
    });
  });

  test("a wrong argument in a file in a tab is reported for the file and for the workspace", async () => {
    const uri = project.uri("mistake.cpp");
    await project.gateway.window.openFile("mistake.cpp");
    const expected = project.diagnostic("mistake.cpp", {
      range: on(3, 9, 15),
      severity: 1,
      code: "ovl_no_viable_function_in_call",
      source: "clang",
      message: "No matching function for call to 'launch'",
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

function writeCompileCommands(folder: string): void {
  const commands = ["fleet.cpp", "quay.cpp", "mistake.cpp"].map((file) => ({
    directory: folder,
    file,
    arguments: ["c++", "-std=c++17", "-c", file],
  }));
  writeFileSync(join(folder, "compile_commands.json"), JSON.stringify(commands));
}
