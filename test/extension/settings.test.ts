import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  type Configuration,
  DEFAULT_IGNORE,
  LOG_LEVELS,
  MAX_ENTRIES,
  NUMBERS,
  readSettings,
  type Settings,
} from "../../extension/gateway/settings.ts";

const manifest = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"));

/** Settings as the editor gives them: those of the workspace hide those of the person. */
function configuration(workspace: Record<string, unknown>, own: Record<string, unknown> = {}): Configuration {
  return {
    get: (name) => workspace[name] ?? own[name],
    inspect: (name) => ({ globalValue: own[name], workspaceValue: workspace[name] }),
  };
}

function read(configuration: Configuration) {
  return readSettings(configuration, {
    isGlob: (pattern) => !pattern.includes("["),
    isCatalog: (choice) => ["v1", "core", "vscode.lsp.hover"].includes(choice),
  });
}

test("nothing set gives the defaults and no problem", () => {
  const { settings, problems } = read(configuration({}));

  assert.deepEqual(problems, []);
  assert.deepEqual(settings, {
    enabled: true,
    port: 39400,
    portOfWorkspace: false,
    additionalAllowedRoots: [],
    allowedOrigins: [],
    protocolFallback: false,
    maxItemsPerPage: 200,
    maxResponseBytes: 524_288,
    requestTimeoutMs: 2000,
    catalog: ["v1"],
    watchIgnore: [
      "**/.git/**",
      "**/*.log",
      "**/node_modules/.cache/**",
      "**/.cache/clangd/**",
      "**/dist/**",
      "**/out/**",
      "**/build/**",
      "**/target/**",
      "**/__pycache__/**",
    ],
    warmUp: true,
    openTab: false,
    logLevel: "info",
  });
});

for (const [name, below, lowest, above, highest] of [
  ["port", 1023, 1024, 65_536, 65_535],
  ["maxItemsPerPage", 0, 1, 201, 200],
  ["maxResponseBytes", 16_383, 16_384, 524_289, 524_288],
  ["requestTimeoutMs", 99, 100, 2001, 2000],
] as const) {
  test(`${name} is clamped to its bounds, and the message names it`, () => {
    for (const [value, used] of [
      [below, lowest],
      [-1, lowest],
      [above, highest],
      [1e15, highest],
    ]) {
      const { settings, problems } = read(configuration({ [name]: value }));
      assert.equal(settings[name], used);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? "", new RegExp(`^mcpLspGateway\\.${name} is ${value}, so ${used} is used: `));
    }
    for (const value of [lowest, highest]) {
      const { settings, problems } = read(configuration({ [name]: value }));
      assert.equal(settings[name], value);
      assert.deepEqual(problems, []);
    }
  });

  test(`${name} that is no whole number is refused, and the message names it`, () => {
    for (const value of ["200", 1.5, Number.NaN, true, [], {}]) {
      const { settings, problems } = read(configuration({ [name]: value }));
      assert.equal(settings[name], NUMBERS[name].default);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? "", new RegExp(`^mcpLspGateway\\.${name} is not a whole number`));
    }
  });
}

test("an additional root that is no absolute path is refused by its number, without repeating it", () => {
  const { settings, problems } = read(
    configuration({ additionalAllowedRoots: ["/srv/a", "secret/relative", 7, "/srv/b"] }),
  );

  assert.deepEqual(settings.additionalAllowedRoots, [
    { path: "/srv/a", entry: 1, own: false },
    { path: "/srv/b", entry: 4, own: false },
  ]);
  assert.equal(problems.length, 2);
  assert.match(problems[0] ?? "", /^Entry 2 of mcpLspGateway\.additionalAllowedRoots is ignored: /);
  assert.match(problems[1] ?? "", /^Entry 3 of mcpLspGateway\.additionalAllowedRoots is ignored: /);
  assert.doesNotMatch(problems.join(), /secret/);
});

test("an additional root is the person's own if the person's settings name it, whoever else does", () => {
  const { settings } = read(
    configuration({ additionalAllowedRoots: ["/srv/a", "/srv/b"] }, { additionalAllowedRoots: ["/srv/b"] }),
  );

  assert.deepEqual(settings.additionalAllowedRoots, [
    { path: "/srv/a", entry: 1, own: false },
    { path: "/srv/b", entry: 2, own: true },
  ]);
});

test("only origins are accepted as origins, and never all of them", () => {
  const { settings, problems } = read(
    configuration({
      allowedOrigins: [
        "https://Example.com",
        "http://localhost:5173",
        "*",
        "null",
        "https://a.b/path",
        "https://*.b",
        "a.b",
      ],
    }),
  );

  assert.deepEqual(settings.allowedOrigins, ["https://example.com", "http://localhost:5173"]);
  assert.equal(problems.length, 5);
});

test("the catalog is a profile, or a list of profiles and tools", () => {
  assert.deepEqual(read(configuration({ catalog: "core" })).settings.catalog, ["core"]);
  const { settings, problems } = read(configuration({ catalog: ["v1", "vscode.lsp.hover", "vscode.lsp.hovers"] }));

  assert.deepEqual(settings.catalog, ["v1", "vscode.lsp.hover"]);
  assert.deepEqual(problems, [
    "Entry 3 of mcpLspGateway.catalog is ignored: make it v1, core, all or the name of a tool, or remove it.",
  ]);
});

test("what is no glob is not ignored, and is told by its place in the list", () => {
  const { settings, problems } = read(configuration({ "watch.ignore": ["**/x/**", "[", " ", ".git"] }));

  assert.deepEqual(settings.watchIgnore, ["**/x/**", ".git"]);
  assert.deepEqual(problems, [
    "Entry 2 of mcpLspGateway.watch.ignore is ignored: make it a glob pattern such as **/dist/**, or remove it.",
    "Entry 3 of mcpLspGateway.watch.ignore is ignored: make it a glob pattern such as **/dist/**, or remove it.",
  ]);
});

test("a list that is no list, and one that is too long, are told", () => {
  const { settings, problems } = read(
    configuration({ "watch.ignore": "**/x/**", allowedOrigins: Array.from({ length: 101 }, (_, i) => `http://h${i}`) }),
  );

  assert.deepEqual(settings.watchIgnore, DEFAULT_IGNORE);
  assert.equal(settings.allowedOrigins.length, 100);
  assert.equal(problems.length, 2);
});

test("an unknown log level and a switch that is neither on nor off are told, and the gateway stays off", () => {
  const { settings, problems } = read(configuration({ logLevel: "loud", enabled: "yes" }));

  assert.equal(settings.logLevel, "info");
  assert.equal(settings.enabled, false);
  assert.equal(problems.length, 2);
});

test("the switches are on or off as they are set, and off with a message if they are set to something else", () => {
  const switches = ({ protocolFallback, warmUp, openTab }: Settings) => [protocolFallback, warmUp, openTab];
  const set = read(configuration({ protocolFallback: true, warmUp: false, "diagnostics.openTab": true }));
  assert.deepEqual([switches(set.settings), set.problems], [[true, false, true], []]);

  const { settings, problems } = read(
    configuration({ protocolFallback: "yes", warmUp: 1, "diagnostics.openTab": "true" }),
  );
  assert.deepEqual(switches(settings), [false, false, false]);
  assert.match(problems[0] ?? "", /^mcpLspGateway\.protocolFallback is neither true nor false/);
  assert.match(problems[1] ?? "", /^mcpLspGateway\.warmUp is neither true nor false/);
  assert.match(problems[2] ?? "", /^mcpLspGateway\.diagnostics\.openTab is neither true nor false/);
});

test("the manifest declares the same bounds and defaults", () => {
  const declared = manifest.contributes.configuration.properties;

  for (const [name, bounds] of Object.entries(NUMBERS)) {
    const { minimum, maximum, default: fallback } = declared[`mcpLspGateway.${name}`];
    assert.deepEqual({ minimum, maximum, default: fallback }, bounds);
  }
  assert.deepEqual(declared["mcpLspGateway.watch.ignore"].default, DEFAULT_IGNORE);
  assert.deepEqual(declared["mcpLspGateway.logLevel"].enum, LOG_LEVELS);
  for (const name of ["additionalAllowedRoots", "allowedOrigins", "watch.ignore"]) {
    assert.equal(declared[`mcpLspGateway.${name}`].maxItems, MAX_ENTRIES);
  }
});
