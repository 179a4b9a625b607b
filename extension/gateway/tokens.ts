import { createHash, randomBytes } from "node:crypto";

/** What this module needs of VS Code's `SecretStorage`. */
export interface SecretStore {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
}

/** Both are base64url of 32 random bytes. */
export interface Secrets {
  /** Any of these lets a client in (D47). */
  readonly tokens: readonly string[];
  /** Authenticates session ids (D43). */
  readonly sessionKey: string;
}

const MAX_TOKENS = 16;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/**
 * What tells one workspace from another: its file, else its folder. All windows without either share one identity, as
 * they have nothing to be read.
 */
export function workspaceIdentity(workspaceFile: string | undefined, firstFolder: string | undefined): string {
  const name = workspaceFile !== undefined ? ["file", workspaceFile] : ["folder", firstFolder ?? ""];
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}

/**
 * The tokens and the session key of one workspace, in SecretStorage only. They are filed under the installation, so that
 * those of an earlier installation are never found again, and neither are those of another machine that the same editor
 * is connected to and that has a folder of the same name.
 */
export class Tokens {
  readonly #store: SecretStore;
  readonly #key: string;

  constructor(store: SecretStore, installation: string, workspace: string) {
    this.#store = store;
    this.#key = `${installation}/${workspace}`;
  }

  /** Whether a change of this key of SecretStorage concerns this workspace. */
  concerns(key: string): boolean {
    return key === this.#key;
  }

  /** The secrets in force; made and stored if there are none. */
  async read(): Promise<Secrets> {
    const known = parse(await this.#store.get(this.#key));
    return known ?? this.#write({ tokens: [secret()], sessionKey: secret() });
  }

  /** Replaces all tokens by a new one. Sessions live on for clients that bring it. */
  async rotate(): Promise<void> {
    const { sessionKey } = await this.read();
    await this.#write({ tokens: [secret()], sessionKey });
  }

  async #write(secrets: Secrets): Promise<Secrets> {
    await this.#store.store(this.#key, JSON.stringify(secrets));
    return secrets;
  }
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}

function parse(stored: string | undefined): Secrets | undefined {
  let value: unknown;
  try {
    value = JSON.parse(stored ?? "null");
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("tokens" in value) || !("sessionKey" in value)) {
    return undefined;
  }
  const { tokens, sessionKey } = value;
  const complete =
    Array.isArray(tokens) &&
    tokens.length > 0 &&
    tokens.length <= MAX_TOKENS &&
    tokens.every((token) => typeof token === "string" && SECRET.test(token)) &&
    typeof sessionKey === "string" &&
    SECRET.test(sessionKey);
  return complete ? { tokens, sessionKey } : undefined;
}
