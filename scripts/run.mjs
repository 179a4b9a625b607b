// Runs a command of this repository: `node scripts/run.mjs <command> [arguments]`, for the files scripts/<command>.ts.
// It makes sure of the Node that runs TypeScript and of node_modules first, so that a fresh clone needs nothing but
// Node 20 and npm. Everything here and in the .mjs files it imports runs under that older Node, without packages.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { npm, pinnedNode, withNodeFirst } from "../harness/machine/cache.mjs";
import { command, Failure, step } from "../harness/machine/progress.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

await command(async () => {
  const [name = "", ...args] = process.argv.slice(2);
  const script = join(root, "scripts", `${name}.ts`);
  if (!/^[a-z-]+$/.test(name) || !existsSync(script)) {
    throw new Failure(`There is no command ${JSON.stringify(name)}: use one of the scripts in package.json.`);
  }
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Failure(`Node ${process.versions.node} is too old: install Node 20 or newer.`);
  }
  const { node } = await pinnedNode();
  const env = withNodeFirst(node);
  await ensurePackages(env);
  return runScript(node, [script, ...args], env);
});

/**
 * Runs `npm ci` if the lock file is not the one that node_modules was installed from. The stamp is written last, so an
 * interrupted install is done again.
 *
 * @param {NodeJS.ProcessEnv} env
 */
async function ensurePackages(env) {
  const stampFile = join(root, "node_modules", ".installed-from");
  const lock = await readFile(join(root, "package-lock.json"));
  const stamp = createHash("sha256").update(lock).digest("hex");
  if (existsSync(stampFile) && (await readFile(stampFile, "utf8")) === stamp) {
    return;
  }
  await step("Installing the packages of package-lock.json", async () => {
    const failed = "npm ci failed: read the lines above, check the connection to the npm registry, and try again.";
    await npm(failed, ["ci", "--ignore-scripts"], { cwd: root, env });
    await writeFile(stampFile, stamp);
  });
}

/**
 * Hands over to the script. SIGTERM often goes to one process alone, so it is passed on; Ctrl-C reaches the whole group
 * by itself. Either way this process ends when the script has ended.
 *
 * @param {string} node
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>}
 */
function runScript(node, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { cwd: process.cwd(), env, stdio: "inherit" });
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    process.on("SIGINT", () => {});
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGTERM" || signal === "SIGINT" ? 0 : 1)));
  });
}
