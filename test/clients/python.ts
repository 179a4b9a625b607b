import { writeFile } from "node:fs/promises";
import path from "node:path";
import { cached } from "../../scripts/cache.mjs";
import { succeed } from "../../scripts/processes.mjs";

const ON_WINDOWS = process.platform === "win32";
const PYTHON = ON_WINDOWS ? "python" : "python3";
const MISSING = "Python is needed to test its MCP clients: install Python 3.10 or newer, with venv and pip.";
const INTERPRETER = ON_WINDOWS ? path.join("Scripts", "python.exe") : path.join("bin", "python");

/** The interpreter of a virtual environment that holds a package from PyPI, such as `mcp==2.3.0`. */
export async function pythonWith(requirement: string): Promise<string> {
  const tellVersion = ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"];
  const { stdout } = await succeed(MISSING, PYTHON, tellVersion, {}, MISSING);
  const key = `${requirement.replace("==", "-")}-python-${stdout.trim()}`;
  const proof = "requirement.txt";
  const folder = await cached(key, proof, `Installing ${requirement} for Python`, async (partial) => {
    await succeed(MISSING, PYTHON, ["-m", "venv", partial]);
    await succeed(
      `Installing ${requirement} failed: read the lines above, check the connection to PyPI, and try again.`,
      path.join(partial, INTERPRETER),
      ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement],
    );
    await writeFile(path.join(partial, proof), `${requirement}\n`);
  });
  return path.join(folder, INTERPRETER);
}
