// VS Code's own commands, called inside the extension host: what the gateway's answers are compared with.

import type { Position } from "../../harness/clients/gateway-client.ts";
import type { EditorWindow } from "../../harness/editor/real-vscode.ts";
import type {
  EditorDiagnostic,
  EditorHover,
  EditorSymbol,
  EditorWorkspaceSymbol,
} from "../../harness/languages/normalised.ts";

export function hoversInside(window: EditorWindow, uri: string, position: Position): Promise<EditorHover[]> {
  return window.inside(
    async (vscode, { uri, position }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      const place = new vscode.Position(position.line, position.character);
      const hovers = await vscode.commands.executeCommand<import("vscode").Hover[]>(
        "vscode.executeHoverProvider",
        document.uri,
        place,
      );
      return hovers.map(({ contents, range }) => ({
        contents: contents.map((content) =>
          typeof content === "string"
            ? content
            : { value: content.value, ...("language" in content ? { language: content.language } : {}) },
        ),
        range: range === undefined ? null : { start: plain(range.start), end: plain(range.end) },
      }));

      function plain({ line, character }: Position): Position {
        return { line, character };
      }
    },
    { uri, position },
  );
}

export function documentSymbolsInside(window: EditorWindow, uri: string): Promise<EditorSymbol[]> {
  return window.inside(async (vscode, uri) => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
    const symbols = await vscode.commands.executeCommand<import("vscode").DocumentSymbol[]>(
      "vscode.executeDocumentSymbolProvider",
      document.uri,
    );
    return symbols.map(described);

    function described({
      name,
      kind,
      range,
      selectionRange,
      children,
    }: import("vscode").DocumentSymbol): import("../../harness/languages/normalised.ts").EditorSymbol {
      return {
        name,
        kind,
        range: plain(range),
        selectionRange: plain(selectionRange),
        children: children.map(described),
      };
    }

    function plain({ start, end }: import("vscode").Range): import("../../harness/languages/normalised.ts").Range {
      return {
        start: { line: start.line, character: start.character },
        end: { line: end.line, character: end.character },
      };
    }
  }, uri);
}

export function workspaceSymbolsInside(window: EditorWindow, query: string): Promise<EditorWorkspaceSymbol[]> {
  return window.inside(async (vscode, query) => {
    const symbols = await vscode.commands.executeCommand<import("vscode").SymbolInformation[]>(
      "vscode.executeWorkspaceSymbolProvider",
      query,
    );
    return symbols.map(({ name, kind, containerName, location: { uri, range } }) => ({
      name,
      kind,
      containerName: containerName ?? null,
      uri: uri.toString(),
      range: {
        start: { line: range.start.line, character: range.start.character },
        end: { line: range.end.line, character: range.end.character },
      },
    }));
  }, query);
}

/** Everything that any extension has published, as far as it is not empty. */
export function diagnosticsInside(window: EditorWindow): Promise<[uri: string, EditorDiagnostic[]][]> {
  return window.inside((vscode) => {
    return vscode.languages
      .getDiagnostics()
      .filter(([, diagnostics]) => diagnostics.length > 0)
      .map(([uri, diagnostics]): [string, import("../../harness/languages/normalised.ts").EditorDiagnostic[]] => [
        uri.toString(),
        diagnostics.map(({ range: { start, end }, severity, code, source, message }) => ({
          range: {
            start: { line: start.line, character: start.character },
            end: { line: end.line, character: end.character },
          },
          severity,
          code: typeof code === "object" ? code.value : (code ?? null),
          source: source ?? null,
          message,
        })),
      ]);
  }, null);
}
