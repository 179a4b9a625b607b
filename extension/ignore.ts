import { isAbsolute, relative, sep } from "node:path";
import picomatch from "picomatch";

/** Tells which changes on disk count (D22). */
export type Counts = (path: string) => boolean;

/**
 * A path counts if it lies under a root relative to which no pattern ignores it, or under any root if its document is
 * open. Dot files match like all others, since `.git` is what the patterns are mostly about.
 */
export function countedPaths(
  roots: readonly string[],
  patterns: readonly string[],
  isOpen: (path: string) => boolean,
): Counts {
  // The paths have forward slashes everywhere. Left to find out for itself, picomatch reads `navigator`, and VS Code
  // reports every extension that does.
  const ignored = picomatch([...patterns], { dot: true, windows: false });
  return (path) => {
    let open: boolean | undefined;
    for (const root of roots) {
      const inside = pathInside(root, path);
      if (inside === undefined) {
        continue;
      }
      if (inside === "" || !ignored(inside)) {
        return true;
      }
      open ??= isOpen(path);
      if (open) {
        return true;
      }
    }
    return false;
  };
}

/** The path relative to the root, with forward slashes; empty for the root itself, `undefined` outside it. */
export function pathInside(root: string, path: string): string | undefined {
  const inside = relative(root, path);
  if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    return undefined;
  }
  return sep === "/" ? inside : inside.replaceAll(sep, "/");
}
