import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { delimiter, join } from "node:path";
import { describe, test } from "node:test";
import { initialize, removeFolder, statusFor, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import { parseConfiguration } from "../../harness/editor/handover.ts";
import { typescript7 } from "../../harness/languages/language-servers.ts";
import { root } from "../../harness/layout.ts";
import { cacheFolder } from "../../harness/machine/cache.mjs";

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("npm start", () => {
  test("prints what every tool answered and how to connect, stays up until Ctrl-C, and leaves nothing behind", async () => {
    let endpoint = "";
    const { code, stdout, stderr } = await start([], async (printed, interrupt) => {
      const configuration = /^Client configuration:\n(\{[\s\S]*?^\})$/m.exec(printed)?.[1];
      if (configuration !== undefined && /^Where to look: /m.test(printed) && endpoint === "") {
        const { url, token } = parseConfiguration(configuration);
        endpoint = url;
        assert.equal(await statusFor(url, token), 200);
        const address = new URL(/^Where to look: (\S+)$/m.exec(printed)?.[1] ?? assert.fail(printed));
        assert.equal(await statusUnderName(address, address.host), 200, "no login");
        assert.equal(await statusUnderName(address, `evil.example:${address.port}`), 403);
        interrupt();
      }
    });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^vscode\.lsp\.definition .*\n {2}Found 1 definition\.\n {2}src\/ship\.ts:9:14$/m);
    assert.match(stdout, /^vscode\.lsp\.references .*\n {2}16 items on 1 page\n {2}src\/berth\.ts:1:15$/m);
    assert.match(
      stdout,
      /^vscode\.lsp\.hover .*\n {2}Hover available\.\n {2}```typescript\n {2}\(alias\) class Ship$/m,
    );
    assert.match(
      stdout,
      /^vscode\.lsp\.documentSymbols .*\n {2}Returned 11 document symbols\.\n {2}Vessel {2}src\/ship/m,
    );
    assert.match(stdout, /^vscode\.lsp\.workspaceSymbols .*\n {2}1 items on 1 page\n {2}Ship {2}src\/ship\.ts:9:1$/m);
    const mistake =
      "  src/mistakes.ts:5:52  ts 2345 Argument of type 'string' is not assignable to parameter of type 'number'.";
    assert.ok(stdout.includes(`\n  Returned 4 diagnostics.\n${mistake}\n`), stdout);
    assert.ok(stdout.includes(`\n  1 items on 1 page\n${mistake}\n`), stdout);
    assert.equal(stdout.match(/^vscode\.lsp\.\S+ {2}\(/gm)?.length, 7);
    assert.match(stdout, new RegExp(`^Endpoint: ${endpoint}$`, "m"));
    await assert.rejects(initialize(endpoint, "any", "2025-11-25"), "Nothing listens any more.");
  });

  test("asks language servers without an editor where VS Code cannot be installed", async () => {
    const folder = temporaryFolder("no-editor");
    const downloads = join(folder, "vscode-mcp-lsp-gateway");
    const programs = join(folder, "programs");
    mkdirSync(downloads);
    mkdirSync(programs);
    await typescript7();
    for (const name of readdirSync(cacheFolder).filter((name) => !name.startsWith("code-server-"))) {
      symlinkSync(join(cacheFolder, name), join(downloads, name));
    }
    writeFileSync(join(programs, "npm"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const { code, stdout, stderr } = await start([], () => {}, {
      ...process.env,
      ...{ DISPLAY: "", WAYLAND_DISPLAY: "", npm_execpath: "" },
      XDG_CACHE_HOME: folder,
      PATH: [programs, process.env["PATH"]].join(delimiter),
    });
    removeFolder(folder);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Installing code-server@\S+ failed: .*\nVS Code cannot be installed here: /m);
    assert.match(stdout, /^vscode\.lsp\.definition .*\n {2}Found 1 definition\.\n {2}src\/ship\.ts:9:14$/m);
    const configuration = /^Client configuration:\n(\{[\s\S]*?^\})$/m.exec(stdout)?.[1] ?? assert.fail(stdout);
    assert.deepEqual(JSON.parse(configuration).mcpServers.lsp.args, ["--root", join(root, "harness", "workspace")]);
  });

  test("fails when nobody in the editor can tell a definition or a reference", async () => {
    const folder = temporaryFolder("unknown");
    writeFileSync(join(folder, "ship.rb"), "class Ship\nend\n");
    const { code, stdout } = await start([folder, "--once"], () => {});
    removeFolder(folder);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^vscode\.lsp\.definition .*\n(?: {2}Found no definition[.;].*| {2}.*PROVIDER_UNAVAILABLE\])$/m,
    );
  });

  test("says in one sentence that a folder has nothing to ask about", async () => {
    const folder = temporaryFolder("empty");
    const { code, stderr } = await start([folder, "--once"], () => {});
    removeFolder(folder);
    assert.equal(code, 1);
    assert.match(stderr, /^Nothing to ask about was found in [^\n]*: give a folder [^\n]*\n$/);
  });
});

/** The HTTP status of the page for a browser that was told its address under this name. */
async function statusUnderName({ hostname, port, pathname, search }: URL, host: string): Promise<number | undefined> {
  const outgoing = get({ hostname, port, path: pathname + search, headers: { host }, agent: false });
  const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

/** Runs the command to its end; `watch` sees all it has printed so far, each time it prints. */
function start(
  args: readonly string[],
  watch: (stdout: string, interrupt: () => void) => void | Promise<void>,
  env = process.env,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "scripts", "start.ts"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      Promise.resolve(watch(stdout, () => child.kill("SIGINT"))).catch((error: unknown) => {
        child.kill("SIGINT");
        reject(error);
      });
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
