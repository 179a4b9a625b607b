import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type DefinitionPayload, type Location, type Page, ToolFailure } from "../../harness/clients/gateway-client.ts";
import {
  connect,
  type GatewayWindow,
  initialize,
  openGateway,
  removeFolder,
  startEditor,
  statusFor,
  temporaryFolder,
} from "../../harness/editor/gateway-window.ts";
import { takeConfiguration } from "../../harness/editor/handover.ts";
import type { EditorWindow, RealVsCode } from "../../harness/editor/real-vscode.ts";
import { placeIn } from "../../harness/languages/sample.ts";
import { eventually } from "../../harness/machine/eventually.ts";
import { unlessLonger } from "../../harness/machine/longer.ts";
import { askForOutline, pickServerAction, toolsOf } from "./own-agent.ts";

/** One that has the wished port, one that found it taken, and one that found the next one taken, too. */
const WINDOWS = unlessLonger(3, 5);

/** A folder in which everything tells which project it is. */
interface Project {
  readonly folder: string;
  readonly number: number;
}

/** A window whose gateway a client has been speaking with since it was opened first. */
interface OpenProject extends Project, GatewayWindow {
  readonly session: string;
}

interface NamedSymbol {
  readonly name: string;
  readonly location: Location;
}

describe(`${WINDOWS} windows on one machine`, () => {
  const projects = Array.from({ length: WINDOWS }, (_, number) => createProject(number));
  let open: OpenProject[];
  let editor: RealVsCode;

  before(async () => {
    editor = await startEditor({ "chat.disableAIFeatures": false });
    open = [];
    // One after the other: in a browser, editor windows that store their first secrets at once overwrite each other's.
    for (const project of projects) {
      open.push(await firstSession(project, await openGateway(editor, project.folder)));
    }
  });

  after(async () => {
    await editor?.stop();
    for (const { folder } of projects) {
      removeFolder(folder);
    }
  });

  test("each has a port and a token of its own, and says everywhere which port that is", async () => {
    assert.equal(new Set(open.map(({ configuration }) => configuration.url)).size, WINDOWS);
    assert.equal(new Set(open.map(({ configuration }) => configuration.token)).size, WINDOWS);
    for (const project of open) {
      await saysItsPort(project);
    }
  });

  test("each answers for its own project only", async () => {
    for (const project of open) {
      await answersForItself(project);
      for (const other of open.filter(({ number }) => number !== project.number)) {
        const asked = project.client.definition(uriOf(other, "src/use.ts"), { line: 0, character: 9 });
        await assert.rejects(asked, isDenied);
      }
    }
  });

  test("each refuses the tokens and the sessions of the others", async () => {
    for (const { configuration, session, number } of open) {
      for (const other of open) {
        const isOwn = other.number === number;
        assert.equal(await statusFor(configuration.url, other.configuration.token), isOwn ? 200 : 401);
        assert.equal(await statusIn(configuration, other.session), isOwn ? 200 : 404);
        assert.equal(
          await statusIn({ ...configuration, token: other.configuration.token }, session),
          isOwn ? 200 : 401,
        );
      }
    }
  });

  test("closed, and opened again all at once, each has its port and its token again, and its sessions go on", async () => {
    await Promise.all(open.map(({ window }) => window.close()));
    await Promise.all(open.map(nobodyListens));
    const windows = await Promise.all(open.map(({ folder }) => editor.openWindow(folder)));
    // All have the one clipboard, so what each of them says that it has copied at the start may be that of another.
    await Promise.all(windows.map(({ handover }) => takeConfiguration(handover)));
    for (const [at, project] of open.entries()) {
      const window = windows[at] ?? project.window;
      const { configuration, client } = await askAgain(window);
      await client.close();
      assert.deepEqual(configuration, project.configuration);
      open[at] = { ...project, window };
    }
    for (const project of open) {
      await goesOn(project);
      await answersForItself(project);
    }
  });

  test("those that are loaded again keep their ports and sessions; that of a closed window they and a new one leave alone, and it is its own again", async () => {
    // The one whose port all others wished for.
    const [closed, ...others] = open.toSorted((one, other) => portOf(one) - portOf(other));
    assert.ok(closed !== undefined);
    await closed.window.close();
    await nobodyListens(closed);
    for (const project of others) {
      await reload(project);
      await goesOn(project);
      await answersForItself(project);
      await saysItsPort(project);
    }
    const another = createProject(WINDOWS);
    try {
      const added = await openGateway(editor, another.folder);
      assert.ok(!open.some(({ configuration }) => configuration.url === added.configuration.url));
      await nobodyListens(closed);
      await added.window.close();
    } finally {
      removeFolder(another.folder);
    }
    const window = await editor.openWindow(closed.folder);
    const { configuration, client } = await connect(window);
    await client.close();
    assert.deepEqual(configuration, closed.configuration);
    const reopened = { ...closed, window };
    open = open.map((project) => (project === closed ? reopened : project));
    await goesOn(reopened);
    await answersForItself(reopened);
    await saysItsPort(reopened);
  });

  test("two windows on one folder share its token and its sessions, and each keeps a port of its own", async () => {
    const [first] = open;
    assert.ok(first !== undefined);
    const twin = await editor.openWindow(first.folder);
    const { configuration, client } = await connect(twin);
    await client.close();
    assert.ok(!open.some((project) => project.configuration.url === configuration.url));
    assert.equal(configuration.token, first.configuration.token);
    assert.equal(await statusIn(configuration, first.session), 200);
    for (const [window, { url }] of [
      [first.window, first.configuration],
      [twin, configuration],
    ] as const) {
      await window.page.bringToFront();
      await window.page.reload();
      const again = await connect(window);
      await again.client.close();
      assert.equal(again.configuration.url, url);
    }
    await twin.close();
    await goesOn(first);
  });
});

/**
 * A project with a symbol that every one of them has, each at another place, and one that no other has.
 */
function createProject(number: number): Project {
  const folder = temporaryFolder(`project${number}`);
  mkdirSync(join(folder, "src"));
  const files = {
    "tsconfig.json": '{"compilerOptions":{"strict":true,"target":"ES2022"},"include":["src"]}',
    "src/shared.ts": `${"// A line.\n".repeat(number)}export const everywhere = ${number};\n`,
    "src/own.ts": `export const onlyHere${number} = true;\n`,
    "src/use.ts": 'import { everywhere } from "./shared";\nexport const found = everywhere;\n',
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
  }
  return { folder, number };
}

function uriOf({ folder }: Project, file: string): string {
  return pathToFileURL(join(folder, file)).href;
}

function isDenied(error: unknown): boolean {
  return error instanceof ToolFailure && error.code === "WORKSPACE_DENIED";
}

function portOf({ configuration }: GatewayWindow): number {
  return Number(new URL(configuration.url).port);
}

/** Connects with what the window copies when nobody else does. */
async function askAgain(window: EditorWindow): Promise<GatewayWindow> {
  await window.page.bringToFront();
  await window.runCommand("Gateway Handover: Write Client Configuration");
  return connect(window);
}

async function firstSession(project: Project, gateway: GatewayWindow): Promise<OpenProject> {
  const { url, token } = gateway.configuration;
  const response = await initialize(url, token, "2025-11-25");
  await response.arrayBuffer();
  const session = response.headers.get("mcp-session-id");
  assert.ok(session !== null);
  return { ...project, ...gateway, session };
}

/** Loads the window again, and checks that it copies what it copied before. */
async function reload({ window, configuration }: OpenProject): Promise<void> {
  await window.page.bringToFront();
  await window.page.reload();
  const again = await connect(window);
  await again.client.close();
  assert.deepEqual(again.configuration, configuration);
}

/** The sessions from before go on, that of a client of the SDK among them. */
async function goesOn({ client, configuration, session }: OpenProject): Promise<void> {
  assert.equal(await statusIn(configuration, session), 200);
  assert.equal((await client.toolNames()).length, 7);
}

async function answersForItself(project: OpenProject): Promise<void> {
  const { client, number, folder } = project;
  const use = placeIn(folder, "src/use.ts", "everywhere", "found");
  // Before the project is loaded, the nearest thing to a definition is the import in the same file.
  const answer = await eventually(
    () => client.definition(use.uri, use.position),
    ({ locations: [first] }: DefinitionPayload) => first?.uri === uriOf(project, "src/shared.ts"),
  );
  assert.deepEqual(
    answer.locations.map(({ uri, range }) => [uri, range.start]),
    [[uriOf(project, "src/shared.ts"), { line: number, character: 13 }]],
  );
  assert.deepEqual(await symbols(project, "everywhere"), [["everywhere", uriOf(project, "src/shared.ts")]]);
  assert.deepEqual(await symbols(project, "onlyHere"), [[`onlyHere${number}`, uriOf(project, "src/own.ts")]]);
}

async function symbols({ client }: OpenProject, query: string): Promise<[string, string][]> {
  const page = await client.call<Page<NamedSymbol>>("vscode.lsp.workspaceSymbols", { query });
  return page.items.map(({ name, location }) => [name, location.uri]);
}

/** The status bar, the commands and the editor's own agent all speak of the port that the client is connected to. */
async function saysItsPort(project: OpenProject): Promise<void> {
  const { window, configuration } = project;
  const port = portOf(project);
  await window.page.bringToFront();
  assert.match(await window.status(new RegExp(`MCP ${port}$`)), new RegExp(`listens on port ${port}[,;]`));
  await window.runCommand("MCP LSP Gateway: Copy Endpoint URL");
  const copied = await eventually(
    () => window.clipboard(),
    (text) => text === configuration.url,
  );
  assert.equal(copied, configuration.url);
  await window.runCommand("MCP LSP Gateway: Copy Client Configuration");
  const text = await eventually(
    () => window.clipboard(),
    (copied) => copied === configuration.text,
  );
  assert.equal(text, configuration.text);
  await pickServerAction(window, "Start Server");
  await eventually(
    () => toolsOf(window),
    (names) => names.length > 0,
  );
  const outline = await eventually(
    () => askForOutline(window, uriOf(project, "src/own.ts")),
    (answer) => answer.includes(`onlyHere${project.number}`),
  );
  assert.match(outline, new RegExp(`"name":"onlyHere${project.number}"`));
}

/** The HTTP status that a client with this token gets inside this session. */
async function statusIn({ url, token }: { url: string; token: string }, session: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Session-Id": session,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Resolves once a connection to the port is refused. */
async function nobodyListens({ configuration }: OpenProject): Promise<void> {
  const isRefused = await eventually(
    () =>
      fetch(configuration.url).then(
        () => false,
        () => true,
      ),
    (refused) => refused,
  );
  assert.ok(isRefused, "Somebody listens.");
}
