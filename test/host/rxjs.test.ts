import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Location } from "../../scripts/gateway-client.ts";
import type { RealVsCode } from "../../scripts/real-vscode.ts";
import { eventually, type GatewayWindow, openGateway, startEditor } from "./gateway-window.ts";
import { LanguageServer } from "./language-server.ts";
import { type Place, RxjsWorkspace } from "./rxjs-workspace.ts";

const POSITIONS = 50;
const SEED = 20_251_125;

describe("on the sources of rxjs", () => {
  let rxjs: RxjsWorkspace;
  let server: LanguageServer;
  let editor: RealVsCode;
  let gateway: GatewayWindow;
  let everyObservable: Location[];

  before(async () => {
    rxjs = await RxjsWorkspace.create();
    [server, editor] = await Promise.all([LanguageServer.start(rxjs.folder), startEditor()]);
    const declaration = rxjs.find("src/internal/Observable.ts", "Observable<T>", "export class");
    everyObservable = await server.references(declaration.uri, declaration.position);
    gateway = await openGateway(editor, rxjs.folder);
    // Right after its start the editor's language server answers in part; it is ready when it knows them all.
    const known = await eventually(
      () => gateway.client.references(declaration.uri, declaration.position),
      ({ length }) => length === everyObservable.length,
    );
    assert.deepEqual(known, everyObservable);
  });

  after(async () => {
    await gateway?.client.close();
    await Promise.all([editor?.stop(), server?.stop()]);
    rxjs?.remove();
  });

  test("all references of Observable are paged through in a file that was never open, with other files asked about in between", async () => {
    const place = rxjs.find("src/internal/scheduled/scheduleArray.ts", "Observable", "export function");
    const others = rxjs.sample(20, SEED + 1).filter(({ uri }) => uri !== place.uri);
    const items: Location[] = [];
    let pages = 0;
    const input = { uri: place.uri, position: place.position, includeDeclaration: true, pageSize: 50 };
    for await (const page of gateway.client.pages<Location>("vscode.lsp.references", input)) {
      pages += 1;
      items.push(...page.items);
      const other = others[pages % others.length] as Place;
      await gateway.client.definition(other.uri, other.position);
    }
    assert.deepEqual(items, everyObservable);
    assert.equal(pages, Math.ceil(everyObservable.length / 50));
  });

  test(`definitions at ${POSITIONS} positions equal those of the language server asked directly`, async () => {
    const answers = { empty: 0, full: 0 };
    for (const place of rxjs.sample(POSITIONS, SEED)) {
      const expected = await server.definition(place.uri, place.position);
      const { locations } = await gateway.client.definition(place.uri, place.position);
      assert.deepEqual(locations, expected, describePlace(place));
      answers[expected.length === 0 ? "empty" : "full"] += 1;
    }
    assert.ok(answers.full > answers.empty, `Most of the positions mean something: ${JSON.stringify(answers)}`);
  });

  test(`references at ${POSITIONS} positions equal those of the language server asked directly`, async () => {
    const answers = { empty: 0, full: 0 };
    for (const place of rxjs.sample(POSITIONS, SEED)) {
      const expected = await server.references(place.uri, place.position);
      const found = await gateway.client.references(place.uri, place.position);
      assert.deepEqual(found, expected, describePlace(place));
      answers[expected.length === 0 ? "empty" : "full"] += 1;
    }
    assert.ok(answers.full > answers.empty, `Most of the positions mean something: ${JSON.stringify(answers)}`);
  });

  test("a picture is taken of the editor with the gateway's port and its log", async () => {
    const { window } = gateway;
    await window.runCommand("MCP LSP Gateway: Show Log");
    await window.openFile("src/internal/Observable.ts");
    assert.match(await window.status(/MCP \d+/), /listens on port \d+/);
    await window.screenshot("rxjs");
  });
});

function describePlace({ word, uri, position }: Place): string {
  return `${word} at ${uri}:${position.line}:${position.character}`;
}
