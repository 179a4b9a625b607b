// The editor of the replay host: answers from a provider, documents from disk.

import { constants, type Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PACK, STATUS, shapeOf, UNSAVED_TEXTS } from "../extension/boundary/providers.ts";
import type { Host } from "../extension/boundary/questions.ts";
import {
  type AskRequest,
  noProvider,
  noted,
  notFound,
  type OpenRequest,
  packMainDocuments,
  packOpen,
  packReady,
  packStatus,
} from "../extension/boundary/rows.ts";
import type * as Native from "../extension/native.d.ts";
import { type Provider, questionOf } from "./provider.ts";

/** Longer delays than this fire at once. */
const LONGEST_DELAY = 0x7fff_ffff;

/** Larger documents VS Code does not hand to extensions. */
const MAX_BYTES = 50 * 1024 * 1024;

/** The language of every document, whose extension is in the provider file. */
const LANGUAGE = "replay";

/** Answers the gateway's questions. What it throws is, to the gateway, a provider that failed. */
export class ReplayEditor implements Host {
  /** What answers now. */
  provider: Provider;

  constructor(provider: Provider) {
    this.provider = provider;
  }

  /** Reads the document from disk, and counts lines and characters as VS Code does. */
  async open({ uri, line }: OpenRequest): Promise<Native.Answer> {
    const lines = await linesOf(uri);
    if (lines === undefined) {
      return notFound();
    }
    return packOpen({
      lineCount: lines.length,
      lineLength: lines[line ?? -1]?.length,
      language: LANGUAGE,
      hasReadinessProbe: true,
      ready: true,
      inTab: false,
    });
  }

  /** What is in the file is all there will ever be. */
  async ready(): Promise<Native.Answer> {
    return packReady("shown");
  }

  async mainDocuments(): Promise<Native.Answer> {
    return packMainDocuments([{ uri: "file:///", language: LANGUAGE, hasReadinessProbe: true }]);
  }

  async ask({ method }: AskRequest): Promise<Native.Answer> {
    if (method === STATUS) {
      return packStatus([{ language: LANGUAGE, stage: "ready" }]);
    }
    if (method === UNSAVED_TEXTS) {
      return PACK.texts([]);
    }
    // A question is answered by the provider that it was put to, even if another takes over meanwhile.
    const { answers, delayMs } = this.provider;
    const question = questionOf(method);
    const milliseconds = delayMs.get(question) ?? 0;
    if (milliseconds > 0) {
      await delay(Math.min(milliseconds, LONGEST_DELAY));
    }
    return answers.has(question) ? PACK[shapeOf(method)](answers.get(question)) : noProvider();
  }

  async sessionsEnded(): Promise<Native.Answer> {
    return noted();
  }
}

/** The lines of a text file; undefined if there is none, or something that is not text. */
async function linesOf(uri: string): Promise<string[] | undefined> {
  const bytes = await bytesOf(fileURLToPath(uri)).catch(() => undefined);
  const encoding = bytes === undefined ? undefined : encodingOf(bytes);
  return encoding === undefined ? undefined : new TextDecoder(encoding).decode(bytes).split(/\r\n|\r|\n/);
}

/** The content of a regular file; undefined for whatever else is there, and for a file that VS Code finds too large. */
async function bytesOf(path: string): Promise<Buffer | undefined> {
  // Whoever opens a pipe waits for somebody at its other end, and nothing but an end to the wait lets the process end.
  if (!isReadable(await stat(path))) {
    return undefined;
  }
  // It may have become another since.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return isReadable(await file.stat()) ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}

function isReadable(file: Stats): boolean {
  return file.isFile() && file.size <= MAX_BYTES;
}

/** How many bytes VS Code looks at to tell a binary file. */
const LOOKED_AT = 512;

function encodingOf(bytes: Buffer): "utf-16le" | "utf-16be" | "utf-8" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) {
    return "utf-16le";
  }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) {
    return "utf-16be";
  }
  return bytes.subarray(0, LOOKED_AT).includes(0) ? undefined : "utf-8";
}
