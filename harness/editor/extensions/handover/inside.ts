// Functions that a test sends into the extension host.

import { rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import * as vscode from "vscode";

/** What a function that runs inside is given first. */
export type Api = typeof vscode;

/** What is sent: a function as text, and what it is called with after the API. */
export interface Question {
  readonly source: string;
  readonly argument: unknown;
}

/** What comes back: what the function returned, or why it failed. */
export type Answer = { readonly value: unknown } | { readonly error: string };

/** Runs whatever is posted to this socket. It lies in a folder that only the person who runs the test can enter. */
export function runWhatIsSent(socket: string): vscode.Disposable {
  const server = createServer((request, response) => {
    void answer(request).then((result) => response.end(JSON.stringify(result)));
  });
  // One is left there by an extension host that was killed.
  rmSync(socket, { force: true });
  server.listen(socket);
  return new vscode.Disposable(() => server.close());
}

async function answer(request: IncomingMessage): Promise<Answer> {
  try {
    const { source, argument }: Question = JSON.parse(await text(request));
    const run = new Function("vscode", "argument", `return (${source})(vscode, argument);`);
    return { value: await run(vscode, argument) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
