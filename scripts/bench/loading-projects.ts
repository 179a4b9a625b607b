// The projects that `npm run bench:readiness` opens, and what there is to find in them by their language servers, asked
// directly.

import { cpSync, globSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Location, Position } from "../../harness/clients/gateway-client.ts";
import type { Server } from "../../harness/editor/extensions/languages/extension.ts";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";
import { type AskedProject, ON_FLASK, ON_SEMVER, ON_ZLIB } from "../../harness/languages/asked-projects.ts";
import { LanguageServer } from "../../harness/languages/language-server.ts";
import { clangd, pyright, rustAnalyzer } from "../../harness/languages/language-servers.ts";
import { type Asked, writeFleet } from "../../harness/languages/readiness.ts";
import { placeIn } from "../../harness/languages/sample.ts";
import { root } from "../../harness/layout.ts";
import { Failure } from "../../harness/machine/progress.mjs";

/** How long the answer of a server that has loaded has to stay the same. */
const SAME_MS = 5_000;
const MAX_PAGE = 200;

export interface LoadingProject extends AskedProject {
  readonly name: string;
  /** The folder of harness/editor/extensions whose extension starts the server. */
  readonly extension: string;
  readonly server: () => Promise<Server>;
  /** Whether the extension shows when the server is ready. */
  readonly shows: boolean;
  /** Resolves once the server, asked directly, has told that it has loaded the project. */
  readonly loaded: (server: LanguageServer, uri: string, folder: string) => Promise<void>;
}

const quiescent = (server: LanguageServer, uri: string): Promise<void> => server.quiescentFrom(uri);
const indexed = (server: LanguageServer, uri: string): Promise<void> => server.indexedFrom(uri);

export const LOADING_PROJECTS: readonly LoadingProject[] = [
  {
    name: "rust-analyzer on semver",
    extension: "rust-analyzer",
    server: rustAnalyzer,
    shows: true,
    ...ON_SEMVER,
    loaded: quiescent,
  },
  {
    name: "rust-analyzer on this product",
    extension: "rust-analyzer",
    server: rustAnalyzer,
    shows: true,
    copyTo: copyProduct,
    ...{ file: "native/core/src/roots.rs", word: "AllowedRoots", after: "pub struct AllowedRoots" },
    loaded: quiescent,
  },
  {
    name: "clangd on 300 files",
    extension: "clangd",
    server: clangd,
    shows: true,
    copyTo: (folder) => writeFleet(folder, 300),
    ...{ file: "fleet.cpp", word: "launch", after: "int launch" },
    loaded: indexed,
  },
  {
    name: "clangd on zlib",
    extension: "clangd",
    server: async () => ({ ...(await clangd()), language: "c" }),
    shows: true,
    ...ON_ZLIB,
    loaded: indexed,
  },
  {
    name: "pyright on flask",
    extension: "languages",
    server: pyright,
    shows: false,
    ...ON_FLASK,
    // What stands in the text of an annotation it finds only in files that it has checked. Here there is none of that.
    loaded: (server, _, folder) =>
      server.checked(globSync("flask/**/*.py", { cwd: folder }).map((file) => pathToFileURL(join(folder, file)).href)),
  },
];

/** What the server, asked directly, has to say of a project. */
export interface Direct {
  /** How many references there are. */
  readonly whole: number;
  /** How long it took to answer when it was asked as soon as it was ready, in milliseconds. */
  readonly firstAnswer: number;
  /** The question about the copy of the project in this folder. */
  readonly askIn: (folder: string) => Asked;
}

/** Asks the server directly in a copy of the project, until its answer stays the same. */
export async function askDirectly(project: LoadingProject): Promise<Direct> {
  const folder = temporaryFolder("direct");
  try {
    await project.copyTo(folder);
    const { uri, position } = placeIn(folder, project.file, project.word, project.after);
    const command = await project.server();
    const server = await LanguageServer.of(command, folder, command.initializationOptions);
    await project.loaded(server, uri, folder);
    const asked = Date.now();
    await server.references(uri, position);
    const firstAnswer = Date.now() - asked;
    const expected = inside(folder, await finalReferences(server, uri, position));
    await server.stop();
    const whole = expected.size;
    if (whole < 2 || whole > MAX_PAGE) {
      throw new Failure(`${project.name}: ${whole} references to ${project.word} are not some that fit on one page.`);
    }
    const areRight = (found: ReadonlySet<string>): boolean =>
      found.size === whole && [...found].every((item) => expected.has(item));
    return {
      whole,
      firstAnswer,
      askIn: (copy) => ({ file: project.file, position, whole, areRight: (items) => areRight(inside(copy, items)) }),
    };
  } finally {
    removeFolder(folder);
  }
}

async function finalReferences(server: LanguageServer, uri: string, position: Position): Promise<readonly Location[]> {
  let [items, since] = [await server.references(uri, position), Date.now()];
  while (Date.now() - since < SAME_MS) {
    await delay(500);
    const again = await server.references(uri, position);
    if (JSON.stringify(again) !== JSON.stringify(items)) {
      [items, since] = [again, Date.now()];
    }
  }
  return items;
}

/** The places as texts that are the same in every copy of the project. */
function inside(folder: string, items: readonly Location[]): ReadonlySet<string> {
  const base = `${pathToFileURL(folder).href}/`;
  return new Set(
    items.map(({ uri, range: { start, end } }) =>
      [uri.replace(base, ""), start.line, start.character, end.line, end.character].join(":"),
    ),
  );
}

/** The Rust workspace of this checkout. What is compiled is not copied, so that the server has to begin anew. */
function copyProduct(folder: string): void {
  for (const part of ["Cargo.toml", "Cargo.lock", ".cargo", "native", "schemas", "package.json"]) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
}
