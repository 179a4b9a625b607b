// What the gateway has to answer for what VS Code's own commands return, worked out once more from the contract alone
// (sections 3.7, 4.2 and 7.3 to 7.7) with nothing of the gateway's code.

import { createHash } from "node:crypto";
import type { Position } from "../clients/gateway-client.ts";

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** A fragment of a hover as the editor has it. */
export type Fragment = string | { readonly language?: string | undefined; readonly value: string };

export interface EditorHover {
  readonly contents: readonly Fragment[];
  readonly range: Range | null;
}

/** A symbol as the editor has it: `kind` counts from 0. */
export interface EditorSymbol {
  readonly name: string;
  readonly kind: number;
  readonly range: Range;
  readonly selectionRange: Range;
  readonly children: readonly EditorSymbol[];
}

export interface EditorWorkspaceSymbol {
  readonly name: string;
  readonly kind: number;
  readonly containerName: string | null;
  readonly uri: string;
  readonly range: Range | null;
}

/** A diagnostic as the editor has it: `severity` counts from 0. */
export interface EditorDiagnostic {
  readonly range: Range;
  readonly severity: number;
  readonly code: string | number | null;
  readonly source: string | null;
  readonly message: string;
}

export interface HoverPayload {
  readonly contents: readonly { readonly kind: string; readonly value: string }[];
  readonly range?: Range;
}

export interface DocumentSymbolItem {
  readonly id: string;
  readonly name: string;
  readonly kind: number;
  readonly range: Range;
  readonly selectionRange: Range;
  readonly containerName?: string;
}

export interface WorkspaceSymbolItem {
  readonly id: string;
  readonly name: string;
  readonly kind: number;
  readonly location: { readonly uri: string; readonly range: Range };
  readonly containerName?: string;
}

export interface DiagnosticItem {
  readonly id: string;
  readonly range: Range;
  readonly severity: number;
  readonly code?: string;
  readonly source?: string;
  readonly message: string;
}

export function normalisedHover(hovers: readonly EditorHover[]): HoverPayload {
  const values = new Set<string>();
  const ranges: Range[] = [];
  for (const { contents, range } of hovers) {
    for (const fragment of contents) {
      const { language, value } = typeof fragment === "string" ? { language: undefined, value: fragment } : fragment;
      if (value.trim() !== "") {
        values.add(language === undefined ? value : `\`\`\`${language}\n${value}\n\`\`\``);
        ranges.push(...(range === null ? [] : [range]));
      }
    }
  }
  const contents = [...values].sort(byText).map((value) => ({ kind: "markdown", value }));
  const [first] = ranges.sort(byRange);
  return { contents, ...(first === undefined ? {} : { range: first }) };
}

/** All of them, however many may be returned. */
export function normalisedDocumentSymbols(uri: string, symbols: readonly EditorSymbol[]): DocumentSymbolItem[] {
  const items: DocumentSymbolItem[] = [];
  const visit = (symbol: EditorSymbol, container: string): void => {
    const { name, range, selectionRange } = symbol;
    const kind = symbol.kind + 1;
    const places = [range.start, range.end, selectionRange.start, selectionRange.end].map(written);
    const id = idOf([uri, name, kind, ...places, container]);
    items.push({ id, name, kind, range, selectionRange, ...(container === "" ? {} : { containerName: container }) });
    for (const child of symbol.children) {
      visit(child, name);
    }
  };
  for (const symbol of symbols) {
    visit(symbol, "");
  }
  items.sort(
    (a, b) =>
      byRange(a.range, b.range) ||
      byText(a.name, b.name) ||
      a.kind - b.kind ||
      missingLast(a.containerName, b.containerName) ||
      byText(a.id, b.id),
  );
  return unique(items);
}

/** Those below `folderUri`. */
export function normalisedWorkspaceSymbols(
  folderUri: string,
  symbols: readonly EditorWorkspaceSymbol[],
): WorkspaceSymbolItem[] {
  const items: WorkspaceSymbolItem[] = [];
  for (const { uri, range, name, kind: zeroBased, containerName } of symbols) {
    if (range !== null && uri.startsWith(`${folderUri}/`)) {
      const kind = zeroBased + 1;
      const id = idOf([uri, name, kind, written(range.start), written(range.end), containerName ?? ""]);
      items.push({ id, name, kind, location: { uri, range }, ...(containerName ? { containerName } : {}) });
    }
  }
  items.sort(
    (a, b) =>
      byText(a.location.uri, b.location.uri) ||
      byRange(a.location.range, b.location.range) ||
      byText(a.name, b.name) ||
      a.kind - b.kind ||
      missingLast(a.containerName, b.containerName),
  );
  return unique(items);
}

export function normalisedDiagnostics(uri: string, diagnostics: readonly EditorDiagnostic[]): DiagnosticItem[] {
  const items = diagnostics.map(({ range, severity: zeroBased, code: anyCode, source, message }): DiagnosticItem => {
    const severity = zeroBased + 1;
    const code = anyCode === null ? "" : String(anyCode);
    const id = idOf([uri, written(range.start), written(range.end), severity, code, source ?? "", message]);
    return { id, range, severity, ...(code === "" ? {} : { code }), ...(source ? { source } : {}), message };
  });
  items.sort(
    (a, b) =>
      byPosition(a.range.start, b.range.start) ||
      a.severity - b.severity ||
      missingLast(a.code, b.code) ||
      missingLast(a.source, b.source) ||
      byText(a.message, b.message) ||
      byText(a.id, b.id),
  );
  return unique(items);
}

/** The contract's id of an item, for the parts of its canonical string. */
export function idOf(parts: readonly (string | number)[]): string {
  return `sha256:${createHash("sha256").update(parts.join("|")).digest("hex")}`;
}

function written({ line, character }: Position): string {
  return `${line}:${character}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function missingLast(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) {
    return Number(a === undefined) - Number(b === undefined);
  }
  return byText(a, b);
}

function byPosition(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

function byRange(a: Range, b: Range): number {
  return byPosition(a.start, b.start) || byPosition(a.end, b.end);
}

function unique<Item>(sorted: readonly Item[]): Item[] {
  return sorted.filter((item, index) => JSON.stringify(item) !== JSON.stringify(sorted[index - 1]));
}
