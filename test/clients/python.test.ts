import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { pythonWith } from "../../harness/machine/python.ts";
import { type Answer, assertAnswered, callsAbout } from "./conversation.ts";
import { LoopbackProxy } from "./loopback-proxy.ts";
import { writeProject } from "./project.ts";
import { ReplayHost, temporaryFolder } from "./replay-host.ts";
import { TOOLS } from "./schemas.ts";

const SESSION = fileURLToPath(new URL("session.py", import.meta.url));

const LIBRARIES = [
  { library: "mcp1", requirement: "mcp==1.30.0", probes: false },
  { library: "mcp2", requirement: "mcp==2.3.0", probes: true },
  { library: "fastmcp", requirement: "fastmcp==4.1.2", probes: true },
];

/** What session.py prints. */
type Report = { revision: string; server: string; tools: string[]; answers: Answer[] };

for (const { library, requirement, probes } of LIBRARIES) {
  test(`${requirement} of Python gets through a session: all seven tools, every page, an error and the end`, async (t) => {
    const python = await pythonWith(requirement);
    const folder = await temporaryFolder(t);
    const project = await writeProject(folder);
    const host = await ReplayHost.start(t, { roots: [folder], provider: project.provider });
    const proxy = await LoopbackProxy.start(t);
    proxy.target = { url: host.url };

    const plan = { url: proxy.url, token: host.token, calls: callsAbout(project) };
    const { revision, server, tools, answers } = await converse(python, library, plan);

    assert.equal(revision, "2025-11-25");
    assert.equal(server, "vscode-mcp-lsp-gateway");
    assert.deepEqual(tools, [...TOOLS]);
    assertAnswered(answers, project);
    const [first] = proxy.seen;
    assert.deepEqual(
      first,
      { method: "POST", status: probes ? 400 : 200 },
      "a probe for newer revisions is turned down",
    );
    // Its wish for a stream may come as late.
    const ends = proxy.seen.filter(({ method }) => method !== "GET");
    assert.deepEqual(ends.at(-1), { method: "DELETE", status: 204 }, "the session is ended");
  });
}

async function converse(python: string, library: string, plan: object): Promise<Report> {
  const child = spawn(python, [SESSION, library], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(plan));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}
