// A test-only extension that goes by the name of TypeScript 7's: where it is there and a setting says so, VS Code's own for
// TypeScript leaves the language to it.

import { startClients } from "../languages/extension.ts";

export { deactivate } from "../languages/extension.ts";

export async function activate(): Promise<object> {
  await startClients("typescript7");
  // It lets requests wait until it can answer them.
  return { gateway: { ready: () => true } };
}
