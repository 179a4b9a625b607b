// A test-only extension that goes by the name of clangd's: it exports its client as that does, and hears of the server's
// work in its own way.

import type { LanguageClient } from "vscode-languageclient/node";
import { clientsOfSettings } from "../languages/extension.ts";

export { deactivate } from "../languages/extension.ts";

export interface Exports {
  /** Since when the server has ended its work, in milliseconds of the clock; undefined while it has not. */
  readonly readySince: number | undefined;
  getApi(version: number): { readonly languageClient: LanguageClient };
}

export async function activate(): Promise<Exports> {
  const [client] = clientsOfSettings("clangd");
  if (client === undefined) {
    throw new Error("The settings name no server.");
  }
  let readySince: number | undefined;
  client.middleware.handleWorkDoneProgress = (token, params, next) => {
    readySince = params.kind === "end" ? Date.now() : undefined;
    next(token, params);
  };
  await client.start();
  return {
    get readySince() {
      return readySince;
    },
    getApi: (version) => {
      if (version !== 1) {
        throw new Error(`No API version ${version} found`);
      }
      return { languageClient: client };
    },
  };
}
