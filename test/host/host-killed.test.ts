import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ToolFailure } from "../../harness/clients/gateway-client.ts";
import {
  connect,
  copyWorkspace,
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
} from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import { eventually } from "../../harness/machine/eventually.ts";

/** Where `Ship` is declared. */
const POSITION = { line: 8, character: 13 };

interface References {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

describe("the extension host is killed and started again", () => {
  let folder: string;
  let editor: RealVsCode;
  let gateway: GatewayWindow;

  before(async () => {
    folder = copyWorkspace();
    editor = await startEditor();
    gateway = await openGateway(editor, folder);
  });

  after(async () => {
    await gateway?.client.close();
    await editor?.stop();
    removeFolder(folder);
  });

  test("the session goes on at the same port with the same token, and no cursor from before gives a page", async () => {
    const { client, window, configuration } = gateway;
    const uri = pathToFileURL(join(folder, "src/ship.ts")).href;
    const page = (cursor: string | null, pageSize = 1): Promise<References> =>
      client.call("vscode.lsp.references", { uri, position: POSITION, includeDeclaration: true, pageSize, cursor });
    const all = (
      await eventually(
        () => page(null, 200),
        ({ items }) => items.length >= 3,
      )
    ).items;
    assert.ok(all.length >= 3, `${all.length} references`);
    const { nextCursor } = await page(null);
    assert.deepEqual((await page(nextCursor, 200)).items, all.slice(1));

    const pid = await window.inside((vscode, uri) => {
      vscode.languages.registerHoverProvider(
        { pattern: "**/ship.ts" },
        {
          provideHover: () => {
            process.kill(process.pid, "SIGKILL");
            return undefined;
          },
        },
      );
      return vscode.Uri.parse(uri) && process.pid;
    }, uri);
    const lost = client.callOnce("vscode.lsp.hover", { uri, position: POSITION }).then(
      () => "answered",
      (error: unknown) => (error instanceof ToolFailure ? error.code : "the connection ended"),
    );
    assert.equal(await lost, "the connection ended");
    await eventually(
      async () => isRunning(pid),
      (running) => !running,
    );
    assert.ok(!isRunning(pid), "nothing of it listens any more");

    const { configuration: again, client: another } = await connect(window);
    await another.close();
    assert.deepEqual([again.url, again.token], [configuration.url, configuration.token]);
    assert.notEqual(await window.inside(() => process.pid, undefined), pid);
    // The first client goes on in its session: it would not begin another by itself.
    const restarted = await eventually(
      () => page(null, 200),
      ({ items }) => items.length >= 3,
    );
    assert.deepEqual(restarted.items, all);
    const fresh = await page(null);
    await assert.rejects(page(nextCursor), { code: "CURSOR_STALE" });
    assert.deepEqual((await page(fresh.nextCursor, 200)).items, all.slice(1));
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
