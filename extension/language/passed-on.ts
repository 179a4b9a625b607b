import type { Clock } from "../clock.ts";
import type { SeenFile } from "../native.d.ts";
import { type InstalledExtension, isBuiltin, servedLanguages } from "./language-contributions.ts";

/** The clients of most language servers gather what the editor has seen on disk until nothing more comes for 250 ms. */
export const MOST_CLIENTS_MS = 300;
/** VS Code's own extension for TypeScript gathers it for 100 ms, from the first on. */
export const TYPESCRIPT_MS = 130;

const TYPESCRIPT_FILE = /\.[cm]?[jt]sx?$/;

/** How many files are told of at once. Of more, the server knows only that many have changed. */
export const MAX_TOLD = 4_096;

/** Tells of what the editor has seen on disk, once language servers have been told of it. */
export class PassedOn {
  readonly #clock: Clock;
  readonly #typescript: ReadonlySet<string>;
  readonly #extensions: () => readonly InstalledExtension[];
  readonly #tell: (files: SeenFile[]) => void;
  #ofTypeScript: SeenFile[] = [];
  #others: SeenFile[] = [];
  #cancel = (): void => {};
  /** Whether files of TypeScript and JavaScript concern VS Code's own extension only; undefined until that is needed. */
  #isVsCodesOnly: boolean | undefined;

  /** @param typescript the languages that VS Code's own extension for TypeScript answers for */
  constructor(
    clock: Clock,
    typescript: ReadonlySet<string>,
    extensions: () => readonly InstalledExtension[],
    tell: (files: SeenFile[]) => void,
  ) {
    this.#clock = clock;
    this.#typescript = typescript;
    this.#extensions = extensions;
    this.#tell = tell;
  }

  saw(file: SeenFile): void {
    if (TYPESCRIPT_FILE.test(file.path) && this.#isOfVsCodesOnly()) {
      if (this.#ofTypeScript.push(file) === 1) {
        this.#clock.after(TYPESCRIPT_MS, () => this.#tellOf(this.#ofTypeScript));
      }
      return;
    }
    this.#others.push(file);
    this.#cancel();
    this.#cancel = this.#clock.after(MOST_CLIENTS_MS, () => this.#tellOf(this.#others));
  }

  /** Extensions came or went. */
  extensionsChanged(): void {
    this.#isVsCodesOnly = undefined;
  }

  #tellOf(files: SeenFile[]): void {
    this.#tell(files.splice(0).slice(0, MAX_TOLD));
  }

  #isOfVsCodesOnly(): boolean {
    this.#isVsCodesOnly ??= this.#extensions().every(({ packageJSON }) => {
      const served = servedLanguages(packageJSON);
      return isBuiltin(packageJSON) || ![...served].some((language) => this.#typescript.has(language));
    });
    return this.#isVsCodesOnly;
  }
}
