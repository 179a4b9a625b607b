// Fills in the keys and cursors of the cases under test/golden, by the contract's own formulas and without any code of
// the gateway, so that a case never holds what the gateway itself has computed. With --check it only tells whether the
// files are what it would write. test/golden/README.md says what the members of a case mean.

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeOrCheck } from "./golden-file.ts";
import { root } from "./layout.ts";

interface Epochs {
  readonly roots?: number;
  readonly text?: number;
  readonly fs?: number;
}

interface Case {
  readonly arguments: {
    readonly position: { readonly line: number; readonly character: number };
    readonly includeDeclaration?: boolean;
    cursor?: string | null;
  };
  readonly epochs?: Epochs;
  readonly cursor?: {
    readonly o?: number;
    readonly with?: Readonly<Record<string, unknown>>;
    readonly epochs?: Epochs;
  };
  readonly keys?: {
    readonly uri: string;
    readonly roots: readonly string[];
    rootsKey?: string;
    k?: string;
    s?: string;
  };
  readonly expect: { readonly nextOffset?: number; readonly payload?: { nextCursor?: string | null } };
}

for (const file of globSync("test/golden/*/*.json", { cwd: root }).sort()) {
  const content: Case = JSON.parse(readFileSync(join(root, file), "utf8"));
  fillIn(content, file);
  writeOrCheck(file, `${laidOut(content, "")}\n`, "node scripts/golden-keys.ts");
}

function fillIn(content: Case, file: string): void {
  const { arguments: asked, cursor, expect, keys } = content;
  if (keys === undefined) {
    if (cursor !== undefined || expect.nextOffset !== undefined) {
      throw new Error(`${file}: a cursor can't be made without \`keys\``);
    }
    return;
  }
  const { line, character } = asked.position;
  const k = sha256(`v1|vscode.lsp.references|${keys.uri}|${line}|${character}|${asked.includeDeclaration ?? false}`);
  // The canonical JSON of an array of ASCII strings is what JSON.stringify gives.
  const rootsKey = sha256(JSON.stringify([...keys.roots].sort()));
  const snapshotOf = ({ roots = 0, text = 0, fs = 0 }: Epochs) =>
    sha256(`v1|snapshot|${k}|roots:${rootsKey}|epochs:${roots},${text},${fs}`);
  const epochs = content.epochs ?? {};
  const s = snapshotOf(epochs);
  Object.assign(keys, { rootsKey, k, s });
  if (cursor !== undefined) {
    asked.cursor = encoded({ v: 2, o: cursor.o, k, s: snapshotOf(cursor.epochs ?? epochs), ...cursor.with });
  }
  if (expect.nextOffset !== undefined && expect.payload !== undefined) {
    expect.payload.nextCursor = encoded({ v: 2, o: expect.nextOffset, k, s });
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function encoded(cursor: object): string {
  return Buffer.from(JSON.stringify(cursor), "utf8").toString("base64url");
}

/** JSON for people: what fits on a line is on one line. */
function laidOut(value: unknown, indent: string): string {
  const onOneLine = compact(value);
  if (typeof value !== "object" || value === null || indent.length + onOneLine.length <= 110) {
    return indent === "" && typeof value === "object" ? expanded(value, indent) : onOneLine;
  }
  return expanded(value, indent);
}

function expanded(value: object | null, indent: string): string {
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => deeper + laidOut(item, deeper)).join(",\n")}\n${indent}]`;
  }
  const members = Object.entries(value ?? {}).filter(([, member]) => member !== undefined);
  return `{\n${members.map(([name, member]) => `${deeper}${JSON.stringify(name)}: ${laidOut(member, deeper)}`).join(",\n")}\n${indent}}`;
}

function compact(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(compact).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${compact(member)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return JSON.stringify(value);
}
