// A small project in one language, in a real VS Code in which a language server answers for it.

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Location, Page, Position } from "../clients/gateway-client.ts";
import type { Server } from "../editor/extensions/languages/extension.ts";
import { type GatewayWindow, openGateway, removeFolder, temporaryFolder } from "../editor/gateway-window.ts";
import type { RealVsCode } from "../editor/real-vscode.ts";
import { eventually } from "../machine/eventually.ts";
import { startEditorAs } from "./language-servers.ts";
import {
  type DiagnosticItem,
  type DocumentSymbolItem,
  idOf,
  type Range,
  type WorkspaceSymbolItem,
} from "./normalised.ts";

/** How the summary of an answer ends that may be a part. */
export const UNCONFIRMED = "; no language server has shown that it is ready, so there may be more.";

export class LanguageProject {
  readonly gateway: GatewayWindow;
  readonly folder: string;
  readonly #editor: RealVsCode;

  private constructor(gateway: GatewayWindow, folder: string, editor: RealVsCode) {
    this.gateway = gateway;
    this.folder = folder;
    this.#editor = editor;
  }

  /** Opens a copy of the folder `name` in harness/languages/projects. This extension of the tests starts the server there. */
  static async open(
    name: string,
    server: Server,
    prepare: (folder: string) => void = () => {},
    extension = "languages",
  ): Promise<LanguageProject> {
    const folder = temporaryFolder(name);
    cpSync(fileURLToPath(new URL(`projects/${name}`, import.meta.url)), folder, { recursive: true });
    prepare(folder);
    const editor = await startEditorAs(extension, server);
    try {
      return new LanguageProject(await openGateway(editor, folder), folder, editor);
    } catch (error) {
      await editor.stop();
      throw error;
    }
  }

  uri(file: string): string {
    return pathToFileURL(join(this.folder, file)).href;
  }

  at(file: string, line: number, from: number, to: number): Location {
    return { uri: this.uri(file), range: on(line, from, to) };
  }

  workspaceSymbol(name: string, kind: number, location: Location): WorkspaceSymbolItem {
    const { start, end } = location.range;
    const places = [`${start.line}:${start.character}`, `${end.line}:${end.character}`];
    return { id: idOf([location.uri, name, kind, ...places, ""]), name, kind, location };
  }

  documentSymbol(
    file: string,
    name: string,
    kind: number,
    range: Range,
    selectionRange: Range,
    containerName?: string,
  ): DocumentSymbolItem {
    const places = [range.start, range.end, selectionRange.start, selectionRange.end].map(
      ({ line, character }) => `${line}:${character}`,
    );
    const id = idOf([this.uri(file), name, kind, ...places, containerName ?? ""]);
    return { id, name, kind, range, selectionRange, ...(containerName === undefined ? {} : { containerName }) };
  }

  diagnostic(file: string, item: Required<Omit<DiagnosticItem, "id">>): DiagnosticItem {
    const { range, severity, code, source, message } = item;
    const places = [range.start, range.end].map(({ line, character }) => `${line}:${character}`);
    return { id: idOf([this.uri(file), ...places, severity, code, source, message]), ...item };
  }

  /**
   * Asks for the references at a place until the answer is whole and says so. Until then, every answer that is less, or may
   * be, has to say that.
   */
  async untilWhole(file: string, position: Position, whole: number): Promise<void> {
    const input = { uri: this.uri(file), position, includeDeclaration: true, pageSize: 200 };
    const { items } = await eventually(
      () => this.gateway.client.call<Page<Location>>("vscode.lsp.references", input),
      ({ summary }) => summary?.endsWith(UNCONFIRMED) === false,
    );
    assert.equal(items.length, whole);
  }

  async close(): Promise<void> {
    await this.gateway.client.close();
    await this.#editor.stop();
    removeFolder(this.folder);
  }
}

/** A range within one line. */
export function on(line: number, from: number, to: number): Range {
  return { start: { line, character: from }, end: { line, character: to } };
}
