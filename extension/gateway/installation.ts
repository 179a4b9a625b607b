import { randomUUID } from "node:crypto";
import { watch } from "node:fs";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** This extension, as VS Code has installed it. */
export interface InstalledExtension {
  /** Publisher and name. */
  readonly id: string;
  readonly version: string;
  readonly folder: string;
  /** The extension's global storage. */
  readonly storage: string;
}

/** Our record of the installation, in the global storage. */
interface Installation {
  readonly id: string;
  readonly version: string;
  /** When VS Code installed this version, by its own record; absent where that has no entry. */
  readonly installed?: number | undefined;
}

/**
 * The id of this installation, new after every uninstall. Tokens are filed under it, so that uninstalling leaves none
 * behind that still works.
 *
 * VS Code deletes the global storage of an uninstalled extension, but not before it starts the next time. If the same
 * version is installed again before that, the storage is still there, and the time of installation gives it away. An
 * update brings another version and keeps the id.
 */
export async function installationId(extension: InstalledExtension): Promise<string> {
  const { version } = extension;
  const file = recordOf(extension);
  const installed = (await entriesOf(extension))?.find((entry) => entry.version === version)?.time;
  const known = await readRecord(file);
  const again =
    known?.version === version &&
    known.installed !== undefined &&
    installed !== undefined &&
    known.installed !== installed;
  if (known !== undefined && !again) {
    if (known.version !== version || known.installed !== installed) {
      await writeFile(file, JSON.stringify({ id: known.id, version, installed } satisfies Installation));
    }
    return known.id;
  }
  if (again) {
    await rm(file, { force: true });
  }
  await mkdir(extension.storage, { recursive: true });
  const id = randomUUID();
  // Nobody may find a part of a record, and take it for none.
  const whole = `${file}.${id}`;
  await writeFile(whole, JSON.stringify({ id, version, installed } satisfies Installation));
  try {
    await link(whole, file);
    return id;
  } catch {
    // Another window was faster, and both have to agree; or what is there is no record.
    const theirs = await readRecord(file);
    if (theirs !== undefined) {
      return theirs.id;
    }
    await rename(whole, file);
    return id;
  } finally {
    await rm(whole, { force: true });
  }
}

/**
 * Calls back when the extension is uninstalled while it runs, and when it is installed again. VS Code lets an uninstalled
 * extension run on until its window is loaded again, and tells it nothing. From then on the id is void.
 */
export async function watchInstallation(
  extension: InstalledExtension,
  changed: (installed: boolean) => void,
): Promise<{ dispose(): void }> {
  let installed = ((await entriesOf(extension)) ?? []).length > 0;
  if (!installed) {
    // An extension under development, or one of another profile than the one whose record this is.
    return { dispose: () => {} };
  }
  const watcher = watch(dirname(extension.folder), { persistent: false }, (_, name) => {
    if (name === VS_CODES_RECORD) {
      void look();
    }
  });
  watcher.on("error", () => watcher.close());
  return { dispose: () => watcher.close() };

  async function look(): Promise<void> {
    const entries = await entriesOf(extension);
    if (entries === undefined || entries.length > 0 === installed) {
      return;
    }
    installed = entries.length > 0;
    if (!installed) {
      await rm(recordOf(extension), { force: true });
    }
    changed(installed);
  }
}

/** Lies beside the folders of all extensions. */
const VS_CODES_RECORD = "extensions.json";

function recordOf({ storage }: InstalledExtension): string {
  return join(storage, "installation.json");
}

async function readRecord(file: string): Promise<Installation | undefined> {
  const value = await readJson(file);
  if (typeof value !== "object" || value === null || !("id" in value) || !("version" in value)) {
    return undefined;
  }
  const { id, version } = value;
  const installed = "installed" in value && typeof value.installed === "number" ? value.installed : undefined;
  return typeof id === "string" && typeof version === "string" ? { id, version, installed } : undefined;
}

/** The versions of this extension that VS Code has installed; `undefined` while its record is being written. */
async function entriesOf(
  extension: InstalledExtension,
): Promise<{ version: string; time: number | undefined }[] | undefined> {
  const record = await readJson(join(dirname(extension.folder), VS_CODES_RECORD));
  if (!Array.isArray(record)) {
    return undefined;
  }
  const id = extension.id.toLowerCase();
  return record
    .filter((entry) => String(entry?.identifier?.id).toLowerCase() === id)
    .map((entry) => {
      const time: unknown = entry.metadata?.installedTimestamp;
      return { version: String(entry.version), time: typeof time === "number" ? time : undefined };
    });
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch {
    return undefined;
  }
}
