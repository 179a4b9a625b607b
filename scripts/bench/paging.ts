// A page from a retained set, against the least that a server can do for the same request.

import { Failure } from "../../harness/machine/progress.mjs";
import { median, medianRatio, ROUNDS, type Row } from "../../harness/results/table.ts";
import { HostProcess } from "./host-process.ts";
import type { Project } from "./project.ts";
import { type LoadReport, RustProcess } from "./rust.ts";

const CONNECTIONS = [1, 16, 64];
/** The number of connections at which latencies are compared, and the floor with itself. */
const TYPICAL = 16;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export interface Paging {
  readonly rows: readonly Row[];
  /** The floor's absolute requests in a second at each number of connections. */
  readonly floor: readonly { readonly connections: number; readonly perSecond: number }[];
  /** Of the body that both return. */
  readonly bytes: number;
}

/** The servers that take turns: the floor once more without its check of the token. */
type Server = "gateway" | "floor" | "open";

/** Loads each server in turn, `millis` at a time. */
export async function measurePaging(project: Project, millis: number): Promise<Paging> {
  const host = new HostProcess();
  const load = new RustProcess("load");
  const processes: { end(): void }[] = [host, load];
  try {
    const gateway = await host.serve(project);
    await host.command("workspace", { files: project.files, references: 20_000 });
    const args = { ...gateway.place(1), includeDeclaration: true, pageSize: 100 };
    const first = await gateway.call("references", args);
    const next = { ...args, cursor: first.payload.nextCursor };
    const page = await gateway.call("references", next);
    if (page.payload.items.length !== 100) {
      throw new Failure(`A page of 100 references has ${page.payload.items.length}.`);
    }
    const floor = await RustProcess.floor(page.bytes, gateway.token);
    const open = await RustProcess.floor(page.bytes);
    processes.push(floor.process, open.process);
    const ports: Record<Server, number> = { gateway: gateway.port, floor: floor.port, open: open.port };
    const requests = [gateway.request("references", next)];
    const reports = new Map<string, LoadReport[]>();
    // The first round only warms up.
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const connections of CONNECTIONS) {
        const servers: Server[] = connections === TYPICAL ? ["gateway", "floor", "open"] : ["gateway", "floor"];
        for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
          const report = await load.load({ port: ports[server], connections, requests, millis, most: NO_LIMIT });
          if (round >= 0) {
            const key = `${server} ${connections}`;
            reports.set(key, [...(reports.get(key) ?? []), report]);
          }
        }
      }
    }
    const figures = (server: Server, connections: number, figure: (report: LoadReport) => number) =>
      (reports.get(`${server} ${connections}`) ?? []).map(figure);
    return {
      rows: [
        ...CONNECTIONS.map(
          (connections): Row => ({
            name: `a page of 100 references, ${connections} ${connections === 1 ? "connection" : "connections"}: throughput against the floor`,
            value: medianRatio(figures("gateway", connections, perSecond), figures("floor", connections, perSecond)),
            bar: 0.4,
            sense: "at least",
          }),
        ),
        {
          name: `a page of 100 references, ${TYPICAL} connections: p99 latency against the floor's`,
          value: medianRatio(figures("gateway", TYPICAL, p99), figures("floor", TYPICAL, p99)),
          bar: 2,
          sense: "at most",
        },
        {
          name: `the floor, ${TYPICAL} connections: throughput against the same server without the token check`,
          value: medianRatio(figures("floor", TYPICAL, perSecond), figures("open", TYPICAL, perSecond)),
          bar: 0.9,
          sense: "at least",
        },
      ],
      floor: CONNECTIONS.map((connections) => ({
        connections,
        perSecond: median(figures("floor", connections, perSecond)),
      })),
      bytes: page.bytes,
    };
  } finally {
    for (const process of processes) {
      process.end();
    }
  }
}

function perSecond({ count, seconds }: LoadReport): number {
  return count / seconds;
}

function p99(report: LoadReport): number {
  return report.p99;
}
