import assert from "node:assert/strict";
import { test } from "node:test";
import { admitRoots, pathInside } from "../../extension/gateway/roots.ts";
import type { AdditionalRoot } from "../../extension/gateway/settings.ts";

/** `/link` leads to `/real/library`, `/gone` does not exist or is a file, all else is what it says. */
async function realFolder(path: string): Promise<string | undefined> {
  return path === "/gone" ? undefined : path.replace(/^\/link(?=\/|$)/, "/real/library");
}

function named(path: string, index: number): AdditionalRoot {
  return { path, entry: index + 1, own: false };
}

const NOBODY = new Set<string>();

test("workspace folders come first, and the person's own roots need no consent", async () => {
  assert.deepEqual(
    await admitRoots(
      ["/w", "/v"],
      [
        { path: "/link", entry: 1, own: true },
        { path: "/x", entry: 2, own: true },
      ],
      NOBODY,
      realFolder,
    ),
    { roots: ["/w", "/v", "/link", "/x"], undecided: [], problems: [] },
  );
});

test("a root that only the workspace names waits for consent, by its real path", async () => {
  assert.deepEqual(await admitRoots(["/w"], [{ path: "/link/sub", entry: 1, own: false }], NOBODY, realFolder), {
    roots: ["/w"],
    undecided: ["/real/library/sub"],
    problems: [],
  });
});

test("consent to a real path lets that path in, whatever the settings call it", async () => {
  const allowed = new Set(["/real/library"]);

  assert.deepEqual(await admitRoots(["/w"], [{ path: "/link", entry: 1, own: false }], allowed, realFolder), {
    roots: ["/w", "/real/library"],
    undecided: [],
    problems: [],
  });
});

test("consent to one path is none to its neighbours, parents and children", async () => {
  const allowed = new Set(["/srv/a"]);
  const asked = ["/srv", "/srv/ab", "/srv/a/b"].map(named);

  assert.deepEqual((await admitRoots(["/w"], asked, allowed, realFolder)).undecided, ["/srv", "/srv/ab", "/srv/a/b"]);
});

test("what lies in a folder of the workspace is not asked about", async () => {
  assert.deepEqual(await admitRoots(["/w"], [named("/w/sub", 0)], NOBODY, realFolder), {
    roots: ["/w"],
    undecided: [],
    problems: [],
  });
});

test("each real path is asked about once", async () => {
  const asked = ["/link", "/real/library"].map(named);

  assert.deepEqual((await admitRoots(["/w"], asked, NOBODY, realFolder)).undecided, ["/real/library"]);
});

test("a root that is no existing folder is left out and told by its number, whoever named it", async () => {
  const told = (entry: number) =>
    `Entry ${entry} of mcpLspGateway.additionalAllowedRoots names no existing folder: create it and run MCP LSP Gateway: Restart, or remove the entry.`;
  const asked = [
    { path: "/gone", entry: 2, own: true },
    { path: "/x", entry: 3, own: true },
    { path: "/gone", entry: 5, own: false },
  ];

  assert.deepEqual(await admitRoots(["/w"], asked, new Set(["/gone"]), realFolder), {
    roots: ["/w", "/x"],
    undecided: [],
    problems: [told(2), told(5)],
  });
});

test("a folder whose name starts with two dots lies inside", {
  skip: process.platform === "win32" ? "posix paths" : false,
}, () => {
  assert.equal(pathInside("/w", "/w/..a/b"), "..a/b");
  assert.equal(pathInside("/w", "/b"), undefined);
  assert.equal(pathInside("/w", "/w"), "");
});
