import type { ClientLike } from "../../extension/language/work.ts";

const [STOPPED, RUNNING] = [1, 2];

type Token = string | number;

/** A client of vscode-languageclient, as far as it can be listened to. It keeps the work that it shows, as the real one does. */
export class FakeClient implements ClientLike {
  state: number;
  readonly middleware: ClientLike["middleware"] = {};
  /** What reached the client's own handling of progress. */
  readonly shown: string[] = [];
  readonly #parts = new Set<Token>();
  readonly #listeners: (() => void)[] = [];
  /** As they are kept by the real one, for itself. */
  _features: unknown = [
    {},
    { getState: () => ({ kind: "document", id: "textDocument/hover", registrations: true }) },
    {
      getState: () => ({
        kind: "window",
        id: "window/workDoneProgress/create",
        registrations: this.#parts.size > 0,
      }),
    },
  ];

  constructor(isRunning: boolean) {
    this.state = isRunning ? RUNNING : STOPPED;
  }

  onDidChangeState(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** The server ends, or starts. */
  become(isRunning: boolean): void {
    this.state = isRunning ? RUNNING : STOPPED;
    this.#parts.clear();
    for (const listener of this.#listeners) {
      listener();
    }
  }

  begin(token: Token): void {
    this.#parts.add(token);
    this.#progress(token, "begin");
  }

  end(token: Token): void {
    this.#parts.delete(token);
    this.#progress(token, "end");
  }

  /** As the real client does: the middleware of the moment, or else its own handling. */
  #progress(token: Token, kind: string): void {
    const own = () => this.shown.push(`${kind} ${token}`);
    const { handleWorkDoneProgress } = this.middleware;
    if (handleWorkDoneProgress === undefined) {
      own();
    } else {
      handleWorkDoneProgress(token, { kind }, own);
    }
  }
}
