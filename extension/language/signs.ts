import * as vscode from "vscode";
import type { Readiness } from "../boundary/rows.ts";
import { AT_ONCE_MS, type Clock, pause, within } from "../clock.ts";
import { servedLanguages } from "./language-contributions.ts";
import { type ClientLike, type Manner, type Sign, Work } from "./work.ts";

/** How long an extension may take to start. */
export const LONGEST_START_MS = 20_000;

/** Between two looks at a language that is waited for. */
const PAUSE_MS = 100;

/** An extension whose server is listened to at the clients that the extension exports. */
interface Heard extends Manner {
  readonly languages: readonly string[];
  readonly clients: (exports: unknown) => Iterable<unknown>;
}

const HEARD: ReadonlyMap<string, Heard> = new Map<string, Heard>([
  [
    "rust-lang.rust-analyzer",
    {
      languages: ["rust"],
      clients: (exports) => [field(exports, "client")],
      beginsByItself: true,
      // After each save it has the compiler check the project, and knows that as well as before meanwhile.
      loadsBy: (token) => !String(token).includes("flycheck"),
    },
  ],
  [
    "llvm-vs-code-extensions.vscode-clangd",
    {
      languages: ["c", "cpp", "cuda-cpp", "objective-c", "objective-cpp"],
      clients: clangdClients,
      beginsByItself: false,
      loadsBy: () => true,
    },
  ],
]);

const JAVA = "redhat.java";

/**
 * What language extensions show of whether their servers know the project (D28): those that export what can be listened to
 * without taking anything from them, and any that offers `gateway.ready` (docs/READINESS.md).
 */
export class Signs {
  readonly #clock: Clock;
  readonly #began: () => void;
  /** id -> when the extension was first found not to be active, while it is being started. */
  readonly #starting = new Map<string, number>();
  readonly #work = new Map<string, Work[]>();
  /** What was asked of an extension, by that and the document, while it has not answered. */
  readonly #asked = new Map<string, Promise<Sign>>();
  #isJavaReady: Promise<Sign> | undefined;

  /** `began` is called when a server that was ready, or about to be, is loading again. */
  constructor(clock: Clock, began: () => void) {
    this.#clock = clock;
    this.#began = began;
  }

  /** To be called when extensions came or went. */
  extensionsChanged(): void {
    this.#starting.clear();
    this.#isJavaReady = undefined;
  }

  /** What the extensions of the document's language show now. One that is not as it is expected to be shows nothing. */
  sign(document: vscode.TextDocument): Promise<Sign> {
    return this.#sign(document).catch(() => undefined);
  }

  /** Waits until the document's language is no longer loading, nor resting unless `orResting`. */
  async ready(document: vscode.TextDocument, orResting: boolean): Promise<Readiness> {
    for (;;) {
      const sign = await this.sign(document);
      if (sign === "resting" && orResting) {
        return "resting";
      }
      if (sign === "ready" || sign === undefined) {
        return sign === "ready" ? "shown" : "assumed";
      }
      await pause(this.#clock, PAUSE_MS);
    }
  }

  async #sign(document: vscode.TextDocument): Promise<Sign> {
    const language = document.languageId;
    const offered = await this.#offered(document);
    if (offered !== undefined) {
      return offered;
    }
    for (const [id, heard] of HEARD) {
      if (heard.languages.includes(language)) {
        return this.#heard(id, heard);
      }
    }
    return language === "java" ? this.#java() : undefined;
  }

  #heard(id: string, heard: Heard): Sign {
    const extension = vscode.extensions.getExtension(id);
    if (extension === undefined) {
      return undefined;
    }
    if (!extension.isActive) {
      return this.#start(extension, heard);
    }
    return this.#listen(id, heard, extension.exports);
  }

  /** A document of its language starts the extension anyway; here it is waited for, so as to miss nothing after that. */
  #start(extension: vscode.Extension<unknown>, heard: Heard): Sign {
    const since = this.#starting.get(extension.id);
    if (since === undefined) {
      this.#starting.set(extension.id, this.#clock.now());
      extension.activate().then(
        (exports) => this.#listen(extension.id, heard, exports),
        () => {},
      );
      return "loading";
    }
    return this.#clock.now() - since < LONGEST_START_MS ? "loading" : undefined;
  }

  #listen(id: string, heard: Heard, exports: unknown): Sign {
    const clients = [...heard.clients(exports)].filter(isClient);
    const known = this.#work.get(id) ?? [];
    const work = clients.map(
      (client) => known.find((each) => each.isOf(client)) ?? new Work(client, heard, this.#clock, this.#began),
    );
    this.#work.set(id, work);
    const signs = new Set(work.map(({ sign }) => sign));
    if (signs.has("loading")) {
      return "loading";
    }
    return signs.has(undefined) || signs.size === 0 ? undefined : signs.has("resting") ? "resting" : "ready";
  }

  /** What an extension that contributes the language says through the interface that is ours. */
  #offered(document: vscode.TextDocument): Promise<Sign> {
    for (const extension of vscode.extensions.all) {
      const gateway = extension.isActive ? field(extension.exports, "gateway") : undefined;
      const ready = field(gateway, "ready");
      if (typeof ready === "function" && servedLanguages(extension.packageJSON).has(document.languageId)) {
        return this.#atOnce(`${extension.id} ${document.uri}`, async () => {
          const isReady: unknown = await ready.call(gateway, document);
          return typeof isReady === "boolean" ? signOf(isReady) : undefined;
        });
      }
    }
    return Promise.resolve(undefined);
  }

  /** An extension that is busy is not to find more and more questions then. */
  #atOnce(key: string, ask: () => Promise<Sign>): Promise<Sign> {
    const asked =
      this.#asked.get(key) ??
      ask()
        .catch(() => undefined)
        .finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return within<Sign>(this.#clock, AT_ONCE_MS, asked, "loading");
  }

  #java(): Promise<Sign> {
    const extension = vscode.extensions.getExtension(JAVA);
    const serverReady = extension?.isActive === true ? field(extension.exports, "serverReady") : undefined;
    if (typeof serverReady !== "function") {
      return Promise.resolve(undefined);
    }
    this.#isJavaReady ??= Promise.resolve(serverReady.call(extension?.exports)).then(
      (isReady) => (isReady === true ? "ready" : undefined),
      () => undefined,
    );
    const isReady = this.#isJavaReady;
    return this.#atOnce(JAVA, () => isReady);
  }
}

function signOf(isReady: boolean): Sign {
  return isReady ? "ready" : "loading";
}

/** Its second interface has several clients, its first has one. */
function clangdClients(exports: unknown): Iterable<unknown> {
  const getApi = field(exports, "getApi");
  for (const version of [2, 1]) {
    try {
      const api: unknown = typeof getApi === "function" ? getApi.call(exports, version) : undefined;
      const clients = field(api, "languageClients");
      return clients instanceof Map || Array.isArray(clients) || clients instanceof Set
        ? clients.values()
        : [field(api, "languageClient")];
    } catch {
      // It does not have this version.
    }
  }
  return [];
}

function isClient(value: unknown): value is ClientLike {
  const middleware = field(value, "middleware");
  return (
    typeof middleware === "object" && middleware !== null && typeof field(value, "onDidChangeState") === "function"
  );
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
