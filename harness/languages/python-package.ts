import assert from "node:assert/strict";
import { cpSync, globSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pythonWith } from "../machine/python.ts";

/** Copies the sources of a package from PyPI, such as `click==8.3.1`, which has one folder that is named as it is. */
export async function copyPythonPackage(requirement: string, folder: string): Promise<void> {
  const environment = dirname(dirname(await pythonWith(requirement)));
  const [name] = requirement.split("==");
  const [sources] = globSync(`lib/python3*/site-packages/${name}`, { cwd: environment });
  assert.ok(sources !== undefined, `${requirement} is in its environment.`);
  cpSync(join(environment, sources), folder, {
    recursive: true,
    filter: (path) => basename(path) !== "__pycache__",
  });
}
