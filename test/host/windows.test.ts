import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { eventually } from "../../scripts/eventually.ts";
import { type DefinitionPayload, ToolFailure } from "../../scripts/gateway-client.ts";
import { pickSubject } from "../../scripts/pick-subject.ts";
import type { RealVsCode } from "../../scripts/real-vscode.ts";
import { copyWorkspace, openGateway, removeFolder, startEditor, stateOf, statusFor } from "./gateway-window.ts";

describe("two windows on one machine", () => {
  let folders: readonly [string, string];
  let editor: RealVsCode;

  before(async () => {
    folders = [copyWorkspace(), copyWorkspace()];
    editor = await startEditor();
  });

  after(async () => {
    await editor?.stop();
    for (const folder of folders) {
      removeFolder(folder);
    }
  });

  test("each has a port and a token of its own and answers for its own folder only", async () => {
    const first = await openGateway(editor, folders[0]);
    const second = await openGateway(editor, folders[1]);
    const windows = [
      { ...first, folder: folders[0], other: second.configuration, foreign: folders[1] },
      { ...second, folder: folders[1], other: first.configuration, foreign: folders[0] },
    ];
    assert.notEqual(first.configuration.url, second.configuration.url);
    assert.notEqual(first.configuration.token, second.configuration.token);
    for (const { client, window, configuration, folder, other, foreign } of windows) {
      assert.equal(await statusFor(configuration.url, configuration.token), 200);
      assert.equal(await statusFor(configuration.url, other.token), 401);
      const { use, declaration } = pickSubject(folder);
      // Before the project is loaded, the nearest thing to a definition is the import in the same file.
      const isFound = ({ locations: [first] }: DefinitionPayload): boolean => first?.uri === declaration.uri;
      const answer = await eventually(() => client.definition(use.uri, use.position), isFound);
      assert.ok(isFound(answer), `${JSON.stringify(answer)}\n${await stateOf(editor, window)}`);
      assert.deepEqual(
        answer.locations.map(({ uri, range }) => ({ uri, position: range.start })),
        [{ uri: declaration.uri, position: declaration.position }],
      );
      const outside = pathToFileURL(`${foreign}/src/ship.ts`).href;
      await assert.rejects(client.definition(outside, { line: 0, character: 0 }), (error) => {
        assert.ok(error instanceof ToolFailure);
        assert.equal(error.code, "WORKSPACE_DENIED");
        return true;
      });
    }
  });
});
