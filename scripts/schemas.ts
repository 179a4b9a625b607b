// Writes into schemas/tools what the tools' own code says of their arguments and answers, for people to read and for
// whatever wants the schemas as files. With --check it only tells whether they are what it would write.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageCommand, root } from "../harness/layout.ts";
import { succeed } from "../harness/machine/processes.mjs";
import { say } from "../harness/machine/progress.mjs";

const FOLDER = join(root, "schemas/tools");
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: object;
  readonly output: object;
}

const example = ["run", "--quiet", "--locked", "--package", "gateway-core", "--example", "schemas"];
const { stdout } = await succeed("The tools could not be asked for their schemas.", "cargo", example, { cwd: root });
const tools: readonly Tool[] = JSON.parse(stdout);
const wanted = new Map<string, object>([
  ["descriptions.json", Object.fromEntries(tools.map(({ name, description }) => [name, description]))],
  ...tools.flatMap(({ name, input, output }): [string, object][] => [
    [`${name}.json`, { $schema: DIALECT, ...input }],
    [`${name}.output.json`, { $schema: DIALECT, ...output }],
  ]),
]);
const there = new Map(
  readdirSync(FOLDER).map((file) => [file, JSON.parse(readFileSync(join(FOLDER, file), "utf8"))] as const),
);
// Compared as they are parsed, in order, since how they are set is the formatter's matter.
const changed = [...new Set([...wanted.keys(), ...there.keys()])].filter(
  (file) => JSON.stringify(wanted.get(file)) !== JSON.stringify(there.get(file)),
);
if (process.argv.includes("--check")) {
  for (const file of changed) {
    say(`schemas/tools/${file} is not what the tool says: run \`node scripts/schemas.ts\` and look at the difference.`);
    process.exitCode = 1;
  }
} else {
  for (const file of changed) {
    const schema = wanted.get(file);
    if (schema === undefined) {
      rmSync(join(FOLDER, file));
    } else {
      writeFileSync(join(FOLDER, file), JSON.stringify(schema, undefined, 2));
    }
    say(`${schema === undefined ? "removed" : "wrote"} schemas/tools/${file}`);
  }
  const [node, biome] = packageCommand("@biomejs/biome", "biome");
  await succeed("Formatting the schemas failed.", node, [biome, "format", "--write", FOLDER], { cwd: root });
}
