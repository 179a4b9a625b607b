// A test-only extension: it starts the language servers that the settings name, as the extension of a language would.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

/** One language and the server that answers for it. */
export interface Server {
  readonly language: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What the server is told at its start. */
  readonly initializationOptions?: object;
}

const clients: LanguageClient[] = [];

export async function activate(): Promise<void> {
  for (const client of clientsOfSettings()) {
    await client.start();
  }
}

/** A client for each server that the settings name, not started yet. */
export function clientsOfSettings(): readonly LanguageClient[] {
  const servers = vscode.workspace.getConfiguration("gatewayLanguages").get<readonly Server[]>("servers", []);
  for (const { language, command, args, initializationOptions } of servers) {
    clients.push(
      new LanguageClient(
        language,
        { command, args: [...args] },
        { documentSelector: [{ scheme: "file", language }], initializationOptions },
      ),
    );
  }
  return clients;
}

export async function deactivate(): Promise<void> {
  await Promise.all(clients.map((client) => client.stop()));
}
