// A test-only extension: it starts the language servers that the settings name, as the extension of a language would.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

/** One language and the server that answers for it. */
export interface Server {
  readonly language: string;
  /** The other languages that it answers for. */
  readonly others?: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  /** What the server is told at its start. */
  readonly initializationOptions?: object;
}

const clients: LanguageClient[] = [];

/** The servers, by the folder's name of the extension that starts them. */
export type Servers = Readonly<Record<string, readonly Server[]>>;

export function activate(): Promise<void> {
  return startClients("languages");
}

/** Starts the servers that the settings name for this extension. */
export async function startClients(extension: string): Promise<void> {
  for (const client of clientsOfSettings(extension)) {
    await client.start();
  }
}

/** A client for each server that the settings name for this extension, not started yet. */
export function clientsOfSettings(extension: string): readonly LanguageClient[] {
  const servers = vscode.workspace.getConfiguration("gatewayLanguages").get<Servers>("servers", {});
  for (const { language, others = [], command, args, initializationOptions } of servers[extension] ?? []) {
    clients.push(
      new LanguageClient(
        language,
        { command, args: [...args] },
        {
          documentSelector: [language, ...others].map((language) => ({ scheme: "file", language })),
          initializationOptions,
        },
      ),
    );
  }
  return clients;
}

export async function deactivate(): Promise<void> {
  await Promise.all(clients.map((client) => client.stop()));
}
