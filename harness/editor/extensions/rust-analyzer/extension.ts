// A test-only extension that goes by the name of rust-analyzer's: it exports its client, and listens to the server's own
// sign of whether it is ready, as that does.

import type { LanguageClient } from "vscode-languageclient/node";
import { clientsOfSettings } from "../languages/extension.ts";

export { deactivate } from "../languages/extension.ts";

export interface Exports {
  readonly client: LanguageClient;
  /** Since when the server has said that it is ready, in milliseconds of the clock; undefined while it has not. */
  readonly readySince: number | undefined;
}

export async function activate(): Promise<Exports> {
  const [client] = clientsOfSettings("rust-analyzer");
  if (client === undefined) {
    throw new Error("The settings name no server.");
  }
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      capabilities.experimental = { serverStatusNotification: true };
    },
    initialize: () => {},
    getState: () => ({ kind: "static" }),
    clear: () => {},
  });
  let readySince: number | undefined;
  client.onNotification("experimental/serverStatus", ({ quiescent }: { readonly quiescent: boolean }) => {
    readySince = quiescent ? (readySince ?? Date.now()) : undefined;
  });
  await client.start();
  return {
    client,
    get readySince() {
      return readySince;
    },
  };
}
