// The invariants of docs/ARCHITECTURE.md that say what must not be where.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join, posix, relative } from "node:path";
import { root } from "../harness/layout.ts";
import { succeed } from "../harness/machine/processes.mjs";
import { circlesIn } from "../harness/results/rust-imports.ts";

/** What a crate must not be built on, directly or through another crate. */
const FOREIGN_CRATES = [
  { crate: "gateway-core", foreign: /^(tokio|napi|hyper|axum|http|tracing|getrandom)/ },
  { crate: "gateway-server", foreign: /^napi/ },
  { crate: "gateway-lsp", foreign: /^napi/ },
];

interface Rule {
  /** What is wrong with a line that matches, as the end of a sentence. */
  readonly says: string;
  readonly line: RegExp;
  /** The files, by their path from the root, that the rule is about. */
  readonly within: (file: string) => boolean;
}

const PROVIDERS = "extension/boundary/providers.ts";
const TYPESCRIPT = "extension/language/typescript.ts";
const TESTED_ALONE = ["extension/check/check-report.ts", "extension/check/own-client.ts", "extension/ui/clients.ts"];

/** The rooms of a folder. Each imports those before it, and none after it, nor the main.ts that is built on all. */
const ROOMS = {
  extension: ["boundary", "language", "gateway", "check", "ui"],
  harness: ["machine", "build", "results", "clients", "editor", "languages"],
};

/** The folders from which nothing in a folder imports. */
const APART = {
  extension: ["harness", "replay", "scripts", "test"],
  harness: ["replay", "scripts", "test"],
  replay: ["scripts", "test"],
  scripts: ["test"],
  test: ["scripts"],
};

/** A folder, and what nothing in it imports: files, and folders with a slash at the end. */
interface Bound {
  readonly says: string;
  readonly folder: string;
  readonly never: readonly string[];
}

const BOUNDS: readonly Bound[] = [
  ...Object.entries(ROOMS).flatMap(([folder, rooms]) =>
    rooms.map((room, place) => ({
      says: `${folder}/${room}/ does not import what is built on it`,
      folder: `${folder}/${room}/`,
      never: [`${folder}/main.ts`, ...rooms.slice(place + 1).map((later) => `${folder}/${later}/`)],
    })),
  ),
  ...Object.entries(APART).map(([folder, others]) => ({
    says: `nothing in ${folder}/ imports from ${others.map((other) => `${other}/`).join(" or ")}`,
    folder: `${folder}/`,
    never: others.map((other) => `${other}/`),
  })),
];

const RULES: readonly Rule[] = [
  {
    // The name of a type, such as import("vscode").Hover, is gone before anything runs.
    says: "only extension/ imports vscode",
    line: /\b(from|import|require)\b\s*\(?\s*["']vscode["'](?!\)\.[A-Z])/,
    within: (file) => isScript(file) && !file.startsWith("extension/") && !isTestExtension(file),
  },
  {
    says: "it does not import vscode, so that it can be tested alone",
    line: /\b(from|import|require)\b\s*\(?\s*["']vscode["']/,
    within: (file) => TESTED_ALONE.includes(file) || file.startsWith("extension/boundary/"),
  },
  {
    says: `only ${PROVIDERS} names what asks language features`,
    line: /["'`](vscode\.execute\w*|_?typescript\.\w+)["'`]/,
    within: (file) => file.startsWith("extension/") && file !== PROVIDERS && file !== TYPESCRIPT,
  },
  {
    says: `${TYPESCRIPT} asks the language server if it is ready and for diagnostics, and nothing else`,
    line: /["'`](vscode\.execute\w*|_?typescript\.(?!(tsserverRequest|reportStyleChecksAsWarnings)["'`])\w+)["'`]/,
    within: (file) => file === TYPESCRIPT,
  },
  {
    says: `${PROVIDERS} names what reads and nothing that edits`,
    line: /["'`]vscode\.execute\w*(Rename|Format|CodeAction|CodeLens)/,
    within: (file) => file === PROVIDERS,
  },
  {
    says: "the page of the activity view has nothing but what is in view/",
    line: /\b(from|import|require)\b\s*\(?\s*["'](?!\.\/)/,
    within: (file) => file.startsWith("view/"),
  },
  {
    says: "nothing on the page is made of markup or of code in a text",
    line: /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|DOMParser|\beval\b|new Function/,
    within: (file) => file.startsWith("view/"),
  },
  {
    says: "only http.rs and serve.rs of the server know HTTP",
    line: /\b(hyper|hyper_util|http_body_util)::/,
    within: (file) => /^native\/server\/src\/(?!http\.rs$|serve\.rs$)/.test(file),
  },
  {
    says: "JSON-RPC numbers are in native/server/src/rpc.rs only",
    line: /-32[67]\d\d/,
    within: (file) => /^native\/(core|server|addon)\/src\/.*\.rs$/.test(file) && file !== "native/server/src/rpc.rs",
  },
];

const FORBIDDEN_NAME = /^(utils?|helpers?|common|misc|types)\.\w+$/;
const FORBIDS_UNSAFE = ["core", "server", "lsp"].map((crate) => `native/${crate}/src/lib.rs`);

/** Every violation, as one line each; none if the layers are kept apart. */
export async function layeringViolations(): Promise<string[]> {
  const crates = await Promise.all(FOREIGN_CRATES.map(foreignCrates));
  return [...crates.flat(), ...sourceViolations(), ...circleViolations()];
}

/** Files that import each other can only be read, moved and tested together. */
function circleViolations(): string[] {
  return readdirSync(join(root, "native")).flatMap((crate) => {
    const src = `native/${crate}/src/`;
    const files = sources().filter((file) => file.startsWith(src) && file.endsWith(".rs"));
    const texts = files.map((file) => [file.slice(src.length), readFileSync(join(root, file), "utf8")] as const);
    return circlesIn(new Map(texts)).map((circle) => `${src}: these import each other: ${circle.join(", ")}`);
  });
}

async function foreignCrates({ crate, foreign }: (typeof FOREIGN_CRATES)[number]): Promise<string[]> {
  const { stdout } = await succeed(
    "cargo tree failed: mend what it reports above.",
    "cargo",
    ["tree", "--locked", "--package", crate, "--edges", "normal,build", "--prefix", "none", "--format", "{p}"],
    { cwd: root },
  );
  const names = new Set(stdout.split("\n").map((line) => line.split(" ")[0] ?? ""));
  return [...names].filter((name) => foreign.test(name)).map((name) => `${crate} must not be built on ${name}`);
}

function sourceViolations(): string[] {
  const violations: string[] = [];
  for (const file of sources()) {
    if (FORBIDDEN_NAME.test(basename(file))) {
      violations.push(`${file}: name it after what it holds`);
    }
    const rules = RULES.filter((rule) => rule.within(file));
    const bounds = BOUNDS.filter(({ folder }) => file.startsWith(folder));
    const mustForbidUnsafe = FORBIDS_UNSAFE.includes(file);
    if (rules.length === 0 && bounds.length === 0 && !mustForbidUnsafe) {
      continue;
    }
    const text = readFileSync(join(root, file), "utf8");
    if (mustForbidUnsafe && !text.includes("#![forbid(unsafe_code)]")) {
      violations.push(`${file}: #![forbid(unsafe_code)] is missing`);
    }
    for (const [index, line] of text.split("\n").entries()) {
      const imported = importedBy(file, line) ?? "";
      const broken = [
        ...rules.filter((rule) => rule.line.test(line)),
        ...bounds.filter(({ never }) => never.some((path) => imported.startsWith(path))),
      ];
      violations.push(...broken.map((rule) => `${file}:${index + 1}: ${rule.says}`));
    }
  }
  return violations;
}

function sources(): string[] {
  const files: string[] = [];
  for (const folder of ["extension", "harness", "native", "replay", "scripts", "test", "view"]) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      const file = relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/");
      if (entry.isFile() && !/(^|\/)(node_modules|target|workspace)\//.test(file)) {
        files.push(file);
      }
    }
  }
  return files.sort();
}

/** The file that a line imports by its path, from the root. */
function importedBy(file: string, line: string): string | undefined {
  const path = /\b(?:from|import|require)\b\s*\(?\s*["'`](\.[^"'`]*)/.exec(line)?.[1];
  return path === undefined ? undefined : posix.join(posix.dirname(file), path);
}

function isScript(file: string): boolean {
  return /\.[cm]?[jt]s$/.test(file);
}

/** The extensions that are installed beside ours in an editor that is driven run inside the editor as well. */
function isTestExtension(file: string): boolean {
  return /^harness\/editor\/extensions\//.test(file);
}
