import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, mock, test } from "node:test";

describe("the cache of downloads", () => {
  let home: string;
  let folder: string;
  let cache: typeof import("../../harness/machine/cache.mjs");

  before(async () => {
    home = mkdtempSync(join(tmpdir(), "gateway-cache-"));
    process.env["XDG_CACHE_HOME"] = home;
    cache = await import("../../harness/machine/cache.mjs");
    folder = cache.cacheFolder;
  });

  // What fails here is meant to, and would read like a failure of the tests.
  beforeEach(() => void mock.method(process.stderr, "write", () => true));

  after(() => {
    mock.restoreAll();
    rmSync(home, { recursive: true, force: true });
  });

  test("a download that broke off is done again, and what it left behind is removed", async () => {
    const broken = cache.cached("thing-1", "proof", "A download that is meant to break off", async (partial) => {
      writeFileSync(join(partial, "half"), "");
      throw new Error("the line went dead");
    });
    await assert.rejects(broken, /the line went dead/);
    assert.ok(!existsSync(join(folder, "thing-1")));
    // As if the process had been killed: a process that has just ended is surely not running.
    const { pid } = spawnSync(process.execPath, ["--version"]);
    mkdirSync(join(folder, `thing-1.partial-${pid}`));
    await cache.cached("thing-1", "proof", "Downloading a thing", async (partial) => {
      writeFileSync(join(partial, "proof"), "");
    });
    assert.deepEqual(readdirSync(folder), ["thing-1"]);
    assert.deepEqual(readdirSync(join(folder, "thing-1")), ["proof"]);
  });

  test("a folder without its proof is not taken for a download", async () => {
    mkdirSync(join(folder, "thing-2"));
    await cache.cached("thing-2", "proof", "Downloading a thing", async (partial) => {
      writeFileSync(join(partial, "proof"), "");
    });
    assert.ok(existsSync(join(folder, "thing-2", "proof")));
  });

  test("a finished download is not done again", async () => {
    await cache.cached("thing-2", "proof", "Downloading a thing", () => assert.fail("It is there already."));
  });

  test("what another process has finished in the meantime stays as it is, since that may be at work in there", async () => {
    await cache.cached("thing-4", "proof", "Downloading a thing", async (partial) => {
      writeFileSync(join(partial, "proof"), "ours");
      mkdirSync(join(folder, "thing-4"));
      writeFileSync(join(folder, "thing-4", "proof"), "theirs");
    });
    assert.equal(readFileSync(join(folder, "thing-4", "proof"), "utf8"), "theirs");
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith("thing-4")),
      ["thing-4"],
    );
  });

  test("a download that ends without its proof is an error", async () => {
    await assert.rejects(
      cache.cached("thing-3", "proof", "A download that is meant to lack something", async () => {}),
      /^Error: A download that is meant to lack something ended without proof/,
    );
    assert.ok(!existsSync(join(folder, "thing-3")));
  });
});
