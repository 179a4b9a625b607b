import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from "ajv/dist/2020.js";

const FOLDER = new URL("../../schemas/tools/", import.meta.url);
const DESCRIPTIONS = "descriptions.json";

/** The tools of version 1, in the order of `tools/list`. */
export const TOOLS = [
  "vscode.lsp.definition",
  "vscode.lsp.references",
  "vscode.lsp.hover",
  "vscode.lsp.documentSymbols",
  "vscode.lsp.workspaceSymbols",
  "vscode.lsp.diagnostics.document",
  "vscode.lsp.diagnostics.workspace",
] as const;
export type ToolName = (typeof TOOLS)[number];

/** The names of the schema files. */
export function schemaFiles(): string[] {
  return readdirSync(FOLDER).filter((name) => name !== DESCRIPTIONS);
}

export function readSchema(file: string): AnySchemaObject {
  return JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));
}

export function readDescriptions(): Record<string, string> {
  return JSON.parse(readFileSync(new URL(DESCRIPTIONS, FOLDER), "utf8"));
}

/** A validator that has nothing in common with the gateway's own, and refuses keywords that it does not know. */
export function compileStrictly(schema: AnySchemaObject): ValidateFunction {
  return new Ajv2020({ strict: true, allErrors: true }).compile(schema);
}
