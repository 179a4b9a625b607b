import { isAbsolute, relative, sep } from "node:path";
import type { AdditionalRoot } from "./settings.ts";

/** What may be read, and what the person has yet to decide. */
export interface Admission {
  /** Absolute paths, workspace folders first. */
  readonly roots: string[];
  /** Real paths that the workspace's settings name and nobody has allowed yet. */
  readonly undecided: string[];
  /** One sentence for each additional root that is no folder. It names the entry and not the path. */
  readonly problems: string[];
}

/**
 * The folders of the workspace and the additional roots that take effect. A root that only the workspace's settings name
 * takes effect once the person has allowed its real path (D48), since an agent can edit that file; the real path is what
 * is passed on, so that a link which changes its target later leads nowhere new.
 *
 * `realFolder` gives the real path of a folder, and `undefined` for what is none or does not exist.
 */
export async function admitRoots(
  folders: readonly string[],
  additional: readonly AdditionalRoot[],
  allowed: ReadonlySet<string>,
  realFolder: (path: string) => Promise<string | undefined>,
): Promise<Admission> {
  const found = await Promise.all(additional.map(async (root) => ({ ...root, real: await realFolder(root.path) })));
  const problems = found
    .filter(({ real }) => real === undefined)
    .map(
      ({ entry }) =>
        `Entry ${entry} of mcpLspGateway.additionalAllowedRoots names no existing folder: create it and run MCP LSP Gateway: Restart, or remove the entry.`,
    );
  const roots = new Set(folders);
  for (const { own, real, path } of found) {
    if (own && real !== undefined) {
      roots.add(path);
    }
  }
  const foreign = found.filter(({ own }) => !own).map(({ real }) => real);
  if (foreign.length === 0) {
    return { roots: [...roots], undecided: [], problems };
  }
  const covered = (await Promise.all([...roots].map(realFolder))).filter((path) => path !== undefined);
  const undecided = new Set<string>();
  for (const path of foreign) {
    if (path === undefined || covered.some((root) => pathInside(root, path) !== undefined)) {
      continue;
    }
    if (allowed.has(path)) {
      roots.add(path);
    } else {
      undecided.add(path);
    }
  }
  return { roots: [...roots], undecided: [...undecided], problems };
}

/** The path relative to the root, with forward slashes; empty for the root itself, `undefined` outside it. */
export function pathInside(root: string, path: string): string | undefined {
  const inside = relative(root, path);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    return undefined;
  }
  return sep === "/" ? inside : inside.replaceAll(sep, "/");
}
