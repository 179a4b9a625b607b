import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Position } from "../../harness/clients/gateway-client.ts";
import {
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
  temporaryFolder,
} from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import {
  type DocumentSymbolItem,
  type HoverPayload,
  normalisedDocumentSymbols,
  normalisedHover,
} from "../../harness/languages/normalised.ts";
import { documentSymbolsInside, hoversInside } from "./own-commands.ts";

/** A file of each language that VS Code itself answers for, with names in its outline and a place to hover over. */
const FILES: readonly { file: string; text: string; names: readonly string[]; hover: Position; tells: string }[] = [
  {
    file: "settings.json",
    text: '{\n  "fleet": { "boats": ["Longboat", "Dinghy"] },\n  "depth": 4\n}\n',
    names: ["fleet", "boats", "0", "1", "depth"],
    hover: { line: 2, character: 4 },
    tells: "",
  },
  {
    file: "style.css",
    text: ".boat {\n  color: red;\n}\n\n#quay {\n  margin: 0;\n}\n",
    names: [".boat", "#quay"],
    hover: { line: 1, character: 3 },
    tells: "color",
  },
  {
    file: "page.html",
    text: '<!doctype html>\n<html>\n  <body>\n    <main id="quay"><p class="boat">Longboat</p></main>\n  </body>\n</html>\n',
    names: ["html", "body", "main#quay", "p.boat"],
    hover: { line: 3, character: 6 },
    tells: "main",
  },
];

describe("JSON, CSS and HTML, for which VS Code itself answers", () => {
  const folder = temporaryFolder("data");
  let editor: RealVsCode;
  let gateway: GatewayWindow;

  before(async () => {
    for (const { file, text } of FILES) {
      writeFileSync(join(folder, file), text);
    }
    editor = await startEditor();
    gateway = await openGateway(editor, folder);
  });

  after(async () => {
    await gateway?.client.close();
    await editor?.stop();
    removeFolder(folder);
  });

  for (const { file, names, hover, tells } of FILES) {
    test(`the outline of ${file} and a hover in it are what VS Code's own commands return, from the first call on`, async () => {
      const uri = pathToFileURL(join(folder, file)).href;
      const { symbols } = await gateway.client.call<{ symbols: DocumentSymbolItem[] }>("vscode.lsp.documentSymbols", {
        uri,
      });
      const payload = await gateway.client.call<HoverPayload>("vscode.lsp.hover", { uri, position: hover });
      assert.deepEqual(symbols, normalisedDocumentSymbols(uri, await documentSymbolsInside(gateway.window, uri)));
      assert.deepEqual(symbols.map(({ name }) => name).toSorted(), names.toSorted());
      const { contents, range } = payload;
      const expected = normalisedHover(await hoversInside(gateway.window, uri, hover));
      assert.deepEqual({ contents, ...(range === undefined ? {} : { range }) }, expected);
      assert.ok(
        contents
          .map(({ value }) => value)
          .join("\n")
          .includes(tells),
        JSON.stringify(contents),
      );
    });
  }
});
