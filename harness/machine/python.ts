// What comes from PyPI: clients and language servers of the tests, and the linker of a release.

import { writeFile } from "node:fs/promises";
import path from "node:path";
import { cached } from "./cache.mjs";
import { succeed } from "./processes.mjs";

const ON_WINDOWS = process.platform === "win32";
const PYTHON = ON_WINDOWS ? "python" : "python3";
const MISSING = "Python is needed for packages from PyPI: install Python 3.10 or newer, with venv and pip.";
/** The folder of its programs in a virtual environment. */
const PROGRAMS = ON_WINDOWS ? "Scripts" : "bin";
const INTERPRETER = path.join(PROGRAMS, ON_WINDOWS ? "python.exe" : "python");

/** The interpreter of a virtual environment that holds a package from PyPI, such as `mcp==2.3.0`, and those named after it. */
export async function pythonWith(requirement: string, ...others: readonly string[]): Promise<string> {
  const tellVersion = ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"];
  const { stdout } = await succeed(MISSING, PYTHON, tellVersion, {}, MISSING);
  const key = `${requirement.replace("==", "-")}-python-${stdout.trim()}`;
  const proof = "requirement.txt";
  const folder = await cached(key, proof, `Installing ${requirement} for Python`, async (partial) => {
    await succeed(MISSING, PYTHON, ["-m", "venv", partial]);
    await succeed(
      `Installing ${requirement} failed: read the lines above, check the connection to PyPI, and try again.`,
      path.join(partial, INTERPRETER),
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement, ...others],
    );
    await writeFile(path.join(partial, proof), `${requirement}\n`);
  });
  return path.join(folder, INTERPRETER);
}
