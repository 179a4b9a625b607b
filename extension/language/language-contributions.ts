// What the installed extensions contribute of languages in their manifests. Anybody may have written those.

/** A language that an installed extension contributes. */
export interface ContributedLanguage {
  /** The editor's id of it. */
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  /** How the names of its files end, and whole names of files. */
  readonly extensions: ReadonlySet<string>;
  readonly filenames: ReadonlySet<string>;
  /** Whether an extension that has code names it: others only colour it, and nothing answers for it. */
  readonly isServed: boolean;
}

/** What VS Code keeps of an installed extension. */
export interface InstalledExtension {
  readonly packageJSON: unknown;
}

/** The languages of all these extensions, each once, by their ids. */
export function contributedLanguages(
  extensions: readonly InstalledExtension[],
): ReadonlyMap<string, ContributedLanguage> {
  const languages = new Map<string, { name: string; extensions: Set<string>; filenames: Set<string> }>();
  const served = new Set<string>();
  for (const { packageJSON } of extensions) {
    for (const contributed of list(field(field(packageJSON, "contributes"), "languages"))) {
      const id = field(contributed, "id");
      if (typeof id !== "string") {
        continue;
      }
      const [alias] = texts(field(contributed, "aliases"));
      const language = languages.get(id) ?? { name: alias ?? id, extensions: new Set(), filenames: new Set() };
      languages.set(id, language);
      for (const extension of texts(field(contributed, "extensions"))) {
        language.extensions.add(extension);
      }
      for (const filename of texts(field(contributed, "filenames"))) {
        language.filenames.add(filename);
      }
    }
    for (const id of servedLanguages(packageJSON)) {
      served.add(id);
    }
  }
  return new Map([...languages].map(([id, language]) => [id, { id, ...language, isServed: served.has(id) }]));
}

/** The ids of the languages that an extension with this manifest names and has code for. */
export function servedLanguages(packageJSON: unknown): ReadonlySet<string> {
  const hasCode = typeof field(packageJSON, "main") === "string" || typeof field(packageJSON, "browser") === "string";
  if (!hasCode) {
    return new Set();
  }
  const contributed = list(field(field(packageJSON, "contributes"), "languages")).map((language) =>
    field(language, "id"),
  );
  const started = texts(field(packageJSON, "activationEvents"))
    .filter((event) => event.startsWith(ON_LANGUAGE))
    .map((event) => event.slice(ON_LANGUAGE.length));
  return new Set([...texts(contributed), ...started]);
}

/** Whether the extension comes with VS Code, which marks those. */
export function isBuiltin(packageJSON: unknown): boolean {
  return field(packageJSON, "isBuiltin") === true;
}

const ON_LANGUAGE = "onLanguage:";

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown): string[] {
  return list(value).filter((item) => typeof item === "string");
}
