// Where a client is tried: a home folder and a project of its own, and the gateway behind a proxy.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "node:test";
import { type Client, clients, TOKEN_VARIABLE, type Way } from "../../extension/ui/clients.ts";
import { run } from "../../harness/machine/processes.mjs";
import { LoopbackProxy } from "./loopback-proxy.ts";
import { ReplayHost, temporaryFolder } from "./replay-host.ts";

/** A person's machine: a home folder and a project of its own, and the gateway behind a proxy that hears every message. */
export interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly proxy: LoopbackProxy;
  readonly token: string;
  /** Runs a command line in a shell in the project's folder, and resolves to all that it printed. */
  shell(command: string): Promise<string>;
  /** Writes a file of the project, or of the home folder if the path begins with `~/`. */
  write(file: string, text: string): Promise<void>;
}

export interface Setup {
  /** Where the client's commands are. */
  readonly binaries: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly settings?: Record<string, string>;
  /** What the person's files hold before, by their paths as `Place.write` takes them. */
  readonly files?: Readonly<Record<string, string>>;
  /** The project's folder, if it is there already, and what the language servers answer about it. */
  readonly project?: string;
  readonly provider?: object;
}

export async function settle(t: TestContext, way: Way["token"], setup: Setup): Promise<Place> {
  const home = await temporaryFolder(t);
  const project = setup.project ?? (await temporaryFolder(t));
  const host = await ReplayHost.start(t, {
    roots: [project],
    provider: setup.provider ?? {},
    ...(setup.settings === undefined ? {} : { settings: setup.settings }),
  });
  const proxy = await LoopbackProxy.start(t);
  proxy.target = { url: host.url };
  const env = {
    PATH: [...setup.binaries, path.dirname(process.execPath), process.env["PATH"]].join(path.delimiter),
    HOME: home,
    // What a proxy in between would make of loopback is not what is tested here.
    NO_PROXY: "127.0.0.1",
    ...setup.variables,
    ...(way === "variable" ? { [TOKEN_VARIABLE]: host.token } : {}),
  };
  const place: Place = {
    env,
    proxy,
    token: host.token,
    shell: async (command) => {
      const { code, output } = await run("sh", ["-c", command], { cwd: project, env });
      assert.equal(code, 0, `${command}\n${output}`);
      return output;
    },
    write: async (file, content) => {
      const target = file.startsWith("~/") ? path.join(home, file.slice(2)) : path.join(project, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, content);
    },
  };
  for (const [file, content] of Object.entries(setup.files ?? {})) await place.write(file, content);
  return place;
}

export function clientNamed(id: Client["id"]): Client {
  return clients("vscode").find((client) => client.id === id) ?? assert.fail(id);
}
