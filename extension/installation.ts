import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

interface Installation {
  readonly id: string;
  readonly version: string;
  /** When VS Code installed this version, in its own record; absent where it keeps none. */
  readonly installed?: number | undefined;
}

/**
 * The id of this installation, new after every uninstall. Tokens are filed under it, so that uninstalling leaves none
 * behind that still works.
 *
 * VS Code deletes the storage folder when it removes an uninstalled extension, which is at its next start. Whoever
 * installs the same version again before that gets the folder back as it was; this shows in the time of installation. An
 * update brings another version and keeps the id.
 */
export async function installationId(extensionFolder: string, version: string, storageFolder: string): Promise<string> {
  const file = join(storageFolder, "installation.json");
  const installed = await installationTime(extensionFolder, version);
  const known = await read(file);
  const again =
    known?.version === version &&
    known.installed !== undefined &&
    installed !== undefined &&
    known.installed !== installed;
  if (known !== undefined && !again && known.version === version && known.installed === installed) {
    return known.id;
  }
  const id = known === undefined || again ? randomUUID() : known.id;
  await mkdir(storageFolder, { recursive: true });
  await writeFile(file, JSON.stringify({ id, version, installed } satisfies Installation), { mode: 0o600 });
  return id;
}

async function read(file: string): Promise<Installation | undefined> {
  const value = await readJson(file);
  if (typeof value !== "object" || value === null || !("id" in value) || !("version" in value)) {
    return undefined;
  }
  const { id, version } = value;
  const installed = "installed" in value && typeof value.installed === "number" ? value.installed : undefined;
  return typeof id === "string" && typeof version === "string" ? { id, version, installed } : undefined;
}

/** VS Code's record lies beside the folders of the extensions. */
async function installationTime(extensionFolder: string, version: string): Promise<number | undefined> {
  const record = await readJson(join(dirname(extensionFolder), "extensions.json"));
  for (const entry of Array.isArray(record) ? record : []) {
    const here = entry?.relativeLocation === basename(extensionFolder) && entry?.version === version;
    const time: unknown = here ? entry.metadata?.installedTimestamp : undefined;
    if (typeof time === "number") {
      return time;
    }
  }
  return undefined;
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
