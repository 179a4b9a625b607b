// What is going on, told on stderr, so that stdout belongs to what a command prints.
// Plain JavaScript: the bootstrap uses it under a Node that cannot run TypeScript.

/** Why a command could not go on: one sentence that says what failed and what to do. Shown without a stack. */
export class Failure extends Error {}

/**
 * Runs `work`, and tells when it is done and how long it took. On a terminal, work that takes long says so every ten seconds.
 *
 * @template T
 * @param {string} title what is being done, as in "Compiling the addon"
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const started = performance.now();
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  const remind = () => say(`  ... ${title} (${seconds()} s so far)`);
  const reminder = process.stderr.isTTY ? setInterval(remind, 10_000) : undefined;
  try {
    const result = await work();
    say(`ok   ${title} (${seconds()} s)`);
    return result;
  } catch (error) {
    say(`FAIL ${title} (${seconds()} s)`);
    throw error;
  } finally {
    clearInterval(reminder);
  }
}

/**
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * The outermost layer of every command: a `Failure` becomes its sentence, anything else keeps its stack.
 *
 * @param {() => Promise<number | void>} main resolves to the exit code, 0 if it is not given
 */
export async function command(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    say(error instanceof Failure ? error.message : String(error instanceof Error ? error.stack : error));
    process.exitCode = 1;
  }
}
