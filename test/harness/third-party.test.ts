import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { listThirdParty } from "../../harness/build/third-party.ts";
import { root, thirdPartyFile } from "../../harness/layout.ts";

before(listThirdParty);

test("what is listed is in the lock files, at the versions that they name, and nothing that is only used to test", () => {
  const list = readFileSync(thirdPartyFile, "utf8");
  const lines = [...list.matchAll(/^(\S+) (\d\S*): (.+)$/gm)].map(([, name, version, license]) => ({
    name,
    version,
    license,
  }));
  const cargo = readFileSync(join(root, "Cargo.lock"), "utf8");
  const npm = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  for (const { name, version, license } of lines) {
    const isCrate = cargo.includes(`name = "${name}"\nversion = "${version}"`);
    assert.ok(isCrate || npm[`node_modules/${name}`]?.version === version, `${name} ${version}`);
    assert.match(license ?? "", /MIT|Apache-2\.0|ISC|BSD-3-Clause|Zlib|Unicode-3\.0/);
  }
  const names = lines.map(({ name }) => name);
  // What the addon and the bundle cannot do without, and what only tests and builds have.
  for (const needed of ["hyper", "tokio", "napi", "serde_json", "sha2"]) {
    assert.ok(names.includes(needed), needed);
  }
  for (const foreign of ["proptest", "reqwest", "rmcp", "tempfile", "syn", "esbuild", "libfuzzer-sys"]) {
    assert.ok(!names.includes(foreign), foreign);
  }
  assert.equal(new Set(lines.map(({ name, version }) => `${name} ${version}`)).size, lines.length);
});

test("the licences that ask to be kept are there in full", () => {
  const list = readFileSync(thirdPartyFile, "utf8");
  assert.match(list, /Permission is hereby granted, free of charge/);
  assert.match(list, /Copyright \(c\) (\d{4} )?Tokio Contributors/i, "tokio's");
});
