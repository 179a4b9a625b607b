// What the program answers without an editor, to the byte beside what a real VS Code answers from the same server.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { GatewayClient } from "../../harness/clients/gateway-client.ts";
import { type GatewayWindow, openGateway, removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { type AskedProject, ON_FLASK, ON_FLEET, ON_RXJS, ON_SEMVER } from "../../harness/languages/asked-projects.ts";
import {
  clangd,
  type InstalledServer,
  OPTIONS_IN_TABLE,
  pyright,
  rustAnalyzer,
  startEditorOf,
  typescript7,
} from "../../harness/languages/language-servers.ts";
import { startProgram } from "../../harness/languages/program.ts";
import { type PROSE, placeIn, sample } from "../../harness/languages/sample.ts";
import { type Difference, Twin } from "../../harness/languages/twin.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";

const POSITIONS = unlessLonger(5, 50);
const SEED = 20_261_123;

interface Project extends AskedProject {
  readonly name: string;
  readonly files: string;
  readonly language: keyof typeof PROSE;
  readonly server: () => Promise<InstalledServer>;
  /** The extension of the tests that starts the server, and the options that the program's table has for it. */
  readonly extension: string;
  readonly options?: object;
}

/** The first in `npm test`. Each has a window of its own: beside others, VS Code leaves out a server that fails. */
const PROJECTS: readonly Project[] = [
  {
    name: "TypeScript 7 on rxjs",
    ...ON_RXJS,
    ...{ files: "src/**/*.ts", language: "typescript", server: typescript7, extension: "typescript7" },
    options: OPTIONS_IN_TABLE.typescript7,
  },
  {
    name: "pyright on flask",
    ...ON_FLASK,
    ...{ files: "flask/**/*.py", language: "python", server: pyright, extension: "languages" },
  },
  {
    name: "clangd on 40 files",
    ...ON_FLEET,
    ...{ files: "*.cpp", language: "cpp", server: clangd, extension: "clangd" },
  },
  {
    name: "rust-analyzer on semver",
    ...ON_SEMVER,
    ...{ files: "src/*.rs", language: "rust", server: rustAnalyzer, extension: "rust-analyzer" },
    options: OPTIONS_IN_TABLE.rustAnalyzer,
  },
];

for (const project of PROJECTS.slice(0, unlessLonger(1, PROJECTS.length))) {
  const { name, files, language, server, extension, options } = project;
  describe(`a window and the program give the same bytes: ${name}`, () => {
    let folder: string;
    let own: string;
    let editor: RealVsCode;
    let gateway: GatewayWindow;
    let program: GatewayClient;
    let twin: Twin;

    before(async () => {
      [folder, own] = [temporaryFolder("twin"), temporaryFolder("twin-own")];
      await project.copyTo(folder);
      const installed = await server();
      const asInTheTable = options === undefined ? installed : { ...installed, initializationOptions: options };
      editor = await startEditorOf(
        { [extension]: [asInTheTable] },
        {
          "mcpLspGateway.catalog": "all",
          "mcpLspGateway.diagnostics.openTab": true,
          // So that VS Code's own extension leaves TypeScript to the other.
          "js/ts.experimental.useTsgo": extension === "typescript7",
          // So that VS Code does not answer with headings as well once `symbol.find` has looked into such a file.
          "files.associations": { "*.md": "plaintext" },
        },
      );
      gateway = await openGateway(editor, folder);
      program = await startProgram(folder, own, installed, "all");
      // With its first editor VS Code gets what it has itself to say of places in it.
      await gateway.window.openFile(project.file);
      twin = new Twin(gateway.client, program);
      await twin.untilReady(placeIn(folder, project.file, project.word, project.after));
      await twin.untilAllReady(project.word);
    });

    after(async () => {
      await Promise.all([gateway?.client.close(), program?.close()]);
      await editor?.stop();
      removeFolder(folder);
      removeFolder(own);
    });

    test(`at ${POSITIONS} positions`, async (t) => {
      const places = sample(folder, files, language, POSITIONS, SEED);
      const { answers, bytes, known, differences } = await twin.compare(places);
      const rules = [...known].map(([rule, count]) => `, ${count} by the rule "${rule}"`).join("");
      t.diagnostic(`${answers} answers and ${bytes} bytes compared${rules}`);
      assert.deepEqual(differences.map(told), []);
    });
  });
}

function told({ tool, input, window, program }: Difference): string {
  return `${tool} ${JSON.stringify(input)}\n  window:  ${window}\n  program: ${program}`;
}
