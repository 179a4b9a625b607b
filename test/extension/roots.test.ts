import assert from "node:assert/strict";
import { test } from "node:test";
import { admitRoots } from "../../extension/roots.ts";

/** `/link` leads to `/real/library`, `/gone` does not exist, all else is what it says. */
async function realPath(path: string): Promise<string | undefined> {
  return path === "/gone" ? undefined : path.replace(/^\/link(?=\/|$)/, "/real/library");
}

const NOBODY = new Set<string>();

test("workspace folders come first, and the person's own roots need no consent", async () => {
  assert.deepEqual(
    await admitRoots(
      ["/w", "/v"],
      [
        { path: "/link", own: true },
        { path: "/gone", own: true },
      ],
      NOBODY,
      realPath,
    ),
    { roots: ["/w", "/v", "/link", "/gone"], undecided: [] },
  );
});

test("a root that only the workspace names waits for consent, by its real path", async () => {
  assert.deepEqual(await admitRoots(["/w"], [{ path: "/link/sub", own: false }], NOBODY, realPath), {
    roots: ["/w"],
    undecided: ["/real/library/sub"],
  });
});

test("consent to a real path lets that path in, whatever the settings call it", async () => {
  const allowed = new Set(["/real/library"]);

  assert.deepEqual(await admitRoots(["/w"], [{ path: "/link", own: false }], allowed, realPath), {
    roots: ["/w", "/real/library"],
    undecided: [],
  });
});

test("consent to one path is none to its neighbours, parents and children", async () => {
  const allowed = new Set(["/srv/a"]);
  const asked = ["/srv", "/srv/ab", "/srv/a/b"].map((path) => ({ path, own: false }));

  assert.deepEqual((await admitRoots(["/w"], asked, allowed, realPath)).undecided, ["/srv", "/srv/ab", "/srv/a/b"]);
});

test("what lies in a folder of the workspace or does not exist is not asked about", async () => {
  const asked = ["/w/sub", "/gone"].map((path) => ({ path, own: false }));

  assert.deepEqual(await admitRoots(["/w"], asked, NOBODY, realPath), { roots: ["/w"], undecided: [] });
});

test("each real path is asked about once", async () => {
  const asked = ["/link", "/real/library"].map((path) => ({ path, own: false }));

  assert.deepEqual((await admitRoots(["/w"], asked, NOBODY, realPath)).undecided, ["/real/library"]);
});
