// The test-only extension in test/host/extensions/handover, which gets the client configuration out of the editor by the
// gateway's own command.

import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bundle } from "./bundle.ts";
import { dist, packageBinary, root } from "./layout.ts";
import { succeed } from "./processes.mjs";
import { Failure } from "./progress.mjs";
import { unlessUnchanged } from "./unchanged.ts";

/** What a client needs to connect, as the gateway's command copied it. */
export interface ClientConfiguration {
  readonly url: string;
  readonly token: string;
  /** The whole text, as a person would paste it. */
  readonly text: string;
}

/** Bundles and packs the helper extension. Resolves to its VSIX. */
export async function packHandover(): Promise<string> {
  const source = "test/host/extensions/handover";
  const folder = join(dist, "handover");
  const file = join(dist, "handover.vsix");
  await unlessUnchanged([file], [`${source}/*`, "scripts/handover.ts"], async () => {
    await bundle(join(root, source, "extension.ts"), join(folder, "extension.cjs"));
    copyFileSync(join(root, source, "package.json"), join(folder, "package.json"));
    await succeed(
      "Packing the helper extension failed: mend what vsce reports above.",
      packageBinary("vsce"),
      ["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", file],
      { cwd: folder },
    );
  });
  return file;
}

/** Where the helper extension writes the configuration for a window on `workspaceFolder`. */
export function configurationFile(handoverFolder: string, workspaceFolder: string): string {
  return join(handoverFolder, `${createHash("sha256").update(workspaceFolder).digest("hex")}.json`);
}

/** Waits for the file, reads it and removes it, so that the next one is a new one. */
export async function takeConfiguration(file: string, patience = 90_000): Promise<ClientConfiguration> {
  const deadline = Date.now() + patience;
  while (!existsSync(file)) {
    if (Date.now() > deadline) {
      throw new Failure("The editor did not hand over a client configuration: look at its window and its logs.");
    }
    await delay(50);
  }
  const text = readFileSync(file, "utf8");
  rmSync(file);
  return parseConfiguration(text);
}

/** Reads the generic form that the command copies. */
export function parseConfiguration(text: string): ClientConfiguration {
  const parsed: { mcpServers?: Record<string, { url?: string; headers?: Record<string, string> }> } = JSON.parse(text);
  const [server] = Object.values(parsed.mcpServers ?? {});
  const token = /^Bearer (.+)$/.exec(server?.headers?.["Authorization"] ?? "")?.[1];
  if (server?.url === undefined || token === undefined) {
    throw new Failure("The client configuration has no URL or no bearer token: look at extension/commands.ts.");
  }
  return { url: server.url, token, text };
}
