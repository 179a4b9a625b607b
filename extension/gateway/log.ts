import { LOG_LEVELS, type LogLevel } from "./settings.ts";

/** What this module needs of VS Code's `LogOutputChannel`. */
export interface LogChannel {
  error(message: string): void;
  warn(message: string): void;
  info(message: string): void;
  debug(message: string): void;
  trace(message: string): void;
  /** VS Code's numbers: 0 off, 1 trace, …, 5 error. */
  readonly logLevel: number;
}

type Written = Exclude<LogLevel, "off">;

/**
 * Writes to the output channel what `mcpLspGateway.logLevel` lets through. The channel has a level of its own, `info`
 * unless the person chose another for it; a message below that is written at the channel's level, so that the setting
 * alone is enough to see it.
 */
export class Log {
  readonly #channel: LogChannel;
  level: LogLevel = "info";

  constructor(channel: LogChannel) {
    this.#channel = channel;
  }

  error(message: string): void {
    this.#write("error", message);
  }

  warn(message: string): void {
    this.#write("warn", message);
  }

  info(message: string): void {
    this.#write("info", message);
  }

  /** Messages of the addon, oldest first; the level of each is an index of `LOG_LEVELS`. */
  fromAddon(levels: readonly number[], messages: readonly string[]): void {
    for (const [index, message] of messages.entries()) {
      const name = LOG_LEVELS[levels[index] ?? 0];
      if (name !== undefined && name !== "off") {
        this.#write(name, message);
      }
    }
  }

  #write(level: Written, message: string): void {
    const severity = LOG_LEVELS.indexOf(level);
    if (severity > LOG_LEVELS.indexOf(this.level)) {
      return;
    }
    const channelLevel = this.#channel.logLevel;
    const shown = channelLevel !== 0 && VS_CODE_LEVEL[level] >= channelLevel;
    if (shown || channelLevel === 0) {
      this.#channel[level](message);
    } else {
      this.#channel[lowestShown(channelLevel)](`[${level}] ${message}`);
    }
  }
}

const VS_CODE_LEVEL: Readonly<Record<Written, number>> = { trace: 1, debug: 2, info: 3, warn: 4, error: 5 };

function lowestShown(channelLevel: number): Written {
  const order: readonly Written[] = ["trace", "debug", "info", "warn", "error"];
  return order.find((level) => VS_CODE_LEVEL[level] >= channelLevel) ?? "error";
}

/** A word as programs name their errors with. */
const WORD = /^[\w.-]{1,64}$/;

/** What to call an error in the log: its code, or else its name. Its message may hold any path or secret. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return typeof error;
  }
  const { code, name }: { code?: unknown; name: string } = error;
  for (const word of [code, name]) {
    if (typeof word === "string" && WORD.test(word)) {
      return word;
    }
  }
  return "Error";
}
