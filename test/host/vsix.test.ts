import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { vsixFile } from "../../scripts/layout.ts";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

test("the VSIX holds exactly these files", () => {
  assert.deepEqual(zipEntries(vsixFile).sort(), [
    "[Content_Types].xml",
    "extension.vsixmanifest",
    "extension/LICENSE.txt",
    "extension/changelog.md",
    "extension/dist/THIRD-PARTY-LICENSES.txt",
    "extension/dist/extension/main.cjs",
    "extension/dist/native/gateway.node",
    "extension/dist/view/page.css",
    "extension/dist/view/page.js",
    "extension/media/activity.svg",
    "extension/media/check-dark.png",
    "extension/media/check-hc.png",
    "extension/media/check-light.png",
    "extension/media/connect-dark.png",
    "extension/media/connect-hc.png",
    "extension/media/connect-light.png",
    "extension/media/sight-dark.png",
    "extension/media/sight-hc.png",
    "extension/media/sight-light.png",
    "extension/media/status-dark.png",
    "extension/media/status-hc.png",
    "extension/media/status-light.png",
    "extension/package.json",
    "extension/readme.md",
  ]);
});

test("the VSIX has at most 4 MB", () => {
  assert.ok(statSync(vsixFile).size <= 4_000_000, `It has ${statSync(vsixFile).size} bytes.`);
});

/** The names in the central directory of a zip file. */
function zipEntries(file: string): string[] {
  const bytes = readFileSync(file);
  let end = bytes.length - 22;
  while (bytes.readUInt32LE(end) !== END_OF_DIRECTORY) {
    end -= 1;
  }
  const names: string[] = [];
  let at = bytes.readUInt32LE(end + 16);
  while (bytes.readUInt32LE(at) === DIRECTORY_ENTRY) {
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    names.push(bytes.toString("utf8", at + 46, at + 46 + name));
    at += 46 + name + extra + comment;
  }
  return names;
}
