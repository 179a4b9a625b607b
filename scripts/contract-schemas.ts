// Writes into docs/CONTRACT.md what the schemas under schemas/tools say: of each tool, between its markers, the
// description, every field with its bounds, and a fingerprint of each schema, which moves with a change that the tables
// do not show. So a schema cannot change and leave the contract as it was. Tools that have no markers there are in
// docs/TOOLS.md, which is written as a whole. With --check it only tells whether the
// document is what it would write.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { root } from "../harness/layout.ts";
import { writeOrCheck } from "./written-file.ts";

const DOCUMENT = "docs/CONTRACT.md";
const OTHER_TOOLS = "docs/TOOLS.md";
const ABOUT_OTHER_TOOLS = [
  "# Tools that are offered where they are chosen",
  "The setting `mcpLspGateway.catalog` offers clients these tools besides the seven of version 1, or in place of some: `core` has the seven and the tools that clients use most, `all` has every tool, and a list of names has those. Every rule of [the contract](CONTRACT.md) holds for them. A session counts only while the tools are offered that it was begun with: when the setting changes, clients begin new ones and see what there is. A list that names no tool offers the seven. A client takes fewer by its address: at `/mcp?catalog=core` or `/mcp?catalog=v1` it has those of the tools that are offered that belong to this catalog.",
  "## Compact lists",
  "All but `vscode.lsp.documentHighlights` answer in few tokens:",
  '- **Files** are named by their path below the root, with `/` between its parts. `root` is the folder in which the paths begin. With several roots, `roots` names those that occur, and a path begins with the id of its root and a colon, such as `r2:src/a.ts`. `file` takes a path from an answer, any other path below a root that exists below one root only, an absolute path, or a `file:` URI. Files are ordered by root, then by path.\n- **Places** are texts: `14:17` is line 14, character 17, both from 0, characters in UTF-16 units; `14:17-24` is a range in one line, `14:17-16:2` any other. `at` takes each of them, and asks about where it begins. Of uses in one line, only the beginnings are given.\n- **Pages** hold as many items as fit into `maxTokens`, and always one: 2,000 tokens if left out, at most 20,000. Two tokens are taken for seven bytes, which is an estimate. `nextCursor` is a cursor as of any paged tool; `maxTokens` may be another for each page.\n- **`state`** tells a result from others: the first 16 digits of the SHA-256 of the JSON of the answer as it would be on one page, without `root`, `roots`, `nextCursor`, `state` and `summary`. It is the same in each back end. With `ifState`, the first page of an equal result is `{"unchanged":true,…}`; the language servers are asked all the same.\n- **`paths`** takes globs, in which `*` does not cross a `/`: only files that match one of them are listed, and the summary counts the others.\n- **A target** is a place (`file` and `at`), or a name: `symbol`, with `file` to look in one file only. A name is that of the symbol, with those of its innermost containers before it, between `.`, `::`, `/` or `#`: `lift`, `Observable.lift`, `Version::new`. With several of one name in one container, `lift[1]` is the second. What a server writes around a name, such as parameters, does not count. If that names one symbol, `target` in the answer says which. If it names several, or none, nothing is asked about it: the answer is that of `vscode.lsp.symbol.find`, with `symbols` to choose from, and its `path` and `at` go back as `file` and `at`.\n- **`lines`** gives after each place a space and its line in the text, without the space around it and cut to 120 characters around the place: `"12:4 source.lift(operator)"`. A text that is not saved counts as it is in the editor. Of a file of more than 16 MiB, or not in UTF-8, there are only the places.',
  "`vscode.lsp.symbol.find` searches the workspace, and then asks for the outlines of at most 32 files in which something fits, because an outline says what contains a symbol and where its name stands. It gives all that fit best: those of just this name; if there is none, those that differ in case; then those that begin so; then those that have it in them. The summary counts the others, and those in files that were not looked at. What no search finds is looked for in the outlines of what contains it, and then of the first 32 files that have the word in them and are not ignored by Git; where a language offers no search, too. `head` is the line of the name.",
  "`vscode.lsp.symbol.source` gives the lines of the symbol whose name is at the place, or of the innermost around it, with the comment, the attributes and the decorators right above. `range` is where they stand, and `digest` the first 16 digits of the SHA-256 of the text of the file in UTF-8. Of a line of more than 2,000 characters it gives the beginning.",
  "`vscode.lsp.status` tells what answers for each language of the folders. Without an editor `by` has what the server calls itself, and `cannot` what it does not offer; nothing is started to find that out. VS Code tells of neither.",
  'An example: `vscode.lsp.usages` with `{"file":"src/a.ts","at":"2:4"}` answers `{"root":"file:///ws","uses":3,"inFiles":2,"files":[{"path":"src/a.ts","at":["9:0","12:4"]},{"path":"src/b.ts","at":["4:2"]}],"nextCursor":null,"state":"9f3c51d20b7ae644","summary":"3 uses."}`, and with `"detail":"counts"` the files are `{"path":"src/a.ts","uses":2}` and `{"path":"src/b.ts","uses":1}`. `vscode.lsp.implementation`, `vscode.lsp.typeDefinition` and `vscode.lsp.declaration` with the same arguments answer such `files`, without counts. `vscode.lsp.symbol.find` with `{"symbol":"Observable.lift"}` answers `{"root":"file:///ws","symbols":[{"name":"lift","in":"Observable","kind":"method","path":"src/a.ts","at":"66:2-6","head":"lift<R>(operator?: Operator<T, R>): Observable<R> {"}],"nextCursor":null,"state":"2b9e0c4417f0a3d8","summary":"1 symbol."}`, and `vscode.lsp.symbol.source` with the same `{"root":"file:///ws","target":{"name":"lift",…},"path":"src/a.ts","range":"64:2-71:3","digest":"c0ffee5d41a7b922","source":["  /** Makes another of it. */",…],…}`. `vscode.lsp.outline` with `{"file":"src/a.ts","depth":2}` answers `{"root":"file:///ws","path":"src/a.ts","symbols":["class 17:0-478:1 Observable"," property 21:2-40 source"," method 66:2-71:3 lift"],…}`: kind, range and name of each symbol, after a space for each symbol around it.',
];
const COMMAND = "node scripts/contract-schemas.ts";

interface Schema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly [bound: string]: unknown;
}

const COORDINATE = { type: "integer", minimum: 0, maximum: 2_147_483_647 };
const POSITION = closed({ line: COORDINATE, character: COORDINATE });
const RANGE = closed({ start: POSITION, end: POSITION });

/** What the contract describes once for all tools. A schema that says anything else is spelled out. */
const NAMED: readonly (readonly [name: string, shape: Schema])[] = [
  ["Position", POSITION],
  ["Range", RANGE],
];

/** How the tables put each keyword that bounds a value. A keyword that is missing here is an error. */
const BOUNDS: Readonly<Record<string, (value: unknown) => string>> = {
  minimum: (value) => `at least ${grouped(value)}`,
  maximum: (value) => `at most ${grouped(value)}`,
  minLength: (value) => `at least ${counted(value, "character")}`,
  maxLength: (value) => `at most ${counted(value, "character")}`,
  maxItems: (value) => `at most ${counted(value, "item")}`,
  pattern: (value) => `matches \`${value}\``,
  enum: (value) => (value as unknown[]).map((choice) => `\`${choice}\``).join(" or "),
  default: (value) => `\`${value}\` if left out`,
};

/** The keywords that say of what kind a value is, or what a table has columns or rows for. */
const STRUCTURE = [
  "$schema",
  "title",
  "description",
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
];

type Row = readonly [field: string, type: string, required: string, bounds: string];

const descriptions: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(root, "schemas/tools/descriptions.json"), "utf8"),
);
let text = readFileSync(join(root, DOCUMENT), "utf8");
const others: string[] = [];
for (const [tool, description] of Object.entries(descriptions)) {
  const paragraphs = [
    `> ${description}`,
    ...described("Input", readSchema(`${tool}.json`)),
    ...described("Output", readSchema(`${tool}.output.json`)),
  ];
  if (text.includes(markerOf(tool))) {
    text = withBlock(text, tool, paragraphs);
  } else {
    others.push(`## \`${tool}\``, ...paragraphs);
  }
}
writeOrCheck(DOCUMENT, text, COMMAND);
writeOrCheck(OTHER_TOOLS, `${[...ABOUT_OTHER_TOOLS, ...others].join("\n\n")}\n`, COMMAND);

function markerOf(tool: string): string {
  return `<!-- ${COMMAND} writes the schemas of ${tool} from here on -->`;
}

function readSchema(file: string): Schema {
  return JSON.parse(readFileSync(join(root, "schemas/tools", file), "utf8"));
}

/** The document with these paragraphs between the markers of the tool. */
function withBlock(document: string, tool: string, paragraphs: readonly string[]): string {
  const begin = markerOf(tool);
  const end = `<!-- to here -->`;
  const [before, rest, ...more] = document.split(begin);
  const after = rest?.indexOf(end) ?? -1;
  if (before === undefined || rest === undefined || after < 0 || more.length > 0) {
    throw new Error(`${DOCUMENT} needs, once, the line ${begin} and after it ${end}`);
  }
  return [before + begin, ...paragraphs, rest.slice(after)].join("\n\n");
}

function described(title: string, schema: Schema): string[] {
  const fingerprint = createHash("sha256").update(canonicalJson(schema), "utf8").digest("hex");
  const header: Row = [title, "Type", "Required", "Bounds"];
  return [table([header, ...rowsOf(schema, "")]), `Fingerprint of this schema: \`${fingerprint}\``];
}

/** A row for each field of an object, and for the fields inside it. */
function rowsOf(object: Schema, prefix: string): Row[] {
  if (object.additionalProperties !== false) {
    throw new Error(`${prefix || "a schema"} is not closed by additionalProperties: false`);
  }
  return Object.entries(object.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const required = object.required?.includes(name) === true ? "yes" : "no";
    const [inner, innerPath] = field.items === undefined ? [field, path] : [field.items, `${path}[]`];
    const bounds = [boundsOf(field), ...(inner === field ? [] : [boundsOf(inner)])].filter((part) => part !== "");
    const row: Row = [`\`${path}\``, typeOf(field), required, bounds.join(", ")];
    const isSpelledOut = inner.properties !== undefined && nameOf(inner) === undefined;
    return isSpelledOut ? [row, ...rowsOf(inner, `${innerPath}.`)] : [row];
  });
}

function typeOf(schema: Schema): string {
  const name = nameOf(schema);
  if (name !== undefined) {
    return name;
  }
  if (schema.items !== undefined) {
    return `array of ${typeOf(schema.items)}`;
  }
  return [schema.type].flat().join(" or ");
}

function nameOf(schema: Schema): string | undefined {
  return NAMED.find(([, shape]) => isDeepStrictEqual(withoutDescriptions(schema), shape))?.[0];
}

function withoutDescriptions({ description: _, properties, ...rest }: Schema): object {
  if (properties === undefined) {
    return rest;
  }
  const fields = Object.entries(properties).map(([name, field]) => [name, withoutDescriptions(field)]);
  return { ...rest, properties: Object.fromEntries(fields) };
}

function closed(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

function boundsOf(schema: Schema): string {
  return Object.entries(schema)
    .filter(([keyword]) => !STRUCTURE.includes(keyword))
    .map(([keyword, value]) => {
      const bound = BOUNDS[keyword];
      if (bound === undefined) {
        throw new Error(`${COMMAND} has no words for the keyword ${keyword}`);
      }
      return bound(value);
    })
    .join(", ");
}

function counted(value: unknown, noun: string): string {
  return `${grouped(value)} ${noun}${value === 1 ? "" : "s"}`;
}

function grouped(value: unknown): string {
  return Number(value).toLocaleString("en-US");
}

/** A table as Biome lays it out: every column as wide as its widest cell. */
function table(rows: readonly Row[]): string {
  const widths = [0, 1, 2, 3].map((column) => Math.max(3, ...rows.map((row) => (row[column] ?? "").length)));
  const laidOut = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  const [header = "", ...body] = laidOut;
  return [header, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body].join("\n");
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}
