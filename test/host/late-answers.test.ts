import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type Position, ToolFailure } from "../../harness/clients/gateway-client.ts";
import {
  copyWorkspace,
  type GatewayWindow,
  openGateway,
  removeFolder,
  startEditor,
} from "../../harness/editor/gateway-window.ts";
import type { RealVsCode } from "../../harness/editor/real-vscode.ts";
import type { HoverPayload } from "../../harness/languages/normalised.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { untilHeardOfAll } from "./cursors.ts";

/** What the test's hover provider in the extension host is told and tells. */
interface Provider {
  /** When it answers: at once, when it is released, or not at all. */
  mode: "at once" | "released" | "never";
  asked: number;
  waiting: (() => void)[];
}

const LIMIT_MS = 2_000;

describe("scenario 8: providers that take their time", () => {
  let folder: string;
  let editor: RealVsCode;
  let gateway: GatewayWindow;
  let input: { readonly uri: string; readonly position: Position };

  before(async () => {
    folder = copyWorkspace();
    const file = join(folder, "slow.ini");
    writeFileSync(file, "[slow]\n");
    input = { uri: pathToFileURL(file).href, position: { line: 0, character: 1 } };
    editor = await startEditor();
    gateway = await openGateway(editor, folder);
    await gateway.window.inside((vscode) => {
      const provider: Provider = { mode: "at once", asked: 0, waiting: [] };
      Object.assign(globalThis, { provider });
      vscode.languages.registerHoverProvider("ini", {
        provideHover: () => {
          provider.asked += 1;
          const hover = new vscode.Hover(`an answer given ${provider.mode}`);
          if (provider.mode === "at once") {
            return hover;
          }
          const released = provider.mode === "released";
          return new Promise((resolve) => {
            if (released) {
              provider.waiting.push(() => resolve(hover));
            }
          });
        },
      });
    }, undefined);
    // After two equal answers its language counts as ready, and is asked once for each call.
    assert.equal(await hover(), "an answer given at once");
  });

  beforeEach(() => setMode("at once"));

  after(async () => {
    await gateway?.client.close();
    await editor?.stop();
    removeFolder(folder);
  });

  test("one that never answers is given up at the time limit, and two identical calls ask it once", async () => {
    await setMode("never");
    const begun = performance.now();
    const failures = await Promise.all([failure(), failure()]);
    const took = performance.now() - begun;
    for (const { code, details } of failures) {
      assert.deepEqual({ code, details }, { code: "CAP_EXCEEDED", details: { reason: "timeout", retryable: true } });
    }
    assert.ok(took >= LIMIT_MS, `${took} ms`);
    assert.equal(await asked(), 1);
  });

  test("one that answers when the time is over serves the call that has come since, or comes soon after", async () => {
    await forget();
    await setMode("released");
    assert.deepEqual((await failure()).details, { reason: "timeout", retryable: true });
    const joined = hover();
    await release();
    assert.equal(await joined, "an answer given released");
    assert.equal(await asked(), 1);

    await setMode("released");
    await failure();
    await release();
    // Whoever is asked from here on gives no answer.
    await setMode("never");
    assert.equal(await hover(), "an answer given released");
    assert.equal(await asked(), 0, "The answer was there before the call.");
    assert.equal((await failure()).code, "CAP_EXCEEDED", "It serves one call.");
  });

  /** The first answer that does not ask for another try. */
  async function hover(): Promise<string | undefined> {
    const { contents } = await gateway.client.call<HoverPayload>("vscode.lsp.hover", input);
    return contents[0]?.value;
  }

  async function failure(): Promise<ToolFailure> {
    const outcome = await gateway.client.callOnce("vscode.lsp.hover", input).catch((error: unknown) => error);
    assert.ok(outcome instanceof ToolFailure, JSON.stringify(outcome));
    return outcome;
  }

  /** Makes the ask that is under way one of a state of the workspace that is over. */
  async function forget(): Promise<void> {
    writeFileSync(join(folder, "src", "another.ini"), "");
    await untilHeardOfAll(gateway.window, folder);
    await eventually(
      async () => {
        await gateway.client.callOnce("vscode.lsp.hover", input).catch(() => {});
        return asked();
      },
      (count) => count > 0,
    );
  }

  function setMode(mode: Provider["mode"]): Promise<void> {
    return gateway.window.inside((_, mode) => {
      const { provider } = globalThis as unknown as { provider: Provider };
      Object.assign(provider, { mode, asked: 0 });
    }, mode);
  }

  function release(): Promise<void> {
    return gateway.window.inside(() => {
      const { provider } = globalThis as unknown as { provider: Provider };
      for (const answer of provider.waiting.splice(0)) {
        answer();
      }
    }, undefined);
  }

  function asked(): Promise<number> {
    return gateway.window.inside(() => (globalThis as unknown as { provider: Provider }).provider.asked, undefined);
  }
});
