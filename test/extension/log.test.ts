import assert from "node:assert/strict";
import { test } from "node:test";
import { Log, type LogChannel, nameOf } from "../../extension/gateway/log.ts";
import type { LogLevel } from "../../extension/gateway/settings.ts";

/** Logs one message at each level and returns what the channel shows at its own level. */
function shown(setting: LogLevel, channelLevel: number): string[] {
  const lines: string[] = [];
  const at = (name: string, level: number) => (message: string) => {
    if (channelLevel !== 0 && level >= channelLevel) {
      lines.push(`${name}: ${message}`);
    }
  };
  const channel: LogChannel = {
    logLevel: channelLevel,
    trace: at("trace", 1),
    debug: at("debug", 2),
    info: at("info", 3),
    warn: at("warn", 4),
    error: at("error", 5),
  };
  const log = new Log(channel);
  log.level = setting;
  for (const level of [1, 2, 3, 4, 5]) {
    log.fromAddon([level], ["m"]);
  }
  return lines;
}

test("the setting lets messages through from its level on", () => {
  assert.deepEqual(shown("off", 1), []);
  assert.deepEqual(shown("error", 1), ["error: m"]);
  assert.deepEqual(shown("warn", 1), ["error: m", "warn: m"]);
  assert.deepEqual(shown("info", 1), ["error: m", "warn: m", "info: m"]);
  assert.deepEqual(shown("trace", 1), ["error: m", "warn: m", "info: m", "debug: m", "trace: m"]);
});

test("the setting alone is enough to see more than the channel's own level would show", () => {
  assert.deepEqual(shown("trace", 3), ["error: m", "warn: m", "info: m", "info: [debug] m", "info: [trace] m"]);
});

test("a channel that the person turned off stays off", () => {
  assert.deepEqual(shown("trace", 0), []);
});

test("a number that is no level is no message", () => {
  const log = new Log({
    logLevel: 1,
    trace: assert.fail,
    debug: assert.fail,
    info: assert.fail,
    warn: assert.fail,
    error: assert.fail,
  });
  log.level = "trace";
  log.fromAddon([0, 6, -1], ["m", "m", "m"]);
});

test("an error is called by its code or its name, and nothing of its message is told", () => {
  const message = "EACCES: permission denied, open '/home/me/secret'";
  assert.equal(nameOf(Object.assign(new Error(message), { code: "EACCES" })), "EACCES");
  assert.equal(nameOf(Object.assign(new Error(message), { code: -13 })), "Error");
  assert.equal(nameOf(Object.assign(new RangeError(message), { code: message })), "RangeError");
  assert.equal(nameOf(Object.assign(new Error(message), { name: message })), "Error");
  assert.equal(nameOf(message), "string");
  assert.equal(nameOf(undefined), "undefined");
});
