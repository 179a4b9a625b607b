import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ToolFailure } from "../../harness/clients/gateway-client.ts";
import { copyWorkspace, type GatewayWindow } from "../../harness/editor/gateway-window.ts";
import type { EditorWindow } from "../../harness/editor/real-vscode.ts";
import { LanguageProject } from "../../harness/languages/language-project.ts";
import { pyright } from "../../harness/languages/language-servers.ts";
import type { DiagnosticItem } from "../../harness/languages/normalised.ts";
import { eventually } from "../../harness/machine/eventually.ts";

const TOOL = "vscode.lsp.diagnostics.document";

interface Diagnostics {
  readonly diagnostics: readonly DiagnosticItem[];
  readonly summary: string;
}

/** In which way the editor knows a file before somebody else writes it. */
const WAYS: readonly { readonly name: string; readonly show: (window: EditorWindow, file: string) => Promise<void> }[] =
  [
    { name: "not open", show: async () => {} },
    {
      name: "open in no tab",
      show: (window, file) =>
        window.inside(async (vscode, path) => {
          await vscode.workspace.openTextDocument(path);
        }, file),
    },
    {
      name: "in a tab",
      show: (window, file) =>
        window.inside(async (vscode, path) => {
          await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
        }, file),
    },
  ];

describe("scenario 4: diagnostics of files that another process has just written", () => {
  /** Files of both languages, in one window. */
  let project: LanguageProject;

  before(async () => {
    project = await LanguageProject.open("python", await pyright(), copyWorkspace);
  });

  after(() => project?.close());

  for (const { name, show } of WAYS) {
    test(`a type error that appears and goes in a TypeScript file, ${name}`, async () => {
      const file = join(project.folder, "src", `${name.replaceAll(" ", "-")}.ts`);
      writeFileSync(file, "export const depth: number = 4;\n");
      await show(project.gateway.window, file);
      for (let round = 1; round <= 3; round++) {
        writeFileSync(file, `export const depth: number = "${round}";\n`);
        assert.deepEqual(codes(await ask(project.gateway, file)), ["2322"], `round ${round}`);
        writeFileSync(file, `export const depth: number = ${round};\n`);
        assert.deepEqual(codes(await ask(project.gateway, file)), [], `round ${round}`);
      }
    });
  }

  for (const { name, show } of WAYS) {
    test(`a type error that appears and goes in a Python file, ${name}`, async () => {
      const file = join(project.folder, `${name.replaceAll(" ", "_")}.py`);
      writeFileSync(file, "depth: int = 4\n");
      await show(project.gateway.window, file);
      for (let round = 1; round <= 3; round++) {
        writeFileSync(file, `depth: int = "${round}"\n`);
        assert.deepEqual(codes(await ask(project.gateway, file)), ["reportAssignmentType"], `round ${round}`);
        writeFileSync(file, `depth: int = ${round}\n`);
        assert.deepEqual(codes(await ask(project.gateway, file)), [], `round ${round}`);
      }
    });
  }

  // Last, since a window hears of a setting when it hears of it.
  test("a JSON and a CSS file without a tab are not analysed, and with diagnostics.openTab they are", async () => {
    const mistaken = [
      { file: join(project.folder, "mistaken.json"), text: '{ "depth": }\n', code: "516" },
      { file: join(project.folder, "mistaken.css"), text: "a { colour: red; \n", code: "css-rcurlyexpected" },
    ];
    for (const { file, text } of mistaken) {
      writeFileSync(file, text);
    }
    // At once, since each answer is waited for as long as a call may take.
    await Promise.all(mistaken.map(({ file }) => assert.rejects(ask(project.gateway, file), isNotAnalysed)));
    await openTabs(project.gateway.window, true);
    for (const { file, code } of mistaken) {
      // The setting takes effect when the extension has heard of it.
      const found = await eventually(
        () => ask(project.gateway, file),
        () => true,
      );
      assert.ok(codes(found).includes(code), JSON.stringify(found));
      assert.deepEqual(await tabs(project.gateway.window, file), [], "The tab is closed again.");
    }
  });
});

/** The first answer that does not ask for another try. */
function ask({ client }: GatewayWindow, file: string): Promise<Diagnostics> {
  return client.call(TOOL, { uri: pathToFileURL(file).href });
}

function isNotAnalysed(error: unknown): boolean {
  return (
    error instanceof ToolFailure &&
    error.code === "PROVIDER_UNAVAILABLE" &&
    error.details["reason"] === "not_analysed" &&
    error.message.includes("mcpLspGateway.diagnostics.openTab")
  );
}

function codes({ diagnostics }: Diagnostics): (string | undefined)[] {
  return diagnostics.map(({ code }) => code);
}

function openTabs(window: EditorWindow, value: boolean): Promise<void> {
  return window.inside(
    async (vscode, { value }) => {
      await vscode.workspace
        .getConfiguration("mcpLspGateway")
        .update("diagnostics.openTab", value, vscode.ConfigurationTarget.Global);
    },
    { value },
  );
}

function tabs(window: EditorWindow, file: string): Promise<string[]> {
  return window.inside(
    (vscode, path) =>
      vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.fsPath === path)
        .map(({ label }) => label),
    file,
  );
}
