import type { Gateway, GatewayOptions, SeenFile } from "../native.d.ts";
import type { Wish } from "./ports.ts";

/** What the person can see of the gateway. */
export type State =
  | { readonly kind: "starting" }
  | ({ readonly kind: "running" } & OpenPort)
  | { readonly kind: "untrusted" }
  | { readonly kind: "paused" }
  | { readonly kind: "disabled" }
  | { readonly kind: "uninstalled" }
  | { readonly kind: "failed"; readonly reason: string };

/** Where a gateway listens. */
export interface OpenPort {
  readonly port: number;
  /** The one that the settings name. */
  readonly wished: number;
  /** The one that this workspace had last, if that could not be had. */
  readonly lost: number | undefined;
}

/** Where the gateway listens, and what lets a client in. */
export interface Endpoint {
  readonly url: string;
  readonly token: string;
}

/** What a gateway is to be like. Which ports are tried for the wish is found out when it starts. */
export type DesiredOptions = Omit<GatewayOptions, "ports"> & { readonly wish: Wish };

/** The desired state: a running gateway like this, or none. */
export type DesiredState = DesiredOptions | "untrusted" | "disabled" | "paused" | "uninstalled";

export interface Parts {
  /** Reads settings, folders, secrets and trust as they are now. A failure is a sentence for the person. */
  desiredState(): Promise<DesiredState>;
  start(options: DesiredOptions): Promise<Started>;
  /** Called with each state that differs from the one before. */
  show(state: State): void;
  /** Called whenever a gateway has taken options, and when there is none any more. */
  inForce(options: DesiredOptions | undefined): void;
  error(message: string): void;
}

export interface Started {
  readonly gateway: Gateway;
  /** As in `OpenPort`. */
  readonly lost: number | undefined;
}

interface Running extends Started {
  options: DesiredOptions;
}

/**
 * Brings the gateway to its desired state. Every change of settings, folders, tokens and trust ends in `update`, which
 * looks at everything anew; there is never more than one start, stop or configuration under way.
 */
export class Lifecycle {
  readonly #parts: Parts;
  #running: Running | undefined;
  #state: State = { kind: "starting" };
  #settling: Promise<void> | undefined;
  #changed = false;
  #restart = false;
  #ended = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get state(): State {
    return this.#state;
  }

  /** The gateway itself, while it runs. */
  get gateway(): Gateway | undefined {
    return this.#running?.gateway;
  }

  /** Where the gateway listens and what lets a client in, while it runs. */
  get endpoint(): Endpoint | undefined {
    if (this.#running === undefined) {
      return undefined;
    }
    const { gateway, options } = this.#running;
    return { url: `http://127.0.0.1:${gateway.port}/mcp`, token: options.tokens[0] ?? "" };
  }

  /** Counts a change of the workspace, if anybody counts. */
  bump(epoch: "text" | "fs" | "diagnostics" | "roots"): void {
    this.#running?.gateway.bump(epoch);
  }

  /** Tells the gateway what the editor has seen on disk, if there is one. */
  saw(files: SeenFile[]): void {
    void this.#running?.gateway.editorSaw(files);
  }

  /** Resolves once all that had changed before is in effect. */
  update(): Promise<void> {
    this.#changed = true;
    this.#settling ??= this.#settleAll().finally(() => {
      this.#settling = undefined;
    });
    return this.#settling;
  }

  restart(): Promise<void> {
    this.#restart = true;
    return this.update();
  }

  /** Stops for good. */
  end(): Promise<void> {
    this.#ended = true;
    return this.update();
  }

  async #settleAll(): Promise<void> {
    while (this.#changed) {
      this.#changed = false;
      try {
        await this.#settle();
      } catch (error) {
        await this.#stop();
        this.#show({ kind: "failed", reason: sentence(error) });
      }
    }
  }

  async #settle(): Promise<void> {
    if (this.#restart || this.#ended) {
      this.#restart = false;
      await this.#stop();
    }
    if (this.#ended) {
      return;
    }
    const desired = await this.#parts.desiredState();
    if (typeof desired === "string") {
      await this.#stop();
      this.#show({ kind: desired });
      return;
    }
    if (this.#running !== undefined && takesAnother(this.#running.options, desired)) {
      await this.#stop();
    }
    if (this.#running !== undefined && !sameConfiguration(this.#running.options, desired)) {
      try {
        const { gateway } = this.#running;
        await gateway.configure({ ...desired, ports: [gateway.port] });
        this.#running.options = desired;
        this.#parts.inForce(desired);
      } catch (error) {
        // It may still let old tokens in and read old folders, so it has to go.
        this.#parts.error(`The gateway did not take the new configuration and is started anew: ${sentence(error)}`);
        await this.#stop();
      }
    }
    if (this.#running === undefined) {
      this.#show({ kind: "starting" });
      this.#running = { ...(await this.#parts.start(desired)), options: desired };
      this.#parts.inForce(desired);
    }
    const { gateway, lost } = this.#running;
    this.#show({ kind: "running", port: gateway.port, wished: desired.wish.port, lost });
  }

  async #stop(): Promise<void> {
    if (this.#running === undefined) {
      return;
    }
    const { gateway } = this.#running;
    this.#running = undefined;
    this.#parts.inForce(undefined);
    try {
      await gateway.stop();
    } catch (error) {
      this.#parts.error(`The gateway did not stop cleanly: ${sentence(error)}`);
    }
  }

  #show(state: State): void {
    const shown = JSON.stringify(this.#state) === JSON.stringify(state);
    this.#state = state;
    if (!shown) {
      this.#parts.show(state);
    }
  }
}

/** Whether the change is one that a running gateway cannot follow. */
function takesAnother(current: DesiredOptions, next: DesiredOptions): boolean {
  return (
    current.wish.port !== next.wish.port ||
    current.wish.ofWorkspace !== next.wish.ofWorkspace ||
    current.sessionKey !== next.sessionKey ||
    current.workspace !== next.workspace
  );
}

/** Whether a running gateway has nothing to learn from `next`: the other options matter at its start only. */
function sameConfiguration(current: DesiredOptions, next: DesiredOptions): boolean {
  return JSON.stringify(changeable(current)) === JSON.stringify(changeable(next));
}

function changeable(options: DesiredOptions): object {
  const { version, workspace, sessionKey, endedSessions, rootsEpoch, wish, ...changeable } = options;
  return changeable;
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
