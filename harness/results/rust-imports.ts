// Which files of a crate import which, and where that goes round in a circle.

/** Files of one crate, by their paths under its `src`, such as `watch/tree.rs`. */
export type CrateFiles = ReadonlyMap<string, string>;

/** Every circle of imports: the files that can all be reached from each other, sorted. */
export function circlesIn(files: CrateFiles): string[][] {
  const imports = new Map([...files.keys()].map((file) => [file, importsOf(file, files)]));
  const reachable = new Map([...files.keys()].map((file) => [file, reachedFrom(file, imports)]));
  const circles = new Map<string, string[]>();
  for (const [file, reached] of reachable) {
    if (reached.has(file)) {
      const circle = [...reached].filter((other) => reachable.get(other)?.has(file) === true).sort();
      circles.set(circle.join(), circle);
    }
  }
  return [...circles.values()];
}

function reachedFrom(file: string, imports: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const next = [...(imports.get(file) ?? [])];
  for (let other = next.pop(); other !== undefined; other = next.pop()) {
    if (!reached.has(other)) {
      reached.add(other);
      next.push(...(imports.get(other) ?? []));
    }
  }
  return reached;
}

/** The files whose items a file names, its tests aside. `lib.rs` and `main.rs` only put the others together. */
function importsOf(file: string, files: CrateFiles): Set<string> {
  const text = (files.get(file) ?? "").split("#[cfg(test)]")[0]?.replaceAll(/\/\/.*/g, "") ?? "";
  const own = moduleOf(file);
  const named = [...text.matchAll(/(?<!\(in )\bcrate::([\w:]*)(\{[^;]*\})?/g)].flatMap(([, path = "", group]) =>
    pathsOf(path, group),
  );
  // Further in, `super` may be the file itself, seen from a module inside it.
  const beside = [...text.matchAll(/^(?:pub )?use super::([\w:]*)(\{[^;]*\})?/gm)].flatMap(([, path = "", group]) =>
    pathsOf(path, group).map((inner) => [...own.slice(0, -1), ...inner]),
  );
  const inside = [...text.matchAll(/(?<![\w:])(\w+)::/g)].map(([, name = ""]) => [...own, name]);
  const imported = new Set<string>();
  for (const path of [...named, ...beside, ...(isRoot(file) ? [] : inside)]) {
    const other = fileOf(path, files);
    if (other !== undefined && other !== file && !isRoot(other)) {
      imported.add(other);
    }
  }
  return imported;
}

/** `a::b` and `{c, d::e}` -> `a::b::c` and `a::b::d::e`. */
function pathsOf(path: string, group: string | undefined): string[][] {
  const before = path.split("::").filter((name) => name !== "");
  const names = group?.slice(1, -1).split(",") ?? [""];
  return names.map((name) => [...before, ...name.trim().split("::")].filter((part) => /^\w+$/.test(part)));
}

/** The file that the longest beginning of the path names. */
function fileOf(path: readonly string[], files: CrateFiles): string | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const stem = path.slice(0, length).join("/");
    const found = [`${stem}.rs`, `${stem}/mod.rs`].find((file) => files.has(file));
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

function moduleOf(file: string): string[] {
  return file.replace(/(\/mod)?\.rs$/, "").split("/");
}

function isRoot(file: string): boolean {
  return file === "lib.rs" || file === "main.rs";
}
