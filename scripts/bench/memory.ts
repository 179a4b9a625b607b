// What the process that holds the addon keeps resident.

import { median, type Row, slope } from "../../harness/results/table.ts";
import { HostProcess } from "./host-process.ts";
import type { Project } from "./project.ts";
import { RustProcess } from "./rust.ts";

const SETS = 10;
const REFERENCES = 20_000;
const MEGABYTE = 1_000_000;

/** How many calls come before the first look, and how many after it. */
export interface Calls {
  readonly before: number;
  readonly after: number;
}

const WARM_UP_CALLS = 3;
const CONNECTIONS = 16;
const NO_LIMIT = 3_600_000;

export async function measureRetainedSets(project: Project, rounds: number): Promise<Row[]> {
  const value = (await medianOf(rounds, () => slopeOfSets(project))) / MEGABYTE;
  return [
    {
      name: "resident memory of a retained set of 20,000 references with paths of 80 bytes: slope over 1 to 10 sets",
      value,
      bar: 4,
      sense: "at most",
      unit: "MB",
    },
  ];
}

/** Each round has a process of its own, since what one has been given it seldom gives back. */
async function medianOf(rounds: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    values.push(await measure());
  }
  return median(values);
}

async function slopeOfSets(project: Project): Promise<number> {
  const host = new HostProcess();
  try {
    const gateway = await host.serve(project);
    await host.command("workspace", { files: project.files, references: REFERENCES });
    const retain = (line: number) =>
      gateway.call("references", { ...gateway.place(line), includeDeclaration: true, pageSize: 100 });
    // What every call needs while it runs is there after the first ones, which all retain the same set.
    for (let call = 0; call < WARM_UP_CALLS; call += 1) {
      await retain(1);
    }
    const resident = [await host.resident()];
    for (let set = 2; set <= SETS; set += 1) {
      await retain(set);
      resident.push(await host.resident());
    }
    return slope(resident);
  } finally {
    host.end();
  }
}

export async function measureManyCalls(project: Project, calls: Calls, rounds: number): Promise<Row[]> {
  const value = await medianOf(rounds, () => growthByCalls(project, calls));
  const [before, after] = [calls.before, calls.after].map((count) => count.toLocaleString("en"));
  return [
    {
      name: `resident memory after ${after} calls against after ${before}`,
      value,
      bar: 1.02,
      sense: "at most",
    },
  ];
}

async function growthByCalls(project: Project, { before, after }: Calls): Promise<number> {
  const host = new HostProcess();
  const load = new RustProcess("load");
  try {
    const gateway = await host.serve(project);
    await host.command("workspace", { files: project.files, references: REFERENCES });
    const args = { ...gateway.place(1), includeDeclaration: true, pageSize: 100 };
    const { payload } = await gateway.call("references", args);
    const page = gateway.request("references", { ...args, cursor: payload.nextCursor });
    const question = gateway.place(2);
    // Nine pages for each two questions that go to the editor.
    const requests = [
      ...Array.from({ length: 9 }, () => page),
      gateway.request("hover", question),
      gateway.request("definition", question),
    ];
    const call = async (most: number): Promise<number> => {
      await load.load({ port: gateway.port, connections: CONNECTIONS, requests, millis: NO_LIMIT, most });
      return host.resident();
    };
    const early = await call(before);
    const late = await call(after - before);
    return late / early;
  } finally {
    host.end();
    load.end();
  }
}
