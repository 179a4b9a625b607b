import type { Root, StatusModel } from "../../view/messages.ts";
import { recoveryActionFor, whyNot, whyThisPort } from "../check/recovery-actions.ts";
import type { State } from "../gateway/lifecycle.ts";

/** What the view shows of the gateway in this state. */
export function statusModel(
  state: State,
  endpoint: string | undefined,
  roots: readonly Root[],
  warmingUp: readonly string[],
): StatusModel {
  if (state.kind !== "running") {
    return {
      tone: state.kind === "failed" ? "bad" : state.kind === "starting" ? "busy" : "off",
      headline: HEADLINES[state.kind],
      detail: state.kind === "starting" ? "" : sentence(whyNot(state)),
      endpoint: undefined,
      roots: [],
      recoveryAction: state.kind === "starting" ? undefined : recoveryActionFor(state).title,
    };
  }
  const why = whyThisPort(state);
  const details = [
    ...(why === undefined ? [] : [`${sentence(why)}.`]),
    ...(roots.length === 0 ? ["No folder is open, so every call is refused."] : []),
    ...(warmingUp.length === 0 ? [] : [`Warming up ${warmingUp.join(", ")}: answers may take a few seconds.`]),
  ];
  return {
    tone: warmingUp.length === 0 ? "good" : "busy",
    headline: `Listening on port ${state.port}`,
    detail: details.join(" "),
    endpoint,
    roots,
    recoveryAction: undefined,
  };
}

const HEADLINES: Readonly<Record<Exclude<State["kind"], "running">, string>> = {
  starting: "Starting",
  untrusted: "Restricted",
  paused: "Paused",
  disabled: "Off",
  uninstalled: "Uninstalled",
  failed: "Not running",
};

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
