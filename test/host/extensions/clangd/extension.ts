// A test-only extension that goes by the name of clangd's, and exports its client as that does.

import type { LanguageClient } from "vscode-languageclient/node";
import { clientsOfSettings } from "../languages/extension.ts";

export { deactivate } from "../languages/extension.ts";

export interface Exports {
  getApi(version: number): { readonly languageClient: LanguageClient | undefined };
}

export async function activate(): Promise<Exports> {
  const [client] = clientsOfSettings();
  await client?.start();
  return {
    getApi: (version) => {
      if (version !== 1) {
        throw new Error(`No API version ${version} found`);
      }
      return { languageClient: client };
    },
  };
}
