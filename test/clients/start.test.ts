// `npm start -- <folder> --headless`: what a person sees first who has no editor.

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { StdioClient } from "../../harness/clients/stdio-client.ts";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import { placeIn } from "../../harness/languages/sample.ts";
import { root, serversFolder } from "../../harness/layout.ts";
import { cacheFolder } from "../../harness/machine/cache.mjs";
import { ownEnvironment } from "../../harness/machine/own-environment.ts";
import { run } from "../../harness/machine/processes.mjs";

const EXAMPLE = join(root, "harness", "workspace");

describe("npm start --headless", () => {
  let own: string;
  let env: NodeJS.ProcessEnv;

  before(() => {
    own = temporaryFolder("headless-start");
    // The downloads are shared with everything else that needs them.
    mkdirSync(join(own, "CACHE"));
    symlinkSync(cacheFolder, join(own, "CACHE", "vscode-mcp-lsp-gateway"));
    env = ownEnvironment(own);
  });

  after(() => removeFolder(own));

  test("prints what every tool answered, and the entry by which a client is answered", async () => {
    const { code, stdout, output } = await start(["--headless", "--trust"], env);
    assert.equal(code, 0, output);
    assert.match(stdout, /^vscode\.lsp\.definition .*\n {2}Found 1 definition\.\n {2}src\/ship\.ts:9:14$/m);
    assert.match(stdout, /^vscode\.lsp\.references .*\n {2}16 items on 1 page\n {2}src\/berth\.ts:1:15$/m);
    const mistake =
      "  src/mistakes.ts:5:52  ts 2345 Argument of type 'string' is not assignable to parameter of type 'number'.";
    assert.ok(stdout.includes(`\n${mistake}\n`), stdout);
    assert.equal(stdout.match(/^vscode\.lsp\.\S+ {2}\(/gm)?.length, 7);

    const configuration = /^Client configuration:\n(\{[\s\S]*?^\})$/m.exec(stdout)?.[1] ?? assert.fail(stdout);
    const { command, args } = JSON.parse(configuration).mcpServers.lsp;
    assert.deepEqual(args, ["--root", EXAMPLE, "--trust"]);
    const client = await StdioClient.start({ program: command, args, env: ownEnvironment(own, serversFolder) });
    const { uri } = placeIn(EXAMPLE, "src/ship.ts", "Vessel");
    const { summary } = await client.callOnce<{ summary: string }>("vscode.lsp.documentSymbols", { uri });
    await client.close();
    assert.equal(summary, "Returned 11 document symbols.");
  });

  test("fails where no language server answers", async () => {
    const folder = temporaryFolder("unknown");
    writeFileSync(join(folder, "ship.rb"), "class Ship\nend\n");
    const { code, stdout } = await start([folder, "--headless"], env);
    removeFolder(folder);
    assert.equal(code, 1);
    assert.match(stdout, /^vscode\.lsp\.definition .*\n {2}.*PROVIDER_UNAVAILABLE\]$/m);
  });
});

function start(args: readonly string[], env: NodeJS.ProcessEnv): ReturnType<typeof run> {
  return run(process.execPath, [join(root, "scripts", "start.ts"), ...args], { env });
}
