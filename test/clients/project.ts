import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { URI } from "vscode-uri";

type Position = { line: number; character: number };
export type Range = { start: Position; end: Position };
export type Location = { uri: string; range: Range };

/** How often `shape` is used in each of the two files of the project. */
const USES_IN_EACH = 120;

/** A small project on disk, with what a language server would answer about `shape` in it. */
export type Project = {
  /** What the replay host takes as its provider file. */
  provider: { definition: object[]; references: Location[] };
  /** Where `shape` is used, as arguments of a call. */
  place: { uri: string; position: Position };
  definition: Location;
  /** The references in the order of the contract, the definition's own place left out. */
  references: Location[];
};

/** Writes the project into `folder`, which is its own real path, and thinks up the language server's answers. */
export async function writeProject(folder: string): Promise<Project> {
  const source = path.join(folder, "src");
  await mkdir(source);
  const uses = Array.from({ length: USES_IN_EACH }, (_, line) => `use(shape, ${line});`);
  await writeFile(path.join(source, "shape.ts"), "/** A shape. */\nexport const shape = {};\n");
  await writeFile(path.join(source, "round.ts"), `import { shape } from "./shape";\n${uses.join("\n")}\n`);
  await writeFile(path.join(source, "square.ts"), `import { shape } from "./shape";\n${uses.join("\n")}\n`);

  const uriOf = (name: string): string => URI.file(path.join(source, name)).toString();
  const definition = { uri: uriOf("shape.ts"), range: onLine(1, 13, 18) };
  // "round" sorts before "square", and within a file the import before the uses: this is the contract's order.
  const references = ["round.ts", "square.ts"].flatMap((name) => [
    { uri: uriOf(name), range: onLine(0, 9, 14) },
    ...uses.map((_, index) => ({ uri: uriOf(name), range: onLine(index + 1, 4, 9) })),
  ]);
  const twice = references.slice(10, 20);
  // This very file exists, and lies outside.
  const outside = { uri: URI.file(import.meta.filename).toString(), range: onLine(0, 0, 1) };
  return {
    provider: {
      definition: [
        {
          targetUri: definition.uri,
          targetRange: onLine(1, 0, 24),
          targetSelectionRange: definition.range,
        },
        outside,
      ],
      references: [outside, ...references.toReversed(), ...twice, definition],
    },
    place: { uri: uriOf("round.ts"), position: { line: 1, character: 6 } },
    definition,
    references,
  };
}

function onLine(line: number, start: number, end: number): Range {
  return { start: { line, character: start }, end: { line, character: end } };
}
