// The program `mcp-lsp-gateway`, as a client starts it over stdio.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildHeadless } from "../build/headless.ts";
import { GatewayClient } from "../clients/gateway-client.ts";
import { ownEnvironment } from "../machine/own-environment.ts";
import { type InstalledServer, linkPrograms } from "./language-servers.ts";

/** Starts it on a folder that is trusted, with this server and no other. It keeps what it keeps below `own`. */
export async function startProgram(
  folder: string,
  own: string,
  server: InstalledServer,
  catalog: string,
): Promise<GatewayClient> {
  const programs = join(own, "programs");
  mkdirSync(programs);
  linkPrograms(programs, [server]);
  return await GatewayClient.start({
    command: await buildHeadless("dev"),
    args: ["--root", folder, "--trust", "--catalog", catalog],
    env: ownEnvironment(join(own, "kept"), programs),
  });
}
