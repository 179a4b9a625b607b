import { isAbsolute } from "node:path";

/** From quiet to talkative. The index is the number that crosses the boundary with each message of the addon. */
export const LOG_LEVELS = ["off", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Lower bounds are those of D48, upper bounds those of the contract (section 5.1), which is also what is used when nothing is set. */
export const NUMBERS = {
  port: { minimum: 1024, maximum: 65535, default: 39400 },
  maxItemsPerPage: { minimum: 1, maximum: 200, default: 200 },
  maxResponseBytes: { minimum: 16384, maximum: 524288, default: 524288 },
  requestTimeoutMs: { minimum: 100, maximum: 2000, default: 2000 },
} as const;

/** The tools of the contract's first version. */
export const DEFAULT_CATALOG: readonly string[] = ["v1"];

/** `.git`, logs, and what compilers write while they watch (D22). */
export const DEFAULT_IGNORE: readonly string[] = [
  "**/.git/**",
  "**/*.log",
  "**/node_modules/.cache/**",
  "**/.cache/clangd/**",
  "**/dist/**",
  "**/out/**",
  "**/build/**",
  "**/target/**",
  "**/__pycache__/**",
];

/** Longest list that a setting may hold, and longest text in it. */
export const MAX_ENTRIES = 100;
const MAX_CHARACTERS = 4096;

/** A folder that clients may read besides those of the workspace. */
export interface AdditionalRoot {
  readonly path: string;
  /** Where it stands in the setting, counted from 1. */
  readonly entry: number;
  /** Whether the person's own settings name it. One that only the workspace's settings name needs consent (D48). */
  readonly own: boolean;
}

/** The settings under `mcpLspGateway.`, each within its bounds. */
export interface Settings {
  readonly enabled: boolean;
  readonly port: number;
  /** Whether the workspace's own settings name the port. */
  readonly portOfWorkspace: boolean;
  readonly additionalAllowedRoots: readonly AdditionalRoot[];
  readonly allowedOrigins: readonly string[];
  readonly protocolFallback: boolean;
  readonly maxItemsPerPage: number;
  readonly maxResponseBytes: number;
  readonly requestTimeoutMs: number;
  /** Which tools clients are offered: profiles or names of tools. */
  readonly catalog: readonly string[];
  readonly watchIgnore: readonly string[];
  readonly warmUp: boolean;
  readonly openTab: boolean;
  readonly logLevel: LogLevel;
}

/** A text of a list, and where it stands there, counted from 1. */
interface Entry {
  readonly text: string;
  readonly number: number;
}

/** What this module needs of VS Code's `WorkspaceConfiguration`. */
export interface Configuration {
  get(name: string): unknown;
  inspect(name: string): { readonly globalValue?: unknown; readonly workspaceValue?: unknown } | undefined;
}

/** What the gateway can tell of texts that are not the default's. */
export interface Readers {
  /** Whether it can read the pattern in `watch.ignore`. */
  isGlob(pattern: string): boolean;
  /** Whether this chooses tools in `catalog`. */
  isCatalog(choice: string): boolean;
}

/**
 * Settings -> one validated object. `problems` has one sentence for each value that was clamped or refused; it names the
 * setting and says what is used instead, and never repeats a path.
 */
export function readSettings(
  configuration: Configuration,
  { isGlob, isCatalog }: Readers,
): { settings: Settings; problems: string[] } {
  const problems: string[] = [];

  function number(name: keyof typeof NUMBERS): number {
    const bounds = NUMBERS[name];
    const value = configuration.get(name) ?? bounds.default;
    if (typeof value !== "number" || !Number.isInteger(value)) {
      problems.push(
        `mcpLspGateway.${name} is not a whole number, so ${bounds.default} is used: set it to one from ${bounds.minimum} to ${bounds.maximum}.`,
      );
      return bounds.default;
    }
    const clamped = Math.min(Math.max(value, bounds.minimum), bounds.maximum);
    if (clamped !== value) {
      problems.push(
        `mcpLspGateway.${name} is ${value}, so ${clamped} is used: set it to a number from ${bounds.minimum} to ${bounds.maximum}.`,
      );
    }
    return clamped;
  }

  function entries(
    name: string,
    fallback: readonly string[],
    check: (text: string) => string | undefined,
    value = configuration.get(name) ?? fallback,
  ): Entry[] {
    if (!Array.isArray(value)) {
      problems.push(`mcpLspGateway.${name} is not a list, so what it says is ignored: set it to a list of texts.`);
      return fallback.map((text, index) => ({ text, number: index + 1 }));
    }
    if (value.length > MAX_ENTRIES) {
      problems.push(
        `mcpLspGateway.${name} has ${value.length} entries, so only the first ${MAX_ENTRIES} are used: shorten the list.`,
      );
    }
    const accepted: Entry[] = [];
    for (const [index, entry] of value.slice(0, MAX_ENTRIES).entries()) {
      const fault =
        typeof entry !== "string"
          ? "a text"
          : entry.length > MAX_CHARACTERS || entry.includes("\0")
            ? `a text of at most ${MAX_CHARACTERS} printable characters`
            : check(entry);
      if (fault === undefined) {
        accepted.push({ text: entry, number: index + 1 });
      } else {
        problems.push(`Entry ${index + 1} of mcpLspGateway.${name} is ignored: make it ${fault}, or remove it.`);
      }
    }
    return accepted;
  }

  function texts(...list: Parameters<typeof entries>): string[] {
    return entries(...list).map(({ text }) => text);
  }

  function flag(name: string, fallback: boolean, otherwise: string): boolean {
    const value = configuration.get(name) ?? fallback;
    if (typeof value !== "boolean") {
      problems.push(`mcpLspGateway.${name} is neither true nor false, so ${otherwise}: set it to true or false.`);
      return false;
    }
    return value;
  }

  const enabled = flag("enabled", true, "the gateway stays off");
  const level = configuration.get("logLevel") ?? "info";
  const logLevel = LOG_LEVELS.find((known) => known === level);
  if (logLevel === undefined) {
    problems.push(
      `mcpLspGateway.logLevel is not a known level, so info is used: set it to one of ${LOG_LEVELS.join(", ")}.`,
    );
  }

  // A profile may stand by itself.
  const catalog = configuration.get("catalog") ?? DEFAULT_CATALOG;
  const own = configuration.inspect("additionalAllowedRoots")?.globalValue;
  const ownRoots = new Set<unknown>(Array.isArray(own) ? own : []);
  const settings: Settings = {
    enabled,
    port: number("port"),
    portOfWorkspace: configuration.inspect("port")?.workspaceValue !== undefined,
    additionalAllowedRoots: entries("additionalAllowedRoots", [], (text) =>
      isAbsolute(text) ? undefined : "an absolute path such as /home/me/library",
    ).map(({ text, number: entry }) => ({ path: text, entry, own: ownRoots.has(text) })),
    allowedOrigins: texts("allowedOrigins", [], (text) =>
      ORIGIN.test(text) ? undefined : "an origin such as https://example.com, without a path",
    ).map((origin) => origin.toLowerCase()),
    protocolFallback: flag("protocolFallback", false, "only revision 2025-11-25 of MCP is spoken"),
    maxItemsPerPage: number("maxItemsPerPage"),
    maxResponseBytes: number("maxResponseBytes"),
    requestTimeoutMs: number("requestTimeoutMs"),
    catalog: texts(
      "catalog",
      DEFAULT_CATALOG,
      (text) => (DEFAULT_CATALOG.includes(text) || isCatalog(text) ? undefined : "v1, core, all or the name of a tool"),
      typeof catalog === "string" ? [catalog] : catalog,
    ),
    watchIgnore: texts("watch.ignore", DEFAULT_IGNORE, (text) =>
      DEFAULT_IGNORE.includes(text) || (text.trim() !== "" && isGlob(text))
        ? undefined
        : "a glob pattern such as **/dist/**",
    ),
    warmUp: flag("warmUp", true, "no language server is started ahead"),
    openTab: flag("diagnostics.openTab", false, "no tab is opened"),
    logLevel: logLevel ?? "info",
  };
  return { settings, problems };
}

/** Scheme, `://` and authority: what a browser sends in `Origin`. `null` and `*` would lift the check for everybody. */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*\\]+$/i;
