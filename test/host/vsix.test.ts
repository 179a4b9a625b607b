import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inflateRawSync } from "node:zlib";
import { root, vsixFile } from "../../harness/layout.ts";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

test("the VSIX holds exactly these files", () => {
  assert.deepEqual([...zipEntries(vsixFile).keys()].sort(), [
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE.txt",
    "extension/changelog.md",
    "extension/dist/THIRD-PARTY-LICENSES.txt",
    "extension/dist/extension/main.cjs",
    "extension/dist/native/gateway.node",
    "extension/dist/view/page.css",
    "extension/dist/view/page.js",
    "extension/media/activity-view-dark.png",
    "extension/media/activity-view-hc.png",
    "extension/media/activity-view-light.png",
    "extension/media/activity.svg",
    "extension/media/check-dark.png",
    "extension/media/check-hc.png",
    "extension/media/check-light.png",
    "extension/media/connect-dark.png",
    "extension/media/connect-hc.png",
    "extension/media/connect-light.png",
    "extension/media/icon.png",
    "extension/media/status-dark.png",
    "extension/media/status-hc.png",
    "extension/media/status-light.png",
    "extension/package.json",
    "extension/readme.md",
  ]);
});

test("its README shows no picture, as the editor shows none out of a VSIX, and has all of its text", () => {
  const packed = zipEntries(vsixFile).get("extension/readme.md")?.().toString("utf8") ?? "";
  const whole = readFileSync(join(root, "README.md"), "utf8").split("\n");
  assert.ok(whole.some((line) => line.startsWith("![")));
  assert.deepEqual(
    packed.split("\n").filter(Boolean),
    whole.filter((line) => line !== "" && !line.startsWith("![")),
  );
});

/** How the files in the central directory of a zip file are read, by their names. */
function zipEntries(file: string): Map<string, () => Buffer> {
  const bytes = readFileSync(file);
  let end = bytes.length - 22;
  while (bytes.readUInt32LE(end) !== END_OF_DIRECTORY) {
    end -= 1;
  }
  const entries = new Map<string, () => Buffer>();
  let at = bytes.readUInt32LE(end + 16);
  while (bytes.readUInt32LE(at) === DIRECTORY_ENTRY) {
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const [size, local] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 42)];
    entries.set(bytes.toString("utf8", at + 46, at + 46 + name), () => {
      const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
      return inflateRawSync(bytes.subarray(start, start + size));
    });
    at += 46 + name + extra + comment;
  }
  return entries;
}
