// What the page of the view and the extension tell each other.

/** What the page may have done, by the buttons on it. */
const ACTIONS = ["connect", "copyEndpoint", "recover"] as const;

export type Action = (typeof ACTIONS)[number];

/** From the page. */
export type Wish =
  /** The page is there and knows nothing yet. */
  | { readonly kind: "ready" }
  | { readonly kind: "run"; readonly action: Action }
  /** Open what the call of this number asked about. */
  | { readonly kind: "open"; readonly call: number };

/** To the page. */
export type Tidings =
  | { readonly kind: "gateway"; readonly gateway: StatusModel }
  /** `json` is what `unpackNews` reads; `fresh`, whether it is all that there is. */
  | { readonly kind: "news"; readonly fresh: boolean; readonly json: string };

/** What is shown of the gateway itself. */
export interface StatusModel {
  readonly tone: "good" | "busy" | "off" | "bad";
  readonly headline: string;
  /** What more there is to say, in whole sentences; may be empty. */
  readonly detail: string;
  /** Where it listens, if it does. */
  readonly endpoint: string | undefined;
  readonly roots: readonly Root[];
  /** What stands on the button that gets the gateway to run, if it does not. */
  readonly recoveryAction: string | undefined;
}

/** A folder that clients may ask about. */
export interface Root {
  /** As a person is shown it. */
  readonly label: string;
  /** As it begins the paths of `file:` URIs, decoded. */
  readonly path: string;
}

/** The wish that a message is. What comes from a page can be anything, so whatever is not exactly a wish is none. */
export function readWish(message: unknown): Wish | undefined {
  if (typeof message !== "object" || message === null) {
    return undefined;
  }
  const { kind, action, call } = message as Readonly<Record<string, unknown>>;
  switch (kind) {
    case "ready":
      return { kind };
    case "run": {
      const known = ACTIONS.find((one) => one === action);
      return known && { kind, action: known };
    }
    case "open":
      return typeof call === "number" && Number.isSafeInteger(call) && call > 0 ? { kind, call } : undefined;
    default:
      return undefined;
  }
}
