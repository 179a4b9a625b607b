// The extension in harness/editor/extensions/handover, never shipped, which gets the client configuration out of the editor
// by the gateway's own command.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { bundle } from "../build/bundle.ts";
import { unlessUnchanged } from "../build/unchanged.ts";
import { dist, packageCommand, root } from "../layout.ts";
import { succeed } from "../machine/processes.mjs";
import { Failure } from "../machine/progress.mjs";
import type { Answer, Api, Question } from "./extensions/handover/inside.ts";

/** How long an editor may take to open a window and to start its extensions. */
const PATIENCE = 300_000;

/** What a client needs to connect, as the gateway's command copied it. */
export interface ClientConfiguration {
  readonly url: string;
  readonly token: string;
  /** The whole text, as a person would paste it. */
  readonly text: string;
}

/** Bundles and packs the helper extension. Resolves to its VSIX. */
export function packHandover(): Promise<string> {
  return packTestExtension("handover");
}

/** Bundles and packs the extension of this name in harness/editor/extensions. Resolves to its VSIX. */
export async function packTestExtension(name: string): Promise<string> {
  const source = `harness/editor/extensions/${name}`;
  const file = join(dist, `${name}.vsix`);
  await unlessUnchanged(
    [file],
    // Some of them use what another has.
    { files: ["harness/editor/extensions/*/*", "package-lock.json", "harness/editor/handover.ts"] },
    async () => {
      // Test files that run side by side may both need it, and nobody may find a part of it.
      const folder = join(dist, `${name}-${process.pid}`);
      const packed = join(folder, "packed.vsix");
      await bundle(join(root, source, "extension.ts"), join(folder, "extension.cjs"));
      copyFileSync(join(root, source, "package.json"), join(folder, "package.json"));
      const [node, vsce] = packageCommand("@vscode/vsce", "vsce");
      await succeed(
        `Packing the test extension ${name} failed: mend what vsce reports above.`,
        node,
        [vsce, "package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", packed],
        { cwd: folder },
      );
      renameSync(packed, file);
      rmSync(folder, { recursive: true });
    },
  );
  return file;
}

/** What the helper extension in a window on one folder uses: where it writes, and where it listens. */
export interface HandoverFiles {
  readonly configuration: string;
  readonly socket: string;
}

/** The files for a window on `workspaceFolder`, as the helper extension names them. */
export function handoverFiles(handoverFolder: string, workspaceFolder: string): HandoverFiles {
  const name = createHash("sha256").update(workspaceFolder).digest("hex").slice(0, 16);
  return { configuration: join(handoverFolder, `${name}.json`), socket: join(handoverFolder, `${name}.socket`) };
}

/** Waits for the file, reads it and removes it, so that the next one is a new one. */
export async function takeConfiguration({ configuration: file }: HandoverFiles): Promise<ClientConfiguration> {
  await appears(file, "The editor did not hand over a client configuration: look at its window and its logs.");
  const configuration = parseConfiguration(readFileSync(file, "utf8"));
  rmSync(file);
  return configuration;
}

/**
 * Runs a function inside a window's extension host. It is sent as text, so it sees nothing of what surrounds it; what it
 * needs is its argument, and both that and the result cross as JSON.
 */
export async function runInside<Argument, Result>(
  window: HandoverFiles,
  work: (vscode: Api, argument: Argument) => Result | PromiseLike<Result>,
  argument: Argument,
): Promise<Result> {
  const answer = await ask(window, { source: work.toString(), argument });
  if ("error" in answer) {
    throw new Error(answer.error);
  }
  return answer.value as Result;
}

/** Posts a question to the helper extension and resolves to its answer. */
async function ask({ socket }: HandoverFiles, question: Question): Promise<Answer> {
  await appears(socket, "The helper extension does not listen: look at the editor's window and its logs.");
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: socket, method: "POST" }, (response) => {
      text(response).then((body) => resolve(JSON.parse(body)), reject);
    });
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify(question));
  });
}

async function appears(file: string, failed: string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE; !existsSync(file); await delay(50)) {
    if (Date.now() > deadline) {
      throw new Failure(failed);
    }
  }
}

/** Reads the generic form that the command copies. */
export function parseConfiguration(text: string): ClientConfiguration {
  const parsed: { mcpServers?: Record<string, { url?: string; headers?: Record<string, string> }> } = JSON.parse(text);
  const [server] = Object.values(parsed.mcpServers ?? {});
  const token = /^Bearer (.+)$/.exec(server?.headers?.["Authorization"] ?? "")?.[1];
  if (server?.url === undefined || token === undefined) {
    throw new Failure("The client configuration has no URL or no bearer token: look at extension/ui/clients.ts.");
  }
  return { url: server.url, token, text };
}
