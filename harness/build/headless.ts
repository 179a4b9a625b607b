// Builds `mcp-lsp-gateway`, the program that serves the tools without an editor.

import { join } from "node:path";
import { root } from "../layout.ts";
import { succeed } from "../machine/processes.mjs";
import { step } from "../machine/progress.mjs";
import { type Profile, RUST_MISSING } from "./addon.ts";

/** Builds the program, and resolves to its path. */
export async function buildHeadless(profile: Profile): Promise<string> {
  const failed = "Compiling mcp-lsp-gateway failed: mend what the compiler reports above.";
  const release = profile === "release" ? ["--release"] : [];
  await step(`Compiling mcp-lsp-gateway (${profile})`, () =>
    succeed(
      failed,
      "cargo",
      ["build", ...release, "--locked", "--package", "gateway-cli"],
      { cwd: root },
      RUST_MISSING,
    ),
  );
  const name = process.platform === "win32" ? "mcp-lsp-gateway.exe" : "mcp-lsp-gateway";
  return join(root, "target", profile === "release" ? "release" : "debug", name);
}
