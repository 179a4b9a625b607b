import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LoopbackProxy } from "./loopback-proxy.ts";
import { ReplayHost, temporaryFolder } from "./replay-host.ts";

const SUITE = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js",
);
const EXPECTED_FAILURES = fileURLToPath(new URL("conformance-expected-failures.yml", import.meta.url));

/** What applies to a server of tools with a fixed catalog. */
const PASSING = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

test("of the official conformance scenarios exactly the listed ones fail, and those that apply pass", async (t) => {
  const folder = await temporaryFolder(t);
  const proxy = await LoopbackProxy.start(t);
  // The suite's own requests carry the origin of the address that it was given.
  const settings = { allowedOrigins: JSON.stringify([proxy.origin]) };
  const host = await ReplayHost.start(t, { roots: [folder], provider: {}, settings });
  proxy.target = { url: host.url, authorization: host.authorization };

  const { code, output } = await runSuite(folder, proxy.url);

  assert.equal(code, 0, output);
  for (const scenario of PASSING) {
    assert.match(output, new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`));
  }
});

type Outcome = { code: number | string; output: string };

/** Runs all scenarios against `url`. A scenario that is listed and passes is a failure of the whole run, too. */
function runSuite(folder: string, url: string): Promise<Outcome> {
  const args = [SUITE, "server", "--url", url, "--suite", "all", "--expected-failures", EXPECTED_FAILURES];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, timeout: 120_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? "ended by a signal"), output: stdout + stderr }),
    );
  });
}
