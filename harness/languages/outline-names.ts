// The names of a file's symbols, as its outline has them.

import type { GatewayClient } from "../clients/gateway-client.ts";

/** More than any outline here has on one page. */
const LARGEST_PAGE = 20_000;

/** The symbols of a file, each by the names of what contains it and its own, the innermost last. */
export async function namesIn(client: GatewayClient, file: string): Promise<string[][]> {
  const found: string[][] = [];
  const around: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { symbols: readonly string[]; nextCursor: string | null } = await client.call("vscode.lsp.outline", {
      file,
      maxTokens: LARGEST_PAGE,
      cursor,
    });
    for (const line of page.symbols) {
      const [, spaces = "", name = ""] = /^( *)\S+ \S+ (.*)$/.exec(line) ?? [];
      around.splice(spaces.length, around.length, name);
      found.push([...around]);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}
