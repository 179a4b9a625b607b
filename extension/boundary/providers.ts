// The questions that VS Code's providers answer: the only commands that are run for clients, and each of them only reads.

import {
  packDiagnostics,
  packDocumentSymbols,
  packHighlights,
  packHovers,
  packLocations,
  packTargets,
  packTexts,
  packWorkspaceSymbols,
} from "./rows.ts";

/** How an answer of each shape is packed. */
export const PACK = {
  targets: packTargets,
  locations: packLocations,
  hovers: packHovers,
  documentSymbols: packDocumentSymbols,
  workspaceSymbols: packWorkspaceSymbols,
  highlights: packHighlights,
  diagnostics: packDiagnostics,
  texts: packTexts,
} as const;

/** The question how far languages have come, which no language server is asked. */
export const STATUS = "editor/status";

/** The question for the texts of documents that are not saved, which no language server is asked. */
export const UNSAVED_TEXTS = "editor/unsavedTexts";

export type Shape = keyof typeof PACK;

export interface Provider {
  /** The request of LSP that asks the same of a language server. */
  readonly method: string;
  readonly command: string;
  readonly shape: Shape;
}

export const PROVIDERS: readonly Provider[] = [
  { method: "textDocument/definition", command: "vscode.executeDefinitionProvider", shape: "targets" },
  { method: "textDocument/declaration", command: "vscode.executeDeclarationProvider", shape: "targets" },
  { method: "textDocument/implementation", command: "vscode.executeImplementationProvider", shape: "targets" },
  { method: "textDocument/typeDefinition", command: "vscode.executeTypeDefinitionProvider", shape: "targets" },
  { method: "textDocument/references", command: "vscode.executeReferenceProvider", shape: "locations" },
  { method: "textDocument/hover", command: "vscode.executeHoverProvider", shape: "hovers" },
  { method: "textDocument/documentHighlight", command: "vscode.executeDocumentHighlights", shape: "highlights" },
  { method: "textDocument/documentSymbol", command: "vscode.executeDocumentSymbolProvider", shape: "documentSymbols" },
  { method: "workspace/symbol", command: "vscode.executeWorkspaceSymbolProvider", shape: "workspaceSymbols" },
];

/** The one of this method. */
export function providerOf(method: string): Provider | undefined {
  return PROVIDERS.find((provider) => provider.method === method);
}

/** In which shape a method is answered: one that no provider answers asks for what is published. */
export function shapeOf(method: string): Shape {
  if (method === UNSAVED_TEXTS) {
    return "texts";
  }
  return providerOf(method)?.shape ?? "diagnostics";
}
