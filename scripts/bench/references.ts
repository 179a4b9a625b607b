// References from the provider's objects to the first page: what JavaScript's thread does of it, and what Rust does.

import { packLocations } from "../../extension/boundary/rows.ts";
import { medianRatio, ROUNDS, type Row } from "../../harness/results/table.ts";
import { HostProcess } from "./host-process.ts";
import type { PackingTimes } from "./packing.ts";
import type { Project } from "./project.ts";
import { RustProcess } from "./rust.ts";
import { references } from "./vscode-objects.ts";

const SMALL = 1_000;
const LARGE = 20_000;
const SMALL_SETS = LARGE / SMALL;

/** Milliseconds of each round for one set. */
interface EngineTimes {
  readonly engine: readonly number[];
  readonly floor: readonly number[];
}

export async function measureReferences({ root, files }: Project): Promise<Row[]> {
  const host = new HostProcess();
  const engine = new RustProcess("references");
  try {
    const order = { files, sizes: [SMALL, LARGE], rounds: 2 * ROUNDS };
    const [packedSmall = NONE, packedLarge = NONE] = (await host.command("packing", order)) as PackingTimes[];
    const sets = [SMALL, LARGE].map((count) => {
      const { text, cells } = packLocations(references(files.slice(0, (files.length * count) / LARGE), count));
      return { text, cells: [...cells], times: LARGE / count };
    });
    const [small = NO_TIMES, large = NO_TIMES] = await engine.answer<EngineTimes[]>({ root, rounds: ROUNDS, sets });
    return [
      {
        name: "20,000 references in 2,000 files: packing on JavaScript's thread against a loop that reads the same fields",
        value: medianRatio(packedLarge.packing, packedLarge.loop),
        bar: 2,
        sense: "at most",
      },
      {
        name: "20,000 references in 2,000 files: Rust's time against resolving the paths and sorting plain structs",
        value: medianRatio(large.engine, large.floor),
        bar: 2,
        sense: "at most",
      },
      {
        name: "packing 20,000 references against 20 times packing 1,000",
        value: medianRatio(packedLarge.packing, packedSmall.packing),
        bar: 1.3,
        sense: "at most",
      },
      {
        name: "Rust's time for 20,000 references against 20 times that for 1,000",
        value: medianRatio(
          large.engine,
          small.engine.map((time) => time * SMALL_SETS),
        ),
        bar: 1.3,
        sense: "at most",
      },
    ];
  } finally {
    host.end();
    engine.end();
  }
}

const NONE: PackingTimes = { packing: [], loop: [] };
const NO_TIMES: EngineTimes = { engine: [], floor: [] };
