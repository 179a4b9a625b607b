// A TypeScript project of thousands of files that import each other, so that it takes a while to load.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Location, Position } from "../../harness/clients/gateway-client.ts";
import { removeFolder, temporaryFolder } from "../../harness/editor/gateway-window.ts";

const FILES = 3_000;
const FOLDER_OF = 100;

const TSCONFIG = { compilerOptions: { strict: true, target: "ES2022", module: "ES2022", types: [] }, include: ["src"] };

const HARBOUR_FILE = "src/harbour.ts";
const HARBOUR = "export interface Harbour {\n  readonly depth: number;\n}\n";

/** Every berth is a function of a file of its own, which knows the harbour and calls the berth before it. */
export class LargeWorkspace {
  readonly folder = temporaryFolder("large");
  constructor() {
    mkdirSync(join(this.folder, "src"));
    writeFileSync(join(this.folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
    writeFileSync(join(this.folder, HARBOUR_FILE), HARBOUR);
    for (let number = 0; number < FILES; number++) {
      mkdirSync(join(this.folder, "src", folderOf(number)), { recursive: true });
      writeFileSync(join(this.folder, fileOf(number)), textOf(number));
    }
  }

  get harbour(): Place {
    return { uri: this.#uri(HARBOUR_FILE), position: { line: 0, character: HARBOUR.indexOf("Harbour") } };
  }

  /** Wherever `Harbour` is written down, in the contract's order: where it is declared, and twice in each file. */
  get harbours(): Location[] {
    const places = [{ file: HARBOUR_FILE, text: HARBOUR }];
    for (let number = 0; number < FILES; number++) {
      places.push({ file: fileOf(number), text: textOf(number) });
    }
    return places
      .flatMap(({ file, text }) =>
        text.split("\n").flatMap((line, index) => {
          const character = line.search(/\bHarbour\b/);
          return character === -1 ? [] : [this.#location(file, index, character, "Harbour")];
        }),
      )
      .sort(({ uri: a }, { uri: b }) => (a < b ? -1 : Number(a > b)));
  }

  /** Where a file calls the berth of the file before it. */
  callIn(number: number): Place {
    const line = textOf(number)
      .split("\n")
      .indexOf(callOf(number - 1));
    return { uri: this.#uri(fileOf(number)), position: { line, character: callOf(number - 1).indexOf("berth") } };
  }

  /** Where that berth is declared, with its name. */
  declarationOf(number: number): Location {
    const line = textOf(number).split("\n").indexOf(declarationOf(number));
    return this.#location(fileOf(number), line, declarationOf(number).indexOf(nameOf(number)), nameOf(number));
  }

  remove(): void {
    removeFolder(this.folder);
  }

  #location(file: string, line: number, character: number, word: string): Location {
    const end = { line, character: character + word.length };
    return { uri: this.#uri(file), range: { start: { line, character }, end } };
  }

  #uri(file: string): string {
    return pathToFileURL(join(this.folder, file)).href;
  }
}

interface Place {
  readonly uri: string;
  readonly position: Position;
}

function nameOf(number: number): string {
  return `berth${number.toString().padStart(4, "0")}`;
}

function folderOf(number: number): string {
  return `quay${Math.floor(number / FOLDER_OF)}`;
}

function fileOf(number: number): string {
  return `src/${folderOf(number)}/${nameOf(number)}.ts`;
}

function declarationOf(number: number): string {
  return `export function ${nameOf(number)}(harbour: Harbour): number {`;
}

function callOf(number: number): string {
  return `  return ${nameOf(number)}(harbour) + harbour.depth;`;
}

function textOf(number: number): string {
  const before = number - 1;
  return [
    'import type { Harbour } from "../harbour";',
    ...(number === 0 ? [] : [`import { ${nameOf(before)} } from "../${folderOf(before)}/${nameOf(before)}";`]),
    "",
    declarationOf(number),
    number === 0 ? "  return harbour.depth;" : callOf(before),
    "}",
    "",
  ].join("\n");
}
