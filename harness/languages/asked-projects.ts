// Real projects, and what is asked about each.

import { cpSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyPythonPackage } from "./python-package.ts";
import { crate, SEMVER, writeFleet } from "./readiness.ts";
import { copyRxjs } from "./rxjs-workspace.ts";

const FLASK = "flask==3.1.3";
/** It brings the sources of zlib along. */
const LIBZ = "1.1.31";

/** A project, and what is asked about it. */
export interface AskedProject {
  readonly copyTo: (folder: string) => Promise<void> | void;
  /** What is asked about: the first `word` after the text `after`. */
  readonly file: string;
  readonly word: string;
  readonly after: string;
}

export const ON_RXJS: AskedProject = {
  copyTo: copyRxjs,
  ...{ file: "src/internal/Subscription.ts", word: "Subscription", after: "export class Subscription" },
};
export const ON_FLASK: AskedProject = {
  copyTo: (folder) => copyPythonPackage(FLASK, join(folder, "flask")),
  ...{ file: "flask/sansio/scaffold.py", word: "setupmethod", after: "def setupmethod" },
};
export const ON_FLEET: AskedProject = {
  copyTo: (folder) => writeFleet(folder, 40),
  ...{ file: "fleet.cpp", word: "launch", after: "int launch" },
};
export const ON_SEMVER: AskedProject = {
  copyTo: async (folder) => cpSync(await crate("semver", SEMVER), folder, { recursive: true }),
  ...{ file: "src/lib.rs", word: "Version", after: "pub struct Version {" },
};

export const ON_ZLIB: AskedProject = {
  copyTo: copyZlib,
  ...{ file: "inflate.c", word: "z_streamp", after: "int ZEXPORT inflateReset(" },
};

const GO_TEXTS = {
  "go.mod": "module own\n\ngo 1.19\n",
  "base.go": "package own\n\ntype Boat struct{}\n\nvar first Boat\n",
  "a.go": "package own\n\nfunc a() Boat {\n\treturn Boat{}\n}\n",
};

export const ON_GO: AskedProject = {
  copyTo: (folder) => {
    for (const [name, text] of Object.entries(GO_TEXTS)) {
      writeFileSync(join(folder, name), text);
    }
  },
  ...{ file: "base.go", word: "Boat", after: "type " },
};

/** The sources of the library alone, with the commands by which its own Makefile compiles them. */
async function copyZlib(folder: string): Promise<void> {
  const sources = join(await crate("libz-sys", LIBZ), "src", "zlib");
  for (const file of globSync("*.{c,h}", { cwd: sources })) {
    cpSync(join(sources, file), join(folder, file));
  }
  const commands = globSync("*.c", { cwd: folder }).map((file) => ({
    directory: folder,
    file,
    arguments: ["cc", "-O3", "-D_LARGEFILE64_SOURCE=1", "-DHAVE_HIDDEN", "-DHAVE_UNISTD_H", "-c", file],
  }));
  writeFileSync(join(folder, "compile_commands.json"), JSON.stringify(commands));
}
