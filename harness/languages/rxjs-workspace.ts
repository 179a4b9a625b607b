// A TypeScript project of real size: the sources of rxjs, as npm has them.

import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { removeFolder, temporaryFolder } from "../editor/gateway-window.ts";
import { cached, npmInstall } from "../machine/cache.mjs";
import { type Place, placeIn, sample } from "./sample.ts";

const VERSION = "7.8.1";

/** Without it the editor sees single files and finds a fraction of the references. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: "ES2019",
    module: "commonjs",
    moduleResolution: "node",
    lib: ["ES2019", "DOM"],
    baseUrl: "src",
    paths: { rxjs: ["./"], "rxjs/*": ["./*"] },
    ignoreDeprecations: "6.0",
  },
  include: ["src/**/*.ts"],
};

export async function copyRxjs(folder: string): Promise<void> {
  const source = join("node_modules", "rxjs", "src");
  const download = await cached(`rxjs-${VERSION}`, join(source, "index.ts"), `Downloading rxjs ${VERSION}`, (partial) =>
    npmInstall(partial, { rxjs: VERSION }),
  );
  cpSync(join(download, source), join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
}

/** A copy of rxjs' sources that nobody else touches. */
export class RxjsWorkspace {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<RxjsWorkspace> {
    const folder = temporaryFolder("rxjs");
    await copyRxjs(folder);
    return new RxjsWorkspace(folder);
  }

  uri(file: string): string {
    return pathToFileURL(join(this.folder, file)).href;
  }

  /** Where `file` has the first `word` at or after the first `after`. */
  find(file: string, word: string, after = ""): Place {
    return placeIn(this.folder, file, word, after);
  }

  /** `count` different identifiers anywhere in the sources, always the same ones for the same seed. */
  sample(count: number, seed: number): Place[] {
    return sample(this.folder, "src/**/*.ts", "typescript", count, seed);
  }

  remove(): void {
    removeFolder(this.folder);
  }
}
