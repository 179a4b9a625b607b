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
  const servers = vscode.workspace.getConfiguration("gatewayLanguages").get<readonly Server[]>("servers", []);
  for (const { language, command, args, initializationOptions } of servers) {
    const client = new LanguageClient(
      language,
      { command, args: [...args] },
      { documentSelector: [{ scheme: "file", language }], initializationOptions },
    );
    clients.push(client);
    await client.start();
  }
}

export async function deactivate(): Promise<void> {
  await Promise.all(clients.map((client) => client.stop()));
}
