import { createHash } from "node:crypto";
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
  provider: Record<string, object[]>;
  /** Where `shape` is used, as arguments of a call. */
  place: { uri: string; position: Position };
  definition: Location;
  /** The references in the order of the contract, the definition's own place left out. */
  references: Location[];
  /** The whole payload of `vscode.lsp.hover`. */
  hover: object;
  /** The outline of the file of `place`, flat and in the order of the contract. */
  documentSymbols: object[];
  workspaceSymbols: object[];
  /** The files with diagnostics, in the order of the contract; the first is the file of `place`. */
  diagnostics: [FileDiagnostics, FileDiagnostics];
};

type FileDiagnostics = { uri: string; diagnostics: object[] };

/** Writes the project into `folder`, which is its own real path, and thinks up the language server's answers. */
export async function writeProject(folder: string): Promise<Project> {
  const source = path.join(folder, "src");
  await mkdir(source);
  const uses = Array.from({ length: USES_IN_EACH }, (_, line) => `use(shape, ${line});`);
  await writeFile(path.join(source, "shape.ts"), "/** A shape. */\nexport const shape = {};\n");
  await writeFile(path.join(source, "round.ts"), `import { shape } from "./shape";\n${uses.join("\n")}\n`);
  await writeFile(path.join(source, "square.ts"), `import { shape } from "./shape";\n${uses.join("\n")}\n`);

  const uriOf = (name: string): string => URI.file(path.join(source, name)).toString();
  const [shape, round, square] = [uriOf("shape.ts"), uriOf("round.ts"), uriOf("square.ts")];
  // This very file exists, and lies outside.
  const outside = { uri: URI.file(import.meta.filename).toString(), range: onLine(0, 0, 1) };
  const definition = { uri: shape, range: onLine(1, 13, 18) };
  // "round" sorts before "square", and within a file the import before the uses: this is the contract's order.
  const references = [round, square].flatMap((uri) => [
    { uri, range: onLine(0, 9, 14) },
    ...uses.map((_, index) => ({ uri, range: onLine(index + 1, 4, 9) })),
  ]);
  const answers = [
    aboutDefinition(definition, outside),
    aboutReferences(references, definition, outside),
    aboutHover(),
    aboutOutline(round),
    aboutWorkspaceSymbols([round, shape, square], outside),
    aboutDiagnostics(round, square, shape, outside),
  ];
  return {
    place: { uri: round, position: { line: 1, character: 6 } },
    ...(Object.assign({}, ...answers) as Omit<Project, "place" | "provider">),
    provider: Object.assign({}, ...answers.map(({ provider }) => provider)),
  };
}

function aboutDefinition(definition: Location, outside: Location) {
  const link = {
    targetUri: definition.uri,
    targetRange: onLine(1, 0, 24),
    targetSelectionRange: definition.range,
  };
  return { definition, provider: { definition: [link, outside] } };
}

function aboutReferences(references: Location[], definition: Location, outside: Location) {
  const twice = references.slice(10, 20);
  return { references, provider: { references: [outside, ...references.toReversed(), ...twice, definition] } };
}

function aboutHover() {
  const range = onLine(1, 4, 9);
  const code = { language: "typescript", value: "const shape: {}" };
  const hover = {
    contents: [
      { kind: "markdown", value: "A shape." },
      { kind: "markdown", value: "```typescript\nconst shape: {}\n```" },
    ],
    range,
    summary: "Hover available.",
  };
  return {
    hover,
    provider: { hover: [{ contents: [code, { value: "A shape." }], range }, { contents: ["A shape.", " "] }] },
  };
}

/** A variable, and a class with a method that the language server tells first. */
function aboutOutline(uri: string) {
  const symbol = (name: string, kind: number, range: Range, selectionRange: Range, children: object[] = []) => ({
    provided: { name, kind: kind - 1, range, selectionRange, children },
    returned: (containerName?: string) => ({
      id: id(uri, name, kind, range.start, range.end, selectionRange.start, selectionRange.end, containerName),
      name,
      kind,
      range,
      selectionRange,
      ...(containerName === undefined ? {} : { containerName }),
    }),
  });
  const area = symbol("area", 6, onLine(3, 2, 20), onLine(3, 2, 6));
  const ring = symbol("Ring", 5, { start: at(2, 0), end: at(5, 1) }, onLine(2, 6, 10), [area.provided]);
  const shape = symbol("shape", 13, onLine(0, 9, 14), onLine(0, 9, 14));
  return {
    documentSymbols: [shape.returned(), ring.returned(), area.returned("Ring")],
    provider: { documentSymbols: [ring.provided, shape.provided, shape.provided] },
  };
}

function aboutWorkspaceSymbols(uris: string[], outside: Location) {
  const range = onLine(0, 9, 14);
  const provided = (location: object, containerName: string) => ({ name: "shape", kind: 12, containerName, location });
  return {
    workspaceSymbols: uris.map((uri, index) => {
      const containerName = index === 0 ? {} : { containerName: "file" };
      const named = id(uri, "shape", 13, range.start, range.end, containerName.containerName);
      return { id: named, name: "shape", kind: 13, location: { uri, range }, ...containerName };
    }),
    provider: {
      workspaceSymbols: [
        // VS Code gives an empty text where there is no container.
        ...uris.map((uri, index) => provided({ uri, range }, index === 0 ? "" : "file")).toReversed(),
        provided(outside, ""),
      ],
    },
  };
}

function aboutDiagnostics(round: string, square: string, clean: string, outside: Location) {
  const [first, second] = [onLine(0, 9, 14), onLine(3, 4, 9)];
  const unused = { range: first, code: "6133", source: "ts", message: "'shape' is never read." };
  const rule = { range: second, code: "no-shapes", source: "lint", message: "No shapes. 🐦" };
  const bare = { range: first, message: "Something is wrong." };
  const target = "https://example.com/no-shapes";
  const diagnostics: [FileDiagnostics, FileDiagnostics] = [
    {
      uri: round,
      diagnostics: [
        { id: id(round, first.start, first.end, 4, "6133", "ts", unused.message), ...unused, severity: 4 },
        { id: id(round, second.start, second.end, 1, "no-shapes", "lint", rule.message), ...rule, severity: 1 },
      ],
    },
    {
      uri: square,
      diagnostics: [{ id: id(square, first.start, first.end, "", "", "", bare.message), ...bare }],
    },
  ];
  return {
    diagnostics,
    provider: {
      diagnostics: [
        [square, [bare]],
        [clean, []],
        [
          round,
          [
            { ...rule, severity: 0, code: { value: "no-shapes", target } },
            { ...unused, severity: 3, code: 6133 },
          ],
        ],
        [outside.uri, [{ ...bare, severity: 2 }]],
        // What two extensions report alike is reported once.
        [round, [{ ...unused, severity: 3 }]],
      ],
    },
  };
}

/** The identifier of the contract: a hash over the parts that the tool names, with positions as `line:character`. */
function id(...parts: (string | number | Position | undefined)[]): string {
  const texts = parts.map((part) => (typeof part === "object" ? `${part.line}:${part.character}` : (part ?? "")));
  return `sha256:${createHash("sha256").update(texts.join("|")).digest("hex")}`;
}

function at(line: number, character: number): Position {
  return { line, character };
}

function onLine(line: number, start: number, end: number): Range {
  return { start: at(line, start), end: at(line, end) };
}
