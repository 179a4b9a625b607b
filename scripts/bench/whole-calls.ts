// The largest answers of the two tools that ask about the whole workspace, as a client sees them.

import { Failure } from "../../harness/machine/progress.mjs";
import { ROUNDS, type Row } from "../../harness/results/table.ts";
import { HostProcess } from "./host-process.ts";
import { Project } from "./project.ts";
import { RustProcess } from "./rust.ts";

/** The contract's limit for one call, in milliseconds. */
const LIMIT = 2_000;

const FILES = 5_000;
const SYMBOLS = 20_000;
const DIAGNOSTICS_IN_EACH = 4;

export async function measureWholeCalls(): Promise<Row[]> {
  const project = new Project(FILES);
  const host = new HostProcess();
  const load = new RustProcess("load");
  try {
    const gateway = await host.serve(project);
    await host.command("workspace", {
      files: project.files,
      symbols: SYMBOLS,
      diagnosticsInEach: DIAGNOSTICS_IN_EACH,
    });
    const share = async (name: string, tool: string, args: object): Promise<Row> => {
      const { payload } = await gateway.call(tool, args);
      if (payload.items.length !== 100 || payload.nextCursor === null) {
        throw new Failure(`The first page of ${tool} is not one of 100 items with more behind it.`);
      }
      const requests = [gateway.request(tool, args)];
      const order = { port: gateway.port, connections: 1, requests, millis: 60_000, most: ROUNDS };
      const { p50 } = await load.load(order);
      return { name, value: p50 / 1_000 / LIMIT, bar: 0.25, sense: "at most" };
    };
    return [
      await share(
        "20,000 workspace symbols with unique names: the whole call's share of the time limit",
        "workspaceSymbols",
        {
          query: "resolve",
          pageSize: 100,
        },
      ),
      await share(
        "5,000 files of workspace diagnostics: the whole call's share of the time limit",
        "diagnostics.workspace",
        { pageSize: 100 },
      ),
    ];
  } finally {
    host.end();
    load.end();
    project.remove();
  }
}
