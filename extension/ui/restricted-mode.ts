import * as vscode from "vscode";
import { offer, RELOAD } from "../check/recovery-actions.ts";

/**
 * What Restricted Mode keeps back. When a folder is trusted, the editor starts some extensions of languages at once, and
 * others, TypeScript's in a browser among them, not before the window is loaded again; it tells nobody which.
 */
export class RestrictedMode {
  #mayBe = !vscode.workspace.isTrusted;

  /** To be called when nothing in the editor could have answered for a language. Tells the person once, if this may be why. */
  unserved(language: string): void {
    if (this.#mayBe) {
      this.#mayBe = false;
      const message = `No extension answers for ${language} yet; one that was kept back in Restricted Mode starts once the window is reloaded.`;
      void offer(vscode.window.showWarningMessage(message, RELOAD.title), RELOAD);
    }
  }
}
