import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LoopbackProxy } from "./loopback-proxy.ts";
import { ReplayHost, temporaryFolder } from "./replay-host.ts";

const SUITE = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);
const EXPECTED_FAILURES = fileURLToPath(new URL("conformance-expected-failures.yml", import.meta.url));

type Outcome = { code: number | string; output: string };

/** Runs the official suite against a gateway with nothing to answer from. */
async function runSuite(t: TestContext, args: string[]): Promise<Outcome> {
  const folder = await temporaryFolder(t);
  const proxy = await LoopbackProxy.start(t);
  // The suite's own requests carry the origin of the address it was given.
  const settings = { allowedOrigins: JSON.stringify([proxy.origin]) };
  const host = await ReplayHost.start(t, { roots: [folder], provider: {}, settings });
  proxy.target = { url: host.url, authorization: host.authorization };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [SUITE, "server", "--url", proxy.url, ...args],
      { cwd: folder, timeout: 120_000 },
      (error, stdout, stderr) =>
        resolve({ code: error?.code ?? (error === null ? 0 : "ended"), output: stdout + stderr }),
    );
  });
}

for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]) {
  test(`the conformance scenario ${scenario} passes`, async (t) => {
    const { code, output } = await runSuite(t, ["--scenario", scenario]);
    assert.equal(code, 0, output);
  });
}

test("of all conformance scenarios exactly the listed ones fail", async (t) => {
  const { code, output } = await runSuite(t, ["--suite", "all", "--expected-failures", EXPECTED_FAILURES]);
  assert.equal(code, 0, output);
});
