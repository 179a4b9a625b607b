import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { URI } from "vscode-uri";
import { PHASE_GAP_MS } from "../../extension/language/work.ts";
import { FakeClient } from "./fake-client.ts";
import { FakeClock, settled } from "./fake-clock.ts";
import { editor } from "./stand-in-vscode.ts";

const { LONGEST_START_MS, Signs } = await import("../../extension/language/signs.ts");

type TextDocument = Parameters<InstanceType<typeof Signs>["sign"]>[0];

const RUST = documentOf("rust");
const CPP = documentOf("cpp");

let clock: FakeClock;
let signs: InstanceType<typeof Signs>;

beforeEach(() => {
  editor.reset();
  clock = new FakeClock();
  signs = new Signs(clock, () => {});
});

function documentOf(languageId: string): TextDocument {
  return { uri: URI.file(`/w/a.${languageId}`), languageId } as unknown as TextDocument;
}

/** An extension that runs and exports this. */
function install(id: string, exports: unknown, languages: readonly string[] = []): void {
  const activationEvents = languages.map((language) => `onLanguage:${language}`);
  const extension = { id, isActive: true, exports, packageJSON: { main: "main.js", activationEvents } };
  editor.installed.push(extension);
}

/** Lets a server work and rest. */
async function load(client: FakeClient): Promise<void> {
  client.begin("a");
  client.end("a");
  await clock.pass(1_000);
}

test("without an extension that shows anything there is no sign", async () => {
  for (const language of ["rust", "cpp", "java", "lua"]) {
    assert.equal(await signs.sign(documentOf(language)), undefined, language);
  }
});

test("rust-analyzer is listened to at the client of the moment", async () => {
  const exports = { client: undefined as FakeClient | undefined };
  install("rust-lang.rust-analyzer", exports);
  assert.equal(await signs.sign(RUST), undefined);
  exports.client = new FakeClient(true);
  assert.equal(await signs.sign(RUST), "loading");
  await load(exports.client);
  assert.equal(await signs.sign(RUST), "ready");
  exports.client.begin("rust-analyzer/flycheck/0");
  assert.equal(await signs.sign(RUST), "ready", "The compiler checks what was saved.");

  // It was started anew by its extension.
  exports.client = new FakeClient(true);
  assert.equal(await signs.sign(RUST), "loading");
  assert.equal(await signs.sign(CPP), undefined);
});

test("clangd is listened to at all of its clients, by either of its interfaces", async () => {
  const [first, second, third] = [new FakeClient(true), new FakeClient(true), new FakeClient(true)];
  const both = (version: number) => {
    assert.equal(version, 2);
    return {
      languageClients: new Map([
        [0, first],
        [1, second],
      ]),
    };
  };
  const one = (version: number) => {
    if (version !== 1) {
      throw new Error("There is no such version.");
    }
    return { languageClient: third };
  };
  for (const [getApi, clients] of [
    [both, [first, second]],
    [one, [third]],
  ] as const) {
    editor.installed.length = 0;
    install("llvm-vs-code-extensions.vscode-clangd", { getApi });
    assert.equal(await signs.sign(CPP), undefined, "It may have no document yet, and then nothing to do.");
    for (const client of clients) {
      assert.notEqual(await signs.sign(CPP), "ready");
      await load(client);
    }
    assert.equal(await signs.sign(CPP), "ready");
    clients[0].begin("b");
    assert.equal(await signs.sign(CPP), "loading");
    clients[0].end("b");
    await clock.pass(PHASE_GAP_MS);
    assert.equal(await signs.sign(CPP), "resting");
  }
});

test("a server that rests is waited for only by those who need more of it", async () => {
  const client = new FakeClient(true);
  install("rust-lang.rust-analyzer", { client });
  client.begin("a");
  const both = Promise.all([signs.ready(RUST, true), signs.ready(RUST, false)]);
  await clock.pass(100);
  client.end("a");
  await clock.pass(2_000);
  assert.deepEqual(await both, ["resting", "shown"]);
});

test("an extension that is being started is waited for, so that all of its work is heard", async () => {
  const client = new FakeClient(false);
  let started = (_: unknown): void => {};
  const activate = () => new Promise((resolve) => (started = resolve));
  const extension = { id: "rust-lang.rust-analyzer", isActive: false, activate, packageJSON: {}, exports: { client } };
  editor.installed.push(extension);
  assert.equal(await signs.sign(RUST), "loading");
  client._features = undefined;
  client.become(true);
  await clock.pass(100);
  client.become(false);
  started(extension.exports);
  await settled();
  client.become(true);
  client.begin("a");
  client.end("a");
  extension.isActive = true;
  await clock.pass(PHASE_GAP_MS);
  assert.equal(await signs.sign(RUST), "resting");
  await clock.pass(1_000);
  assert.equal(await signs.sign(RUST), "ready");
});

test("an extension that never starts shows nothing in the end", async () => {
  const activate = () => new Promise(() => {});
  editor.installed.push(
    Object.assign({ id: "rust-lang.rust-analyzer", isActive: false, packageJSON: {} }, { activate }),
  );
  assert.equal(await signs.sign(RUST), "loading");
  await clock.pass(LONGEST_START_MS - 1);
  assert.equal(await signs.sign(RUST), "loading");
  await clock.pass(1);
  assert.equal(await signs.sign(RUST), undefined);
});

test("Java is loading until its extension says that the server is ready", async () => {
  const java = documentOf("java");
  let becomeReady = (_: boolean): void => {};
  const isReady = new Promise((resolve) => (becomeReady = resolve));
  install("redhat.java", { serverReady: () => isReady });
  const first = signs.sign(java);
  await clock.pass(50);
  assert.equal(await first, "loading");
  becomeReady(true);
  assert.equal(await signs.sign(java), "ready");
});

test("any extension can say for a language that it declares whether it is ready", async () => {
  let answer: unknown = false;
  const asked: unknown[] = [];
  const exports = {
    gateway: {
      ready(document: unknown) {
        assert.equal(this, exports.gateway);
        asked.push(document);
        return answer;
      },
    },
  };
  install("somebody.lua", exports, ["lua"]);
  const lua = documentOf("lua");
  assert.equal(await signs.sign(lua), "loading");
  const waiting = signs.ready(lua, false);
  await clock.pass(300);
  answer = Promise.resolve(true);
  await clock.pass(100);
  assert.equal(await waiting, "shown");
  assert.equal(await signs.sign(documentOf("python")), undefined);
  assert.ok(asked.every((document) => document === lua));
  for (const nothing of [undefined, "yes", Promise.reject(new Error("no")), 1]) {
    answer = nothing;
    assert.equal(await signs.sign(lua), undefined, String(nothing));
  }
});

test("an extension that does not answer at once is loading, and is not asked again meanwhile", async () => {
  let asked = 0;
  const ready = () => {
    asked += 1;
    return new Promise(() => {});
  };
  install("somebody.lua", { gateway: { ready } }, ["lua"]);
  for (let time = 0; time < 3; time++) {
    const sign = signs.sign(documentOf("lua"));
    await clock.pass(50);
    assert.equal(await sign, "loading");
  }
  assert.equal(asked, 1);
});

test("an extension that throws or exports something else shows nothing", async () => {
  const odd = {
    get client() {
      throw new Error("odd");
    },
  };
  for (const exports of [undefined, null, 1, {}, { client: 1 }, { client: {} }, odd, { getApi: 1 }]) {
    editor.installed.length = 0;
    install("rust-lang.rust-analyzer", exports);
    install("llvm-vs-code-extensions.vscode-clangd", exports);
    install("redhat.java", exports);
    for (const document of [RUST, CPP, documentOf("java")]) {
      assert.equal(await signs.sign(document), undefined);
    }
  }
});
