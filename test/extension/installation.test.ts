import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { type InstalledExtension, installationId, watchInstallation } from "../../extension/gateway/installation.ts";

let base: string;
let extension: InstalledExtension;

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "installation-"));
  const folder = join(base, "extensions", "publisher.name-1.0.0");
  await mkdir(folder, { recursive: true });
  extension = { id: "publisher.name", version: "1.0.0", folder, storage: join(base, "storage") };
  install("1.0.0", 1);
});

afterEach(() => rmSync(base, { recursive: true }));

/** Writes VS Code's record as VS Code does, in one go. */
function record(entries: unknown): void {
  const file = join(base, "extensions", "extensions.json");
  writeFileSync(`${file}.new`, JSON.stringify(entries));
  renameSync(`${file}.new`, file);
}

function install(version: string, installedTimestamp: number): void {
  record([
    { identifier: { id: "other.one" }, version: "1.0.0", metadata: { installedTimestamp: 7 } },
    { identifier: { id: "Publisher.Name" }, version, metadata: { installedTimestamp } },
  ]);
}

test("the id stays from one start to the next", async () => {
  const id = await installationId(extension);

  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.equal(await installationId(extension), id);
});

test("the id is new once VS Code has deleted the storage", async () => {
  const id = await installationId(extension);
  rmSync(extension.storage, { recursive: true });

  assert.notEqual(await installationId(extension), id);
});

test("the id is new when the same version was installed again before VS Code deleted the storage", async () => {
  const id = await installationId(extension);
  install("1.0.0", 2);
  const next = await installationId(extension);

  assert.notEqual(next, id);
  assert.equal(await installationId(extension), next);
});

test("the id survives an update", async () => {
  const id = await installationId(extension);
  install("1.1.0", 2);
  const updated = { ...extension, version: "1.1.0" };

  assert.equal(await installationId(updated), id);
  assert.equal(await installationId(updated), id);
});

test("the id survives a start at which VS Code's record cannot be read", async () => {
  const id = await installationId(extension);
  rmSync(join(base, "extensions", "extensions.json"));

  assert.equal(await installationId(extension), id);
});

test("windows that start at once agree on the id", async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => installationId(extension)));

  assert.deepEqual(new Set(ids), new Set([await installationId(extension)]));
});

test("an uninstall is noticed while the extension runs, and makes the id void", async () => {
  const id = await installationId(extension);
  const seen: boolean[] = [];
  let told: () => void = () => {};
  const watcher = await watchInstallation(extension, (installed) => {
    seen.push(installed);
    told();
  });
  try {
    const uninstalled = new Promise<void>((resolve) => {
      told = resolve;
    });
    record([{ identifier: { id: "other.one" }, version: "1.0.0" }]);
    await uninstalled;
    assert.deepEqual(seen, [false]);

    const installed = new Promise<void>((resolve) => {
      told = resolve;
    });
    install("1.0.0", 1);
    await installed;
    assert.deepEqual(seen, [false, true]);
    assert.notEqual(await installationId(extension), id);
  } finally {
    watcher.dispose();
  }
});
