// Downloads that outlive a checkout, each in a folder named after what it is and its version.
// Plain JavaScript: the bootstrap uses it under a Node that cannot run TypeScript.

import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { succeed } from "./processes.mjs";
import { Failure, step } from "./progress.mjs";

/** The Node that everything but the bootstrap runs under. code-server accepts no other major version. */
const NODE_VERSION = "24.21.0";

/** Where downloads are kept: outside the checkout, so that a fresh clone finds them. */
export const cacheFolder = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "vscode-mcp-lsp-gateway");

/**
 * The folder `key` of the cache, filled if need be. It is filled under another name and renamed when it is whole, so an
 * install that was interrupted is never taken for a finished one.
 *
 * @param {string} key names the content and its version
 * @param {string} proof a file inside that only a whole install has
 * @param {string} title what is being done, for the progress lines
 * @param {(folder: string) => Promise<unknown>} fill
 * @returns {Promise<string>}
 */
export async function cached(key, proof, title, fill) {
  const folder = join(cacheFolder, key);
  if (existsSync(join(folder, proof))) {
    return folder;
  }
  await mkdir(cacheFolder, { recursive: true });
  await sweep(key);
  const partial = `${folder}.partial-${process.pid}`;
  await step(title, async () => {
    await mkdir(partial);
    await fill(partial);
    if (!existsSync(join(partial, proof))) {
      throw new Failure(`${title} ended without ${proof}: delete ${partial} and try again.`);
    }
    try {
      // What another process has finished in the meantime is as good as ours, and it may be at work in there.
      if (!existsSync(join(folder, proof))) {
        await rm(folder, { recursive: true, force: true });
        await rename(partial, folder);
      }
    } catch (error) {
      if (!existsSync(join(folder, proof))) {
        throw error;
      }
    }
    await rm(partial, { recursive: true, force: true });
  });
  return folder;
}

/**
 * Removes what interrupted installs of `key` left behind. Those of processes that still run are left alone.
 *
 * @param {string} key
 */
async function sweep(key) {
  const prefix = `${key}.partial-`;
  for (const name of await readdir(cacheFolder)) {
    if (name.startsWith(prefix) && !isRunning(Number(name.slice(prefix.length)))) {
      await rm(join(cacheFolder, name), { recursive: true, force: true });
    }
  }
}

/**
 * @param {number} pid
 */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch {
    return false;
  }
}

/**
 * Installs packages from the npm registry into a folder of their own.
 *
 * @param {string} folder
 * @param {Record<string, string>} dependencies names and exact versions
 * @param {{ scripts?: boolean, env?: NodeJS.ProcessEnv }} [options] `scripts`: run the packages' install scripts
 */
export async function npmInstall(folder, dependencies, { scripts = false, env = process.env } = {}) {
  const allowScripts = scripts ? Object.fromEntries(Object.keys(dependencies).map((name) => [name, true])) : {};
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts, dependencies }));
  const names = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
  await npm(
    `Installing ${names.join(" ")} failed: read the lines above, check the connection to the npm registry, and try again.`,
    ["install", scripts ? "--foreground-scripts" : "--ignore-scripts"],
    { cwd: folder, env },
  );
}

/**
 * Runs npm, the one that started us if there is one.
 *
 * @param {string} failed one sentence: what failed and what to do
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} place
 */
export async function npm(failed, args, { cwd, env = process.env }) {
  // What an outer npm tells its scripts about its own package and Node would be believed of the inner one.
  const clean = Object.fromEntries(
    Object.entries(env).filter(
      ([name]) =>
        !/^npm_(package|lifecycle|command|node_execpath|config_(local_prefix|loglevel|user_agent))/.test(name),
    ),
  );
  const own = process.env["npm_execpath"];
  const [program, first] = own && /\.[cm]?js$/.test(own) ? [process.execPath, [own]] : ["npm", []];
  await succeed(failed, program, [...first, ...args, "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd,
    env: clean,
  });
}

/**
 * The Node of `NODE_VERSION`: its binary, and the folder that holds its headers. It is the one that runs this, if that is
 * of the same version and whole: the npm registry does not have it for every platform. On Windows nothing is compiled
 * against it.
 *
 * @returns {Promise<{ node: string, headers: string }>}
 */
export async function pinnedNode() {
  const own = dirname(dirname(process.execPath));
  const isWhole = process.platform === "win32" || existsSync(join(own, "include", "node", "node.h"));
  if (process.versions.node === NODE_VERSION && isWhole) {
    return { node: process.execPath, headers: own };
  }
  const name = `${process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node"}-${process.platform}-${process.arch}`;
  const inside = join("node_modules", name);
  const folder = await cached(
    `node-${NODE_VERSION}`,
    join(inside, "bin", "node"),
    `Downloading Node ${NODE_VERSION}`,
    (partial) => npmInstall(partial, { [name]: NODE_VERSION }),
  );
  return { node: join(folder, inside, "bin", "node"), headers: join(folder, inside) };
}

/**
 * The environment in which `node` is found first on PATH.
 *
 * @param {string} node
 * @returns {NodeJS.ProcessEnv}
 */
export function withNodeFirst(node) {
  return { ...process.env, PATH: dirname(node) + delimiter + (process.env["PATH"] ?? "") };
}
