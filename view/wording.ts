// How things are said on the page. Everything that comes from a client is text that may be anything.

import { ANSWERED, type Call, type Client, type Slice } from "./activity.ts";
import type { Root } from "./messages.ts";

/** `vscode.lsp.hover` as `hover`. */
export function shortTool(tool: string): string {
  return tool.replace(/^vscode\.lsp\./, "");
}

export function clientName([name, version]: Call["client"]): string {
  return name === "" ? "unknown client" : version === "" ? name : `${name} ${version}`;
}

/** A time in microseconds with two or three digits: `0.35 ms`, `4.2 ms`, `38 ms`, `1.3 s`. */
export function duration(micros: number): string {
  const ms = micros / 1_000;
  if (ms < 0.995) {
    return `${ms.toFixed(2)} ms`;
  }
  if (ms < 9.95) {
    return `${ms.toFixed(1)} ms`;
  }
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** The time of day, to the second. */
export function timeOfDay(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

export function counted(count: number, one: string): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : `${one}s`}`;
}

/** What a call asked about, in parts that are shown differently. */
export interface About {
  /** The file's name and, counted from 1, the place in it; or the name that was looked for. */
  readonly name: string;
  /** The folder that the file is in, from its root on. */
  readonly folder: string;
}

export function about({ uri, position, query }: Call, roots: readonly Root[]): About {
  if (query !== undefined) {
    return { name: `“${plain(query)}”`, folder: "" };
  }
  if (uri === undefined) {
    return { name: "", folder: "" };
  }
  const path = underRoot(pathOf(uri), roots);
  const end = path.lastIndexOf("/") + 1;
  const place = position === undefined ? "" : `:${position.line + 1}:${position.character + 1}`;
  return { name: plain(path.slice(end)) + place, folder: plain(path.slice(0, Math.max(0, end - 1))) };
}

/** The decoded path of a `file:` URI; of whatever else, all of it. */
function pathOf(uri: string): string {
  const path = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(uri)?.[1];
  try {
    return path === undefined ? uri : decodeURIComponent(path);
  } catch {
    return uri;
  }
}

/** Without the root that it is in; with several roots the name of the root stays. */
function underRoot(path: string, roots: readonly Root[]): string {
  const letterless = (text: string) => text.replace(/^\/[A-Z](?=:)/, (drive) => drive.toLowerCase());
  for (const root of roots) {
    const folder = letterless(root.path).replace(/\/$/, "");
    if (letterless(path).startsWith(`${folder}/`)) {
      const kept = roots.length > 1 ? folder.lastIndexOf("/") : folder.length;
      return path.slice(kept + 1);
    }
  }
  return path;
}

/** Without the characters that would break a line or change the direction of the text around them. */
function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\u{fffd}");
}

/** Items, or why there are none. */
export function result({ outcome, items }: Call): string {
  return outcome === ANSWERED ? counted(items, "item") : outcome;
}

/** A whole call in one sentence, for a screen reader and as a tooltip. */
export function spokenCall(call: Call, roots: readonly Root[]): string {
  const { name, folder } = about(call, roots);
  const place = name === "" ? "" : ` ${folder === "" ? name : `${folder}/${name}`}`;
  const client = plain(clientName(call.client));
  return `${shortTool(call.tool)}${place}: ${result(call)} in ${duration(call.micros)}, ${client}, ${timeOfDay(call.at)}`;
}

export function spokenSlice({ calls, failed, p50, p95 }: Slice): string {
  const failures = failed === 0 ? "" : `, ${failed.toLocaleString("en")} failed`;
  return `${counted(calls, "call")}, median ${duration(p50)}, p95 ${duration(p95)}${failures}`;
}

export function spokenClient({ name, version, calls, failed, open }: Client): string {
  const failures = failed === 0 ? "" : `, ${failed.toLocaleString("en")} failed`;
  return `${clientName([name, version])}: ${counted(calls, "call")}${failures}${open ? "" : ", session ended"}`;
}
