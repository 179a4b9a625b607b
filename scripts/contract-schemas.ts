// Writes into docs/CONTRACT.md what the schemas under schemas/tools say: of each tool, between its markers, the
// description, every field with its bounds, and a fingerprint of each schema, which moves with a change that the tables
// do not show. So a schema cannot change and leave the contract as it was. Tools that have no markers there are in
// docs/TOOLS.md, after what is said of all of them. With --check it only tells whether the documents are what it would write.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { root } from "../harness/layout.ts";
import { writeOrCheck } from "./written-file.ts";

const DOCUMENT = "docs/CONTRACT.md";
const OTHER_TOOLS = "docs/TOOLS.md";
/** What follows this heading there is written by this script, and what stands before it by hand. */
const FIRST_TOOL = "\n## `vscode.lsp.";
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
const [about = ""] = readFileSync(join(root, OTHER_TOOLS), "utf8").split(FIRST_TOOL);
writeOrCheck(OTHER_TOOLS, `${[about.trimEnd(), ...others].join("\n\n")}\n`, COMMAND);

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
