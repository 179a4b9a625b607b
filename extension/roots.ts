import { pathInside } from "./ignore.ts";
import type { AdditionalRoot } from "./settings.ts";

/** What may be read, and what the person has yet to decide. */
export interface Admission {
  /** Absolute paths, workspace folders first. */
  readonly roots: string[];
  /** Real paths that the workspace's settings name and nobody has allowed yet. */
  readonly undecided: string[];
}

/**
 * The folders of the workspace and the additional roots that take effect. A root that only the workspace's settings name
 * takes effect once the person has allowed its real path (D48), since an agent can edit that file; the real path is what
 * is passed on, so that a link which changes its target later leads nowhere new.
 *
 * `realPath` gives `undefined` for what does not exist.
 */
export async function admitRoots(
  folders: readonly string[],
  additional: readonly AdditionalRoot[],
  allowed: ReadonlySet<string>,
  realPath: (path: string) => Promise<string | undefined>,
): Promise<Admission> {
  const roots = new Set(folders);
  for (const root of additional) {
    if (root.own) {
      roots.add(root.path);
    }
  }
  const foreign = additional.filter((root) => !root.own);
  if (foreign.length === 0) {
    return { roots: [...roots], undecided: [] };
  }
  const covered = (await Promise.all([...roots].map(realPath))).filter((path) => path !== undefined);
  const undecided = new Set<string>();
  for (const path of await Promise.all(foreign.map((root) => realPath(root.path)))) {
    if (path === undefined || covered.some((root) => pathInside(root, path) !== undefined)) {
      continue;
    }
    if (allowed.has(path)) {
      roots.add(path);
    } else {
      undecided.add(path);
    }
  }
  return { roots: [...roots], undecided: [...undecided] };
}
