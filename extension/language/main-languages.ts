import type { ContributedLanguage } from "./language-contributions.ts";

/** More servers than these are not started for a workspace. */
export const MAX_LANGUAGES = 5;

/** How many files of a language are tried, one after the other, until one can be opened. */
export const MAX_CANDIDATES = 10;

/** A file of the workspace. */
export interface WorkspaceFile {
  readonly uri: string;
  /** Relative to its folder, with forward slashes. */
  readonly path: string;
}

/** Languages of data and prose: those who answer for them know one file at a time and have nothing to load. */
const DATA_AND_PROSE: ReadonlySet<string> = new Set([
  ...["json", "jsonc", "jsonl", "json5", "yaml", "toml", "xml", "xsl", "csv", "tsv", "sql"],
  ...["css", "scss", "less", "html", "svg"],
  ...["markdown", "plaintext", "latex", "tex", "bibtex", "restructuredtext", "asciidoc"],
  ...["ini", "properties", "dotenv", "ignore", "diff", "log"],
  ...["dockerfile", "dockercompose", "makefile", "snippets", "search-result", "prompt", "instructions", "chatagent"],
]);

/** Whether something may have to load the workspace before it can answer for this language. */
export function isMainLanguage({ id, isServed }: ContributedLanguage): boolean {
  return isServed && !DATA_AND_PROSE.has(id) && !id.startsWith("git-");
}

/** A glob pattern for the files of these languages; undefined if they have none. */
export function filesOf(languages: readonly ContributedLanguage[]): string | undefined {
  const patterns = languages.flatMap(({ extensions, filenames }) => [
    ...[...extensions].map((extension) => `**/*${extension}`),
    ...[...filenames].map((filename) => `**/${filename}`),
  ]);
  const plain = patterns.filter((pattern) => PLAIN.test(pattern));
  return plain.length === 0 ? undefined : `{${plain.join(",")}}`;
}

/** Only names without characters that mean something in a glob pattern. */
const PLAIN = /^\*\*\/\*?[\w.+#~ -]+$/;

/**
 * The languages of which there are most files, and for each the files that are likeliest to be at the heart of it, best
 * first.
 */
export function mainFiles(
  files: readonly WorkspaceFile[],
  languages: readonly ContributedLanguage[],
): ReadonlyMap<string, readonly WorkspaceFile[]> {
  const found = new Map<string, WorkspaceFile[]>();
  for (const file of files) {
    const language = languageOf(file, languages);
    if (language !== undefined) {
      const known = found.get(language);
      if (known === undefined) {
        found.set(language, [file]);
      } else {
        known.push(file);
      }
    }
  }
  const most = [...found].sort(([a, filesOfA], [b, filesOfB]) => filesOfB.length - filesOfA.length || order(a, b));
  return new Map(
    most
      .slice(0, MAX_LANGUAGES)
      .map(([language, all]) => [language, all.sort(byPlace).slice(0, MAX_CANDIDATES)] as const),
  );
}

function languageOf({ path }: WorkspaceFile, languages: readonly ContributedLanguage[]): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  let language = languages.find(({ filenames }) => filenames.has(name));
  // From the longest ending on: `.blade.php` is not `.php`.
  for (let dot = name.indexOf("."); language === undefined && dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const ending = name.slice(dot);
    language = languages.find(({ extensions }) => extensions.has(ending));
  }
  return language?.id;
}

/** Tests and declarations last, then by depth, then by path. */
function byPlace(a: WorkspaceFile, b: WorkspaceFile): number {
  return Number(isAside(a)) - Number(isAside(b)) || depth(a) - depth(b) || order(a.path, b.path);
}

const TEST = /(^|\/)(tests?|__tests__|specs?|fixtures?)\/|(^|\/)test_[^/]*$|[._-](test|spec)\.[^/]*$/i;
const DECLARATION = /\.d\.[cm]?ts$/;

function isAside({ path }: WorkspaceFile): boolean {
  return TEST.test(path) || DECLARATION.test(path);
}

function depth({ path }: WorkspaceFile): number {
  return path.split("/").length;
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
