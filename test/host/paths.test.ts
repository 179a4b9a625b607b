import assert from "node:assert/strict";
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { URI } from "vscode-uri";
import { type DefinitionPayload, ToolFailure } from "../../harness/clients/gateway-client.ts";
import { RawClient } from "../../harness/clients/raw-client.ts";
import {
  copyWorkspace,
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
  temporaryFolder,
} from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { on } from "../../harness/languages/language-project.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { PagedQuestion, untilHeardOfAll } from "./cursors.ts";

/** Where `Ship` is declared in harness/workspace, and where a file that imports it uses it. */
const DECLARATION = on(8, 13, 17);
const USE = { line: 4, character: 23 };

/** Where `pilot.ts` uses what two folders outside the workspace declare. */
const CHARTS = { line: 3, character: 22 };
const TIDES = { line: 3, character: 32 };
const LEFT_OUT = { locations: [], summary: "Found no definition; 1 outside the allowed roots was left out." };
/** Names with characters that a URI has to escape. */
const ODD_NAMES = ["dry dock", "100% full", "pier #7", "Möwe 🐦", "a+b&c;d=e,f"];

describe("paths that are not plain", () => {
  let editor: RealVsCode;

  before(async () => {
    editor = await startEditor();
  });

  after(() => editor?.stop());

  describe("scenario 6: a workspace that is opened through a symlink", () => {
    let parent: string;
    let real: string;
    let link: string;
    let gateway: GatewayWindow;

    before(async () => {
      real = copyWorkspace();
      parent = temporaryFolder("linked");
      link = join(parent, "harbour");
      symlinkSync(real, link);
      // One more name for a part of it, inside.
      symlinkSync(join(real, "src"), join(real, "sources"));
      gateway = await openGateway(editor, link);
      await untilLoaded(gateway, uriOf(real, "src/ship.ts"));
    });

    after(async () => {
      await gateway?.client.close();
      await gateway?.window.close();
      for (const folder of [parent, real]) {
        removeFolder(folder);
      }
    });

    test("a file that is asked for by each of its paths gives the same bytes, with real paths in them", async () => {
      const names = [
        uriOf(real, "src/mistakes.ts"),
        uriOf(link, "src/mistakes.ts"),
        uriOf(real, "sources/mistakes.ts"),
        uriOf(link, "sources/mistakes.ts"),
      ];
      const raw = await RawClient.connect(gateway.configuration);
      const tools: readonly (readonly [tool: string, more: object])[] = [
        ["vscode.lsp.definition", { position: USE }],
        ["vscode.lsp.references", { position: USE, includeDeclaration: true, pageSize: 2 }],
        ["vscode.lsp.hover", { position: USE }],
        ["vscode.lsp.documentSymbols", {}],
      ];
      for (const [tool, more] of tools) {
        const bodies = [];
        for (const uri of names) {
          bodies.push(await raw.call(tool, { uri, ...more }));
        }
        assert.equal(new Set(bodies).size, 1, `${tool}:\n${bodies.join("\n")}`);
        assert.ok(!bodies[0]?.includes(parent), bodies[0]);
      }
      const { locations } = await gateway.client.definition(names[1] ?? "", USE);
      assert.deepEqual(locations, [{ uri: uriOf(real, "src/ship.ts"), range: DECLARATION }]);
    });

    test("the editor holds one document of each file", async () => {
      const held = await gateway.window.inside((vscode) => {
        const { realpathSync } = process.getBuiltinModule("node:fs");
        return vscode.workspace.textDocuments
          .filter(({ uri }) => uri.scheme === "file")
          .map(({ uri }) => [uri.fsPath, realpathSync(uri.fsPath)]);
      }, undefined);
      const files = held.filter(([, path]) => path?.startsWith(real)).sort();
      assert.deepEqual(
        files,
        files.map(([, path = ""]) => [join(link, path.slice(real.length)), path]),
      );
      for (const file of ["src/mistakes.ts", "src/ship.ts"]) {
        assert.equal(files.filter(([, path]) => path === join(real, file)).length, 1, file);
      }
    });

    test("a cursor goes on under either path, and is stale when somebody writes a file under either", async () => {
      const input = { position: USE, includeDeclaration: true };
      const [throughLink, direct] = [link, real].map(
        (folder) =>
          new PagedQuestion(gateway.client, "vscode.lsp.references", {
            uri: uriOf(folder, "src/mistakes.ts"),
            ...input,
          }),
      ) as [PagedQuestion, PagedQuestion];
      for (const folder of [real, link]) {
        await untilHeardOfAll(gateway.window, link);
        const { cursor } = await throughLink.firstPage();
        assert.deepEqual(await direct.changedSince(cursor), []);
        writeFileSync(join(folder, "src", "appeared.ts"), `export const from = "${folder}";\n`);
        assert.deepEqual(await direct.changeSince(cursor), ["fs"]);
      }
    });
  });

  describe("what lies outside the workspace, and files of every kind in it", () => {
    let folder: string;
    let parent: string;
    let gateway: GatewayWindow;

    before(async () => {
      parent = temporaryFolder("outside");
      for (const library of ["charts", "tides"]) {
        mkdirSync(join(parent, library));
        writeFileSync(join(parent, library, "index.d.ts"), `export declare function ${library}(): number;\n`);
      }
      folder = copyWorkspace();
      const imports = ["charts", "tides"].map((name) => `import { ${name} } from "${join(parent, name, "index")}";\n`);
      writeFileSync(join(folder, "src", "pilot.ts"), `${imports.join("")}\nexport const here = [charts(), tides()];\n`);
      for (const name of ODD_NAMES) {
        mkdirSync(join(folder, "src", name));
        writeFileSync(join(folder, "src", name, `${name}.ts`), "export class Buoy {}\n");
        const used = JSON.stringify(`./${name}`);
        writeFileSync(join(folder, "src", name, "use.ts"), `import { Buoy } from ${used};\n\nnew Buoy();\n`);
      }
      // The editor tells of a folder for its settings that appears later once more, whenever it gets round to watching it.
      mkdirSync(join(folder, ".vscode"));
      addRoots();
      gateway = await openGateway(editor, folder);
      await untilLoaded(gateway, uriOf(folder, "src/ship.ts"));
    });

    after(async () => {
      await gateway?.client.close();
      await gateway?.window.close();
      for (const each of [parent, folder]) {
        removeFolder(each);
      }
    });

    test("scenario 7: a definition in a file outside the roots is left out and counted", async () => {
      for (const use of [CHARTS, TIDES]) {
        assert.deepEqual(await definition(use), LEFT_OUT);
      }
    });

    test("scenario 7: a folder that the workspace's settings add while it is open stays outside when the person refuses it", async () => {
      addRoots("charts");
      await gateway.window.answerNotification(join(parent, "charts"), "Don't Allow");
      // The question does not come back with the next change of the settings, which is about another folder.
      addRoots("charts", "tides");
      await gateway.window.notification(join(parent, "tides"));
      assert.deepEqual(await definition(CHARTS), LEFT_OUT);
      assert.deepEqual(await definition(TIDES), LEFT_OUT);
    });

    test("scenario 7: once the person allows it, what is in it is there, and it is watched", async () => {
      const question = new PagedQuestion(gateway.client, "vscode.lsp.references", {
        uri: uriOf(folder, "src/ship.ts"),
        position: DECLARATION.start,
      });
      await untilHeardOfAll(gateway.window, folder);
      const { cursor } = await question.firstPage();
      await gateway.window.screenshot("scenario-7");
      await gateway.window.answerNotification(join(parent, "tides"), "Allow");
      const tides = { uri: uriOf(parent, "tides/index.d.ts"), range: on(0, 24, 29) };
      const found = await eventually(
        () => definition(TIDES),
        ({ locations }) => locations.length > 0,
      );
      assert.deepEqual(found, { locations: [tides], summary: "Found 1 definition." });
      assert.deepEqual(await definition(CHARTS), LEFT_OUT);
      assert.deepEqual(await question.changedSince(cursor), ["roots"]);
      await gateway.client.call("vscode.lsp.documentSymbols", { uri: tides.uri });
      await fails(uriOf(parent, "charts/index.d.ts"), "WORKSPACE_DENIED");

      const { cursor: next } = await question.firstPage();
      let written = 0;
      const changed = await eventually(
        () => {
          // A watcher that was made a moment ago may not see anything yet.
          writeFileSync(join(parent, "tides", `more-${written++}.d.ts`), "export {};\n");
          return question.changedSince(next);
        },
        (changed) => changed.length > 0,
      );
      assert.deepEqual(changed, ["fs"]);
    });

    test("scenario 7: when the settings no longer name it, it is outside again", async () => {
      addRoots();
      const found = await eventually(
        () => definition(TIDES),
        ({ locations }) => locations.length === 0,
      );
      assert.deepEqual(found, LEFT_OUT);
    });

    for (const name of ODD_NAMES) {
      test(`scenario 9: a path with ${JSON.stringify(name)} in it gives the right answer`, async () => {
        const [use, file] = ["use.ts", `${name}.ts`].map((part) => uriOf(folder, join("src", name, part))) as [
          string,
          string,
        ];
        const declaration = { uri: file, range: on(0, 13, 17) };
        // Other programs leave more characters as they are.
        const spelled = pathToFileURL(join(folder, "src", name, "use.ts")).href;
        const { locations } = await gateway.client.definition(spelled, { line: 2, character: 5 });
        assert.deepEqual(locations, [declaration]);
        const references = [declaration, { uri: use, range: on(0, 9, 13) }, { uri: use, range: on(2, 4, 8) }];
        assert.deepEqual(
          await gateway.client.references(file, { line: 0, character: 14 }),
          references.sort((a, b) => (a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0)),
        );
        const held = await gateway.window.inside(
          (vscode, folder) =>
            vscode.workspace.textDocuments.map(({ uri }) => uri.fsPath).filter((path) => path.startsWith(folder)),
          join(folder, "src", name),
        );
        assert.deepEqual(
          new Set(held),
          new Set([join(folder, "src", name, `${name}.ts`), join(folder, "src", name, "use.ts")]),
        );
      });
    }

    test("scenario 9: a binary file, and a directory, are not found", async () => {
      writeFileSync(
        join(folder, "chart.ts"),
        Uint8Array.from({ length: 4096 }, (_, index) => (index * 7) % 256),
      );
      await fails(uriOf(folder, "chart.ts"), "NOT_FOUND");
      await fails(uriOf(folder, "src"), "NOT_FOUND");
      await fails(`${uriOf(folder, "src")}/`, "NOT_FOUND");
    });

    test("scenario 9: a file of 60 MB is not found, soon", async (t: TestContext) => {
      const file = openSync(join(folder, "large.ts"), "w");
      writeFileSync(file, "export const large = 1;\n");
      // Blanks, so that it is text.
      const blanks = Buffer.alloc(1_000_000, " ");
      for (let written = 0; written < 60; written++) {
        writeFileSync(file, blanks);
      }
      closeSync(file);
      const started = performance.now();
      await fails(uriOf(folder, "large.ts"), "NOT_FOUND");
      t.diagnostic(`answered after ${Math.round(performance.now() - started)} ms`);
    });

    test("scenario 9: a file that is deleted between two calls is gone, and its symbols with it", async () => {
      const uri = uriOf(folder, "src/wreck.ts");
      writeFileSync(join(folder, "src", "wreck.ts"), 'import { Ship } from "./ship";\n\nexport const wreck = Ship;\n');
      const ask = (): Promise<{ symbols: readonly unknown[] }> =>
        gateway.client.call("vscode.lsp.documentSymbols", { uri });
      assert.equal((await ask()).symbols.length, 1);
      const { uri: ship } = { uri: uriOf(folder, "src/ship.ts") };
      const mentions = async (): Promise<boolean> =>
        (await gateway.client.references(ship, DECLARATION.start)).some((location) => location.uri === uri);
      assert.equal(await eventually(mentions, (mentioned) => mentioned), true);
      rmSync(join(folder, "src", "wreck.ts"));
      await fails(uri, "URI_INVALID");
      assert.equal(await mentions(), false);
    });

    test("scenario 9: a symlink that leads nowhere is no usable URI inside the roots, and denied outside", async () => {
      symlinkSync(join(folder, "src", "nowhere.ts"), join(folder, "src", "inside.ts"));
      symlinkSync(join(parent, "nowhere.ts"), join(folder, "src", "outside.ts"));
      symlinkSync(join(folder, "src", "circle.ts"), join(folder, "src", "circle.ts"));
      symlinkSync(join(parent, "charts", "index.d.ts"), join(folder, "src", "existing.ts"));
      await fails(uriOf(folder, "src/inside.ts"), "URI_INVALID");
      await fails(uriOf(folder, "src/circle.ts"), "URI_INVALID");
      const [missing, existing] = await Promise.all([
        fails(uriOf(folder, "src/outside.ts"), "WORKSPACE_DENIED"),
        fails(uriOf(folder, "src/existing.ts"), "WORKSPACE_DENIED"),
      ]);
      assert.equal(missing, existing);
    });

    function definition({ line, character }: { line: number; character: number }): Promise<DefinitionPayload> {
      return gateway.client.definition(uriOf(folder, "src/pilot.ts"), { line, character });
    }

    /** What an agent could write into the workspace's settings. */
    function addRoots(...names: readonly string[]): void {
      const paths = names.map((name) => join(parent, name));
      writeFileSync(
        join(folder, ".vscode", "settings.json"),
        JSON.stringify({ "mcpLspGateway.additionalAllowedRoots": paths }),
      );
    }

    /** Each tool that takes a document refuses this one with this code. Resolves to what it says. */
    async function fails(uri: string, code: string): Promise<string> {
      const messages = new Set<string>();
      for (const tool of ["definition", "references", "hover", "documentSymbols", "diagnostics.document"]) {
        const at = /^(document|diag)/.test(tool) ? {} : { position: { line: 0, character: 0 } };
        await assert.rejects(gateway.client.call(`vscode.lsp.${tool}`, { uri, ...at }), (error) => {
          assert.ok(error instanceof ToolFailure, String(error));
          assert.equal(error.code, code, `${tool}: ${error.message}`);
          messages.add(error.message);
          return true;
        });
      }
      assert.equal(messages.size, 1, [...messages].join("\n"));
      return [...messages].join();
    }
  });
});

/** As VS Code writes it, and so the gateway (D30). */
function uriOf(folder: string, file: string): string {
  return URI.file(join(folder, file)).toString();
}

/** Waits until the editor knows more than the file's own references of `Ship`. */
async function untilLoaded({ client }: GatewayWindow, uri: string): Promise<void> {
  await eventually(
    () => client.references(uri, DECLARATION.start),
    (items) => new Set(items.map((item) => item.uri)).size >= 3,
  );
}
