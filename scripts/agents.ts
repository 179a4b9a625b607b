// Clients that call like agents at work, for pictures of what that looks like.

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { RawClient } from "../harness/clients/raw-client.ts";
import type { ClientConfiguration } from "../harness/editor/handover.ts";

/** Two clients that call like agents at work: in bursts, with a question now and then that goes wrong. */
export class Agents {
  readonly #configuration: ClientConfiguration;
  readonly #folder: string;
  #clients: Promise<RawClient[]> | undefined;

  constructor(configuration: ClientConfiguration, folder: string) {
    this.#configuration = configuration;
    this.#folder = folder;
  }

  /** One burst after the other until the time is over, and one at least. */
  async callFor(millis: number): Promise<void> {
    const begun = performance.now();
    for (let burst = 0; burst === 0 || performance.now() - begun < millis; burst += 1) {
      for (let question = 0; question < 3 + ((burst * 5) % 8); question += 1) {
        await this.#ask(burst, question);
      }
      await delay(millis === 0 ? 0 : 2_000 + ((burst * 3_700) % 11_000));
    }
  }

  async #ask(burst: number, question: number): Promise<void> {
    this.#clients ??= Promise.all(
      [
        { name: "claude-code", version: "2.1.4" },
        { name: "codex-mcp-client", version: "0.63.0" },
      ].map((info) => RawClient.connect(this.#configuration, info)),
    );
    const client = (await this.#clients)[burst % 2];
    const uri = (name: string) => pathToFileURL(join(this.#folder, "src", name)).href;
    const questions: readonly (readonly [tool: string, input: Readonly<Record<string, unknown>>])[] = [
      ["documentSymbols", { uri: uri("harbour.ts") }],
      ["hover", { uri: uri("harbour.ts"), position: { line: 13, character: 61 } }],
      ["definition", { uri: uri("harbour.ts"), position: { line: 13, character: 61 } }],
      ["references", { uri: uri("ship.ts"), position: { line: 1, character: 17 }, pageSize: 3 }],
      ["diagnostics.document", { uri: uri("mistakes.ts") }],
      ["workspaceSymbols", { query: "convoy" }],
      ["references", { uri: uri("berth.ts"), position: { line: 6, character: 13 }, includeDeclaration: true }],
      ["diagnostics.workspace", {}],
      ["hover", { uri: uri("ship.ts"), position: { line: 80, character: 0 } }],
    ];
    const [tool, input] = questions[(burst * 2 + question) % questions.length] ?? ["", {}];
    // One of them is meant to fail.
    await client?.call(`vscode.lsp.${tool}`, input).catch(() => undefined);
  }
}
