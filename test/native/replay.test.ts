import assert from "node:assert/strict";
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, relative } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { temporaryFolder } from "./addon-process.ts";
import { Client, inTime, type Outcome } from "./client.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const REPLAY = join(REPOSITORY, "replay", "main.ts");

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The replay host, in a process group of its own. */
class Replay {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<Ended>;
  readonly stdout: string[] = [];
  stderr = "";
  readonly #lines: AsyncIterator<string>;

  constructor(
    t: TestContext,
    args: readonly string[],
    { program = process.execPath, first = [REPLAY], cwd = REPOSITORY } = {},
  ) {
    this.child = spawn(program, [...first, ...args], { detached: true, stdio: "pipe", cwd });
    this.child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
    });
    this.exited = once(this.child, "close").then(([code, signal]) => ({ code, signal }));
    this.#lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    t.after(async () => {
      if (this.child.exitCode === null && this.child.signalCode === null) {
        this.signal("SIGKILL");
        await this.exited;
      }
    });
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(-(this.child.pid ?? assert.fail("it was not started")), signal);
  }

  async line(): Promise<string> {
    const { done, value } = await this.#lines.next();
    assert.ok(done !== true, `it has ended: ${this.stderr}`);
    this.stdout.push(value);
    return value;
  }

  /** Waits until it is ready, and connects. */
  async client(): Promise<Client> {
    const { url, token } = JSON.parse(await this.line());
    return Client.connect(url, token);
  }

  /** Sends lines as they are, and resolves to the next line that comes back. */
  async send(...lines: readonly string[]): Promise<unknown> {
    this.child.stdin.write(lines.map((line) => `${line}\n`).join(""));
    return JSON.parse(await this.line());
  }

  /** Resolves once stderr holds the text. */
  async says(text: string): Promise<void> {
    while (!this.stderr.includes(text)) {
      await once(this.child.stderr, "data");
    }
  }
}

interface Project {
  readonly root: string;
  /** The file with the provider. */
  readonly provider: string;
  uri(name: string): string;
}

async function project(
  t: TestContext,
  provider: unknown,
  files: Readonly<Record<string, string | Buffer>> = {},
): Promise<Project> {
  const folder = await temporaryFolder(t);
  const root = join(folder, "project");
  await mkdir(root);
  await writeFile(join(root, "main.ts"), "const shape = 1;\nuse(shape);\n");
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(root, name), content);
  }
  const file = join(folder, "provider.json");
  await writeFile(file, typeof provider === "string" ? provider : JSON.stringify(provider));
  return { root, provider: file, uri: (name) => pathToFileURL(join(root, name)).href };
}

function arguments_({ root, provider }: Project, ...more: readonly string[]): string[] {
  return ["--roots", root, "--provider", provider, ...more];
}

function location(uri: string, line: number) {
  return { uri, range: { start: { line, character: 0 }, end: { line, character: 1 } } };
}

function at(uri: string, line = 0, character = 0) {
  return { uri, position: { line, character } };
}

function codeOf(outcome: Outcome): string | undefined {
  return outcome.error?.data.code.replace("MCP_LSP_GATEWAY/", "");
}

test("it says where it listens and with which token, and answers out of its file", async (t) => {
  const files = await project(t, "");
  const uri = files.uri("main.ts");
  const link = { targetUri: uri, targetRange: location(uri, 2).range, targetSelectionRange: location(uri, 0).range };
  await writeFile(
    files.provider,
    JSON.stringify({ references: [location(uri, 1), location(uri, 0)], definition: [link] }),
  );
  const replay = new Replay(t, arguments_(files));

  const client = await replay.client();

  assert.match(replay.stdout[0] ?? "", /^\{"url":"http:\/\/127\.0\.0\.1:\d+\/mcp","token":"[\w-]{43}"\}$/);
  const references = await client.references(at(uri, 1, 4));
  assert.deepEqual(references.payload?.items, [location(uri, 0), location(uri, 1)]);
  const definition = await client.call("vscode.lsp.definition", at(uri, 1, 4));
  assert.deepEqual(definition.payload, { locations: [location(uri, 0)], summary: "Found 1 definition." });
  // A missing provider for declarations counts as none (D9).
  const without = await client.references(at(uri, 1, 4), { includeDeclaration: false });
  assert.deepEqual(without.payload?.items, [location(uri, 1)]);
});

test("through npm nothing but its own lines is on stdout, and SIGTERM to the group ends it with 0", async (t) => {
  const files = await project(t, { references: [] });
  const first = ["run", "--silent", "replay", "--"];
  const replay = new Replay(t, arguments_(files, "--token=-a-token", "--port=0"), { program: "npm", first });

  const client = await replay.client();
  assert.equal(client.token, "-a-token");
  assert.deepEqual(await replay.send('{"bump":"fs"}'), { applied: 1 });

  replay.signal("SIGTERM");
  // What npm makes of a signal to itself is npm's own; that everything in its group is gone is ours.
  await replay.exited;
  assert.equal(replay.stdout.length, 2);
  await assert.rejects(client.ping());
});

test("SIGTERM ends it promptly with 0, even while a question is under way", async (t) => {
  const files = await project(t, { references: [], delayMs: { references: 600_000 } });
  const replay = new Replay(t, arguments_(files, "--setting", "logLevel=debug"));
  const client = await replay.client();
  const call = assert.rejects(client.references(at(files.uri("main.ts"))));
  // Sent after the call and answered, so that the call has been taken.
  assert.equal(await client.ping(), 200);

  const begun = performance.now();
  replay.signal("SIGTERM");

  assert.deepEqual(await replay.exited, { code: 0, signal: null });
  assert.ok(performance.now() - begun < 1_500);
  await call;
});

test("it goes on when its stdin has ended", async (t) => {
  const files = await project(t, { references: [] });
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();

  replay.child.stdin.end('{"bump":"text"}');

  assert.equal(await replay.line(), '{"applied":1}', "the last line needs no line feed");
  assert.equal(await client.ping(), 200);
  replay.signal("SIGTERM");
  assert.equal((await replay.exited).code, 0);
});

test("a question that the file lacks, or has as null, has no provider, and an empty list found nothing", async (t) => {
  const files = await project(t, { definition: [], references: null });
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();
  const place = at(files.uri("main.ts"));

  assert.equal(codeOf(await client.references(place)), "PROVIDER_UNAVAILABLE");
  assert.deepEqual((await client.call("vscode.lsp.definition", place)).payload?.locations, []);

  const { uri } = place;
  const others: [tool: string, part: string, arguments_: object, list: string][] = [
    ["hover", "hover", place, "contents"],
    ["documentSymbols", "documentSymbols", { uri }, "symbols"],
    ["workspaceSymbols", "workspaceSymbols", { query: "a" }, "items"],
    ["diagnostics.workspace", "diagnostics", {}, "items"],
  ];
  for (const [tool, part, args, list] of others) {
    assert.equal(codeOf(await client.call(`vscode.lsp.${tool}`, args)), "PROVIDER_UNAVAILABLE", tool);
    await replay.send(JSON.stringify({ provider: { [part]: [] } }));
    assert.deepEqual((await client.call(`vscode.lsp.${tool}`, args)).payload?.[list], [], tool);
  }
});

test("a URI that is missing from the diagnostics was never published, and one without any was", async (t) => {
  const files = await project(t, "", { "clean.ts": "", "unknown.ts": "" });
  const wrong = { message: "wrong", range: location("", 0).range };
  const published = [
    [files.uri("main.ts"), [wrong]],
    [files.uri("clean.ts"), []],
  ];
  await writeFile(files.provider, JSON.stringify({ diagnostics: published }));
  const client = await new Replay(t, arguments_(files)).client();
  const look = async (name: string) => {
    const outcome = await client.call("vscode.lsp.diagnostics.document", { uri: files.uri(name) });
    return outcome.payload?.diagnostics.length ?? outcome.error?.data.details;
  };

  assert.equal(await look("main.ts"), 1);
  assert.equal(await look("clean.ts"), 0);
  assert.deepEqual(await look("unknown.ts"), { reason: "not_analysed" });
});

test("documents are read from disk and positions counted as VS Code counts", async (t) => {
  const files = await project(
    t,
    { references: [] },
    {
      "breaks.ts": "a\r\nbb\rccc\n\n😀e",
      "bom.ts": "\ufeffab",
      "utf16.ts": Buffer.from("\ufeffäb\nc", "utf16le"),
      "empty.ts": "",
      "binary.bin": Buffer.from([97, 0, 98]),
    },
  );
  await mkdir(join(files.root, "folder"));
  for (const [name, size] of [
    ["large.ts", 50 * 1024 * 1024],
    ["too-large.ts", 50 * 1024 * 1024 + 1],
  ] as const) {
    await writeFile(join(files.root, name), Buffer.alloc(size, "x"));
  }
  const client = await new Replay(t, arguments_(files)).client();
  const look = async (name: string, line: number, character: number) => {
    const outcome = await inTime(() => client.references(at(files.uri(name), line, character)));
    return outcome.error?.data.details ?? codeOf(outcome) ?? "answered";
  };

  for (const [line, length] of [1, 2, 3, 0, 3].entries()) {
    assert.equal(await look("breaks.ts", line, length), "answered", `the end of line ${line}`);
    assert.deepEqual(await look("breaks.ts", line, length + 1), { lineLength: length });
  }
  assert.deepEqual(await look("breaks.ts", 5, 0), { lineCount: 5 });
  assert.deepEqual(await look("bom.ts", 0, 3), { lineLength: 2 });
  assert.deepEqual(await look("utf16.ts", 0, 3), { lineLength: 2 });
  assert.deepEqual(await look("utf16.ts", 2, 0), { lineCount: 2 });
  assert.equal(await look("empty.ts", 0, 0), "answered");
  assert.deepEqual(await look("empty.ts", 1, 0), { lineCount: 1 });
  assert.equal(await look("folder", 0, 0), "NOT_FOUND");
  assert.equal(await look("binary.bin", 0, 0), "NOT_FOUND");
  assert.equal(await look("large.ts", 0, 0), "answered");
  assert.equal(await look("too-large.ts", 0, 0), "NOT_FOUND");
  assert.equal(await look("missing.ts", 0, 0), "URI_INVALID");
});

test("nobody waits for what is no regular file, and SIGTERM ends it all the same", async (t) => {
  const files = await project(t, { references: [] });
  execFileSync("mkfifo", [join(files.root, "pipe.ts")]);
  await symlink(join(files.root, "pipe.ts"), join(files.root, "link.ts"));
  await symlink("/dev/zero", join(files.root, "outside.ts"));
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();

  for (const name of ["pipe.ts", "link.ts"]) {
    assert.equal(codeOf(await client.references(at(files.uri(name)))), "NOT_FOUND", name);
  }
  assert.equal(codeOf(await client.references(at(files.uri("outside.ts")))), "WORKSPACE_DENIED");

  replay.signal("SIGTERM");
  assert.deepEqual(await replay.exited, { code: 0, signal: null });
});

test("a signal ends it while the file of its command line has yet to come", async (t) => {
  const files = await project(t, {});
  const pipe = join(files.root, "provider.pipe");
  execFileSync("mkfifo", [pipe]);
  const replay = new Replay(t, ["--roots", files.root, "--provider", pipe]);
  // Opens only once somebody reads.
  const writer = await open(pipe, "w");
  t.after(() => writer.close());

  replay.signal("SIGTERM");

  assert.deepEqual(await replay.exited, { code: null, signal: "SIGTERM" });
});

test("a delay holds up its own question and no other", async (t) => {
  const questions = ["definition", "references", "hover", "documentSymbols", "workspaceSymbols", "diagnostics"];
  // A file for each, since a question that is still under way is not asked a second time.
  const names = questions.map((question) => `${question}.ts`);
  const files = await project(t, {}, Object.fromEntries(names.map((name) => [name, ""])));
  const replay = new Replay(t, arguments_(files, "--setting", "requestTimeoutMs=150"));
  const client = await replay.client();
  const empty = Object.fromEntries([...questions, "declaration"].map((question) => [question, []]));

  for (const delayed of questions) {
    const place = at(files.uri(`${delayed}.ts`));
    const provider = { ...empty, diagnostics: [[place.uri, []]], delayMs: { [delayed]: 1e12 } };
    await replay.send(JSON.stringify({ provider }));
    const calls = {
      definition: () => client.call("vscode.lsp.definition", place),
      references: () => client.references(place),
      hover: () => client.call("vscode.lsp.hover", place),
      documentSymbols: () => client.call("vscode.lsp.documentSymbols", { uri: place.uri }),
      workspaceSymbols: () => client.call("vscode.lsp.workspaceSymbols", { query: delayed }),
      diagnostics: () => client.call("vscode.lsp.diagnostics.document", { uri: place.uri }),
    };
    for (const [question, call] of Object.entries(calls)) {
      const { error } = await (question === delayed ? call() : inTime(call));
      const details = question === delayed ? { reason: "timeout", retryable: true } : undefined;
      assert.deepEqual(error?.data.details, details, `${question} while ${delayed} takes its time`);
    }
  }
});

test("each kind of bump is in effect once it is answered", async (t) => {
  const files = await project(t, "");
  const uri = files.uri("main.ts");
  await writeFile(files.provider, JSON.stringify({ references: [location(uri, 0), location(uri, 1)] }));
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();
  const page = (cursor: string | null) => client.references(at(uri), { pageSize: 1, cursor });

  for (const [index, kind] of ["text", "fs", "roots"].entries()) {
    const cursor = (await page(null)).payload?.nextCursor;
    assert.deepEqual(await replay.send(JSON.stringify({ bump: kind })), { applied: index + 1 });
    const stale = await page(cursor);
    assert.equal(codeOf(stale), "CURSOR_STALE");
    assert.deepEqual(stale.error?.data.details, { changed: [kind] });
  }

  const cursor = (await page(null)).payload?.nextCursor;
  assert.deepEqual(await replay.send('{"bump":"diagnostics"}'), { applied: 4 });
  assert.equal((await page(cursor)).payload?.items.length, 1);
});

test("another provider answers from the next question on, and is no change of the workspace", async (t) => {
  const files = await project(t, "");
  const uri = files.uri("main.ts");
  const provider = { references: [location(uri, 0), location(uri, 1)] };
  await writeFile(files.provider, JSON.stringify(provider));
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();
  const cursor = (await client.references(at(uri), { pageSize: 1 })).payload?.nextCursor;

  assert.deepEqual(await replay.send(JSON.stringify({ provider: { definition: [] } })), { applied: 1 });

  assert.equal(codeOf(await client.references(at(uri))), "PROVIDER_UNAVAILABLE");
  assert.equal((await client.references(at(uri), { pageSize: 1, cursor })).payload?.items.length, 1);
  assert.deepEqual(await replay.send(JSON.stringify({ provider })), { applied: 2 });
  assert.equal((await client.references(at(uri))).payload?.items.length, 2);
});

test("other roots and other tokens are in effect once they are answered", async (t) => {
  const files = await project(t, { references: [] });
  const elsewhere = join(files.root, "..", "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "other.ts"), "");
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();
  const inside = at(files.uri("main.ts"));
  const outside = at(pathToFileURL(join(elsewhere, "other.ts")).href);
  assert.equal(codeOf(await client.references(outside)), "WORKSPACE_DENIED");

  assert.deepEqual(await replay.send(JSON.stringify({ roots: [relative(REPOSITORY, elsewhere)] })), { applied: 1 });
  assert.equal(codeOf(await client.references(outside)), undefined);
  assert.equal(codeOf(await client.references(inside)), "WORKSPACE_DENIED");

  assert.deepEqual(await replay.send('{"tokens":["one","two"]}'), { applied: 2 });
  assert.equal(await client.ping(), 401);
  const other = await Client.connect(client.url, "two");
  assert.equal(codeOf(await other.references(outside)), undefined, "the roots outlive the change of tokens");

  assert.deepEqual(await replay.send('{"roots":[]}'), { applied: 3 });
  assert.equal(codeOf(await other.references(outside)), "WORKSPACE_DENIED");
});

test("lines are applied in their order, and one that cannot be is told and not counted", async (t) => {
  const files = await project(t, { references: [] });
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();
  const bad = [
    ["not json", "Line 2 of stdin changed nothing: it is not JSON: "],
    ["[]", "Line 3 of stdin changed nothing: it is not an object with one key"],
    ["{}", "Line 4 of stdin changed nothing: it is not an object with one key"],
    ['{"bump":"text","roots":[]}', "Line 5 of stdin changed nothing: it is not an object with one key"],
    ['{"jump":"text"}', 'Line 6 of stdin changed nothing: "jump" is not one of bump, provider, roots and tokens.'],
    ['{"bump":"mood"}', "Line 7 of stdin changed nothing: bump is not one of text, fs, diagnostics and roots."],
    ['{"provider":[]}', "Line 8 of stdin changed nothing: provider cannot be used: A provider is a JSON object"],
    ['{"provider":{"refs":[]}}', 'provider cannot be used: A provider has no part "refs": use definition, '],
    ['{"provider":{"delayMs":{"references":-1}}}', "delayMs.references is not a number of milliseconds"],
    ['{"roots":"x"}', "Line 11 of stdin changed nothing: roots is not a list of texts."],
    ['{"tokens":[5]}', "Line 12 of stdin changed nothing: tokens is not a list of texts."],
    ['{"tokens":["a b"]}', "Line 13 of stdin changed nothing: A token is made of printable ASCII characters"],
  ] as const;

  const answer = await replay.send('{"bump":"fs"}', ...bad.map(([line]) => line), "", '{"tokens":["last"]}');

  assert.deepEqual(answer, { applied: 1 });
  assert.equal(await replay.line(), '{"applied":2}');
  for (const [, message] of bad) {
    await replay.says(message);
  }
  assert.equal(await client.ping(), 401);
});

test("what no provider of VS Code returns is told, and treated as a faulty provider", async (t) => {
  const files = await project(t, { references: [{ uri: "file:///x", range: null }, null], definition: 7 });
  const replay = new Replay(t, arguments_(files));
  const client = await replay.client();

  await replay.says("The file of --provider: references[0].range is not an object; ");
  await replay.says("The file of --provider: references[1] is not an object; ");
  await replay.says("The file of --provider: definition is not a list; ");
  assert.equal(codeOf(await client.references(at(files.uri("main.ts")))), "INTERNAL");
  assert.equal(codeOf(await client.call("vscode.lsp.definition", at(files.uri("main.ts")))), "INTERNAL");

  await replay.send(JSON.stringify({ provider: { references: Array(120).fill(null) } }));
  await replay.says("provider: references[19] is not an object; ");
  await replay.says("provider: 100 more items are odd as well.");
  assert.doesNotMatch(replay.stderr, /references\[20\]/);
});

test("the whole format is read, and what is odd in it is named", async (t) => {
  const range = location("", 0).range;
  const symbol = { name: "n", kind: 11, range, selectionRange: range };
  const information = { name: "n", kind: 25, containerName: "", location: { uri: "file:///x", range } };
  const diagnostic = { message: "m", range };
  const whole = {
    definition: [],
    declaration: [{ targetUri: "file:///x", targetRange: range }],
    references: [],
    hover: [{ contents: ["a", { language: "ts", value: "b" }, { value: "c" }], range }, { contents: [] }],
    documentSymbols: [{ ...symbol, children: [symbol] }, information],
    workspaceSymbols: [information, { ...information, location: { uri: "file:///x" } }],
    diagnostics: [
      ["file:///x", []],
      ["file:///y", [diagnostic, { ...diagnostic, severity: 3, code: 1, source: "s" }]],
      [
        "file:///z",
        [
          { ...diagnostic, code: "c" },
          { ...diagnostic, code: { value: 2, target: "file:///z" } },
        ],
      ],
    ],
    delayMs: { hover: 1, documentSymbols: 2, workspaceSymbols: 3, diagnostics: 4, definition: 5, declaration: 6.5 },
  };
  const files = await project(t, whole);
  const replay = new Replay(t, arguments_(files, "--setting", "logLevel=off"));
  await replay.client();
  assert.equal(replay.stderr, "");

  const odd = {
    hover: [{ contents: [{ language: "ts" }] }, { contents: "a" }],
    documentSymbols: [
      { ...symbol, children: [{ ...symbol, kind: 26 }] },
      { name: "n", kind: 11, range },
    ],
    workspaceSymbols: [{ ...information, location: {} }],
    diagnostics: [
      ["file:///x"],
      ["file:///x", [diagnostic, { message: "m" }]],
      ["file:///x", [{ ...diagnostic, code: {} }]],
    ],
  };
  await replay.send(JSON.stringify({ provider: odd }));
  for (const oddity of [
    "hover[0].contents[0].value is not a text",
    "hover[1].contents is not a list",
    "documentSymbols[0].children[0].kind is not a number from 0 to 25",
    "documentSymbols[1].selectionRange is not an object",
    "workspaceSymbols[0].location.uri is not a text",
    "diagnostics[0] is not a pair of a URI and its diagnostics",
    "diagnostics[1][1][1].range is not an object",
    "diagnostics[2][1][0].code.value is not a text",
  ]) {
    await replay.says(`provider: ${oddity}; `);
  }
});

test("settings carry no prefix, lists are JSON or commas, and what is out of bounds is clamped and told", async (t) => {
  const files = await project(t, "");
  const elsewhere = join(files.root, "..", "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "other.ts"), "");
  const uri = files.uri("main.ts");
  await writeFile(files.provider, JSON.stringify({ references: [0, 1, 2].map((line) => location(uri, line)) }));
  const settings = [
    ["--setting", "maxItemsPerPage=2", "allowedOrigins=https://a.example,https://b.example"],
    [
      "--setting",
      `additionalAllowedRoots=${JSON.stringify([`${elsewhere}/gone`, elsewhere])}`,
      "--setting=maxResponseBytes=5",
    ],
  ].flat();
  const replay = new Replay(t, arguments_(files, ...settings));
  const client = await replay.client();

  assert.equal((await client.references(at(uri))).payload?.items.length, 2);
  assert.equal(codeOf(await client.references(at(pathToFileURL(join(elsewhere, "other.ts")).href))), undefined);
  await replay.says("mcpLspGateway.maxResponseBytes is 5, so 16384 is used");
  await replay.says(
    "Entry 1 of mcpLspGateway.additionalAllowedRoots names no existing folder: create it and start again",
  );
  const ping = async (origin: string) => {
    const headers = {
      origin,
      authorization: `Bearer ${client.token}`,
      "mcp-session-id": client.session ?? "",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    return (await fetch(client.url, { method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }))
      .status;
  };
  assert.equal(await ping("https://b.example"), 200);
  assert.equal(await ping("https://c.example"), 403);
});

test("several folders and relative ones are roots, and a linked one is asked about by its own name", async (t) => {
  const files = await project(t, { references: [] });
  const [link, other] = [join(files.root, "..", "link"), join(files.root, "..", "other")];
  await symlink(files.root, link);
  await mkdir(other);
  await writeFile(join(other, "a.ts"), "");
  const roots = ["link", "other"].join(",");
  const replay = new Replay(t, ["--roots", roots, "--provider", "provider.json"], { cwd: join(files.root, "..") });
  const client = await replay.client();

  assert.equal(codeOf(await client.references(at(files.uri("main.ts")))), undefined);
  assert.equal(codeOf(await client.references(at(pathToFileURL(join(link, "main.ts")).href))), undefined);
  assert.equal(codeOf(await client.references(at(pathToFileURL(join(other, "a.ts")).href))), undefined);
});

test("a command line that cannot be followed costs one sentence and exit code 2", async (t) => {
  const files = await project(t, {});
  const broken = await project(t, "{");
  const odd = await project(t, { referenses: [] });
  const { root, provider } = files;
  const cases: [string[], RegExp][] = [
    [[], /^--roots is missing: it takes the folders, separated by commas\.$/],
    [["--roots", root], /^--provider is missing: it takes the file with the editor's answers\.$/],
    [["--provider", provider, "--roots"], /^--roots is missing: it takes a value\.$/],
    [
      ["--roots", join(root, "missing"), "--provider", provider],
      /^--roots names ".*missing", which is not a folder\.$/,
    ],
    [["--roots", `${root},`, "--provider", provider], /^--roots names "", which is not a folder\.$/],
    [["--roots", root, "--provider", join(root, "missing")], /^The file of --provider, .*missing, cannot be read\.$/],
    [arguments_(broken), /^The file of --provider is not JSON: .*\.$/],
    [arguments_(odd), /^The file of --provider cannot be used: A provider has no part "referenses": use .*\.$/],
    [arguments_(files, "--port", "65536"), /^--port "65536" is not a number from 0, for any port, to 65535\.$/],
    [arguments_(files, "--token", "a b"), /^A token is made of printable ASCII characters without spaces\.$/],
    [
      arguments_(files, "--setting", "maxItemsPerPage"),
      /^--setting "maxItemsPerPage" has no value: write name=value\.$/,
    ],
    [
      arguments_(files, "--setting", "mcpLspGateway.port=1"),
      /^There is no setting "mcpLspGateway\.port": use one of .*\.$/,
    ],
    [arguments_(files, "--setting", "port=many"), /^The setting port is a whole number, not "many"\.$/],
    [arguments_(files, "--setting", "allowedOrigins=[x"), /^The setting allowedOrigins is not JSON: .*\.$/],
    [arguments_(files, "--setting", "enabled=false"), /^The setting enabled cannot be false here: .*\.$/],
    [arguments_(files, "--verbose"), /^"--verbose" is not an option: use --roots .*\.$/],
    [arguments_(files, "stray"), /^"stray" is not an option: use --roots .*\.$/],
  ];

  await Promise.all(
    cases.map(async ([args, sentence]) => {
      const replay = new Replay(t, args);
      const { code } = await replay.exited;
      assert.match(replay.stderr.trimEnd(), sentence);
      assert.equal(code, 2, replay.stderr);
    }),
  );
});

test("a port that is taken costs one sentence and exit code 1", async (t) => {
  const files = await project(t, {});
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);

  const replay = new Replay(t, arguments_(files, "--port", String(address.port), "--setting", "logLevel=off"));

  assert.equal((await replay.exited).code, 1);
  assert.match(replay.stderr, /^None of the wished ports could be opened on 127\.0\.0\.1 .*\.\n$/);
});
