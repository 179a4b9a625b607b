// Child processes, run to their end. Plain JavaScript: the bootstrap uses it under a Node that cannot run TypeScript.

import { spawn } from "node:child_process";
import { Failure } from "./progress.mjs";

/**
 * @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv }} Place where a process runs
 * @typedef {{ code: number, stdout: string, output: string }} Ended how it ended; `output` is stdout and stderr as they came
 */

/**
 * Runs a program to its end and collects what it prints.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Place} [place]
 * @param {string} [missing] the sentence for a program that is not installed
 * @returns {Promise<Ended>}
 */
export function run(program, args, place = {}, missing = `${program} is needed and was not found: install it.`) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...place, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", (error) => reject("code" in error && error.code === "ENOENT" ? new Failure(missing) : error));
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, output }));
  });
}

/**
 * Like `run`, for a program that has to succeed.
 *
 * @param {string} failed one sentence: what failed and what to do
 * @param {string} program
 * @param {readonly string[]} args
 * @param {Place} [place]
 * @param {string} [missing] the sentence for a program that is not installed
 * @returns {Promise<Ended>}
 */
export async function succeed(failed, program, args, place, missing) {
  const ended = await run(program, args, place, missing);
  if (ended.code !== 0) {
    throw new Failure(`${lastLines(ended.output)}\n${failed}`);
  }
  return ended;
}

/**
 * @param {string} output
 */
function lastLines(output) {
  return output.trimEnd().split("\n").slice(-40).join("\n");
}
