import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  Documents,
  HELD_FOR_MS,
  MAX_HELD,
  NotInStep,
  type TextDocumentLike,
} from "../../extension/language/documents.ts";
import { FakeClock, settled } from "./fake-clock.ts";

class FakeDocument implements TextDocumentLike {
  isClosed = false;
  isDirty = false;
  languageId = "typescript";
  text: string;
  readonly uri: { toString(): string };

  constructor(uri: string, text: string) {
    this.uri = { toString: () => uri };
    this.text = text;
  }

  getText(): string {
    return this.text;
  }
}

/** A promise, and what settles it. */
function holding(): [Promise<void>, () => void] {
  let end = (): void => {};
  const held = new Promise<void>((resolve) => {
    end = resolve;
  });
  return [held, end];
}

/** An editor that opens and closes documents, with events before promises, as VS Code does. */
class FakeEditor {
  readonly disk = new Map<string, string>();
  readonly open = new Map<string, FakeDocument>();
  opens = 0;
  /** How often the editor was asked for a document. */
  requests = 0;
  bumps = 0;
  readonly clock = new FakeClock();
  /** How often a file was read. */
  reads = 0;
  /** How often it was looked whether a file was written. */
  looks = 0;
  readonly shown = new Set<string>();
  /** Each change of a document's language. */
  readonly languages: string[] = [];
  /** What the next look at a file waits for before it tells what it saw. */
  #look: Promise<void> | undefined;
  /** What the next change of a language waits for. */
  #languageChange: Promise<void> | undefined;
  /** What a document's text is when it is opened, if not that of the disk. */
  text: string | undefined;
  /** Whether that is one that nobody has saved. */
  isBackup = false;

  readonly documents = new Documents<FakeDocument>(
    {
      open: async (uri) => {
        this.requests++;
        const known = this.open.get(uri);
        if (known !== undefined) {
          return known;
        }
        await undefined;
        return this.show(uri);
      },
      textOnDisk: async (document) => {
        this.reads++;
        const text = this.disk.get(document.uri.toString());
        if (text === undefined) {
          throw new Error("no such file");
        }
        return text;
      },
      stampOnDisk: async (document) => {
        this.looks++;
        const text = this.disk.get(document.uri.toString());
        const look = this.#look;
        this.#look = undefined;
        await look;
        return text;
      },
      isShown: (document) => this.shown.has(document.uri.toString()),
      setLanguage: async (document, language) => {
        const change = this.#languageChange;
        this.#languageChange = undefined;
        await change;
        if (document.isClosed) {
          throw new Error("no such document");
        }
        document.languageId = language;
        this.languages.push(`${document.uri} ${language}`);
        this.documents.closed(document);
        this.documents.opened(document);
      },
      ...this.clock,
    },
    () => {
      this.bumps++;
    },
  );

  /** Has the next look at a file end only when what this returns is called. */
  holdLook(): () => void {
    const [held, end] = holding();
    this.#look = held;
    return end;
  }

  /** As `holdLook`, for the next change of a document's language. */
  holdLanguage(): () => void {
    const [held, end] = holding();
    this.#languageChange = held;
    return end;
  }

  /** Somebody opens the document. */
  show(uri: string): FakeDocument {
    const text = this.disk.get(uri);
    if (text === undefined) {
      throw new Error("no such file");
    }
    const document = new FakeDocument(uri, this.text ?? text);
    document.isDirty = this.isBackup;
    this.open.set(uri, document);
    this.opens++;
    this.documents.opened(document);
    return document;
  }

  close(uri: string): void {
    const document = this.open.get(uri);
    assert(document);
    this.open.delete(uri);
    document.isClosed = true;
    this.documents.closed(document);
  }

  /** The editor gives an open document another text. */
  change(uri: string, text: string): void {
    const document = this.open.get(uri);
    assert(document);
    document.text = text;
    this.documents.changed(document);
  }

  ask(uri: string): Promise<string> {
    return this.documents.use(uri, async (document) => document.getText());
  }
}

const A = "file:///w/a.ts";
let editor: FakeEditor;

beforeEach(() => {
  editor = new FakeEditor();
  editor.disk.set(A, "one\ntwo\n");
});

test("an open by somebody counts, and so does its close", () => {
  editor.show(A);
  assert.equal(editor.bumps, 1);
  editor.close(A);
  assert.equal(editor.bumps, 2);
});

test("an open by the gateway does not count, and neither does its close", async () => {
  assert.equal(await editor.ask(A), "one\ntwo\n");
  assert.equal(await editor.ask(A), "one\ntwo\n");
  assert.equal(editor.opens, 1);
  editor.clock.time += HELD_FOR_MS;
  editor.close(A);
  await settled();
  assert.equal(editor.bumps, 0);
});

test("a document that is open is not asked for again, and looked at only where its text matters", async () => {
  await editor.ask(A);
  const looks = editor.looks;
  assert.equal(await editor.documents.useAsItIs(A, (document) => document.getText()), "one\ntwo\n");
  assert.equal(editor.looks, looks);
  assert.equal(await editor.ask(A), "one\ntwo\n");
  assert.equal(editor.looks, looks + 1);
  assert.equal(editor.requests, 1);
});

test("a document that was closed is asked for again, and so is one whose close is not known yet", async () => {
  await editor.ask(A);
  editor.clock.time += HELD_FOR_MS;
  editor.close(A);
  assert.equal(await editor.ask(A), "one\ntwo\n");
  assert.equal(editor.requests, 2);
  const document = editor.open.get(A);
  assert(document);
  document.isClosed = true;
  editor.open.delete(A);
  editor.disk.set(A, "three\n");
  assert.equal(await editor.ask(A), "three\n");
  assert.equal(editor.requests, 3);
});

test("an open by the gateway counts if the text differs from the disk, before the question is answered", async () => {
  editor.text = "one\ntwo and a half\n";
  editor.isBackup = true;
  const bumps = await editor.documents.useInStep(A, () => editor.bumps);
  assert.equal(bumps, 1);
  editor.clock.time += HELD_FOR_MS;
  editor.close(A);
  assert.equal(editor.bumps, 2);
});

test("an open and a close by the gateway count if the document is dirty, whatever its text", async () => {
  editor.isBackup = true;
  assert.equal(await editor.documents.use(A, async () => editor.bumps), 1);

  editor = new FakeEditor();
  editor.disk.set(A, "one\ntwo\n");
  await editor.ask(A);
  const document = editor.open.get(A);
  assert(document);
  document.isDirty = true;
  editor.clock.time += HELD_FOR_MS;
  editor.close(A);
  await settled();
  assert.equal(editor.bumps, 1);
});

test("a byte order mark and other line endings are no difference", async () => {
  editor.disk.set(A, "\uFEFFone\r\ntwo\n\rthree");
  editor.text = "one\r\ntwo\r\n\r\nthree";
  await editor.ask(A);
  assert.equal(editor.bumps, 0);
});

test("a close by the gateway counts if the text has come to differ from the disk", async () => {
  await editor.ask(A);
  const document = editor.open.get(A);
  assert(document);
  document.text = "something else";
  editor.clock.time += HELD_FOR_MS;
  editor.close(A);
  await settled();
  assert.equal(editor.bumps, 1);
});

test("an open by somebody while the gateway asks about another document counts", async () => {
  editor.disk.set("file:///w/b.ts", "b");
  await editor.documents.use(A, async () => editor.show("file:///w/b.ts"));
  assert.equal(editor.bumps, 1);
});

test("an open by somebody after the gateway's question counts", async () => {
  await editor.ask(A);
  editor.clock.time += HELD_FOR_MS;
  editor.close(A);
  editor.show(A);
  await settled();
  assert.equal(editor.bumps, 1);
});

test("a document in use is opened again when the editor lets go of it, without a count", async () => {
  await editor.ask(A);
  editor.clock.time += 180_000;
  editor.close(A);
  await settled();
  assert.equal(editor.open.has(A), true);
  assert.equal(editor.opens, 2);
  assert.equal(editor.bumps, 0);
});

test("a document of somebody that is in use is opened again when they close it, and their close counts", async () => {
  editor.show(A);
  await editor.ask(A);
  editor.close(A);
  await settled();
  assert.equal(editor.open.has(A), true);
  assert.equal(editor.bumps, 2);
});

test("a document that was pushed out by others is not fought for", async () => {
  await editor.ask(A);
  editor.clock.time += 5_000;
  editor.close(A);
  await settled();
  assert.equal(editor.open.has(A), false);
});

test("ten minutes after its last use a document is let go", async () => {
  await editor.ask(A);
  editor.clock.time += 180_000;
  editor.close(A);
  await settled();
  editor.clock.time += HELD_FOR_MS - 180_000;
  editor.close(A);
  await settled();
  assert.equal(editor.open.has(A), false);
});

test("the documents asked about last are held, and no more than the limit", async () => {
  const uris = Array.from({ length: MAX_HELD + 1 }, (_, index) => `file:///w/${index}.ts`);
  for (const uri of uris) {
    editor.disk.set(uri, uri);
    await editor.ask(uri);
  }
  editor.clock.time += 180_000;
  for (const uri of uris) {
    editor.close(uri);
  }
  await settled();
  assert.deepEqual([...editor.open.keys()], uris.slice(1));
});

test("a document that can no longer be opened is given up", async () => {
  await editor.ask(A);
  editor.disk.delete(A);
  editor.clock.time += 180_000;
  editor.close(A);
  await settled();
  await assert.rejects(editor.ask(A));
});

test("a change of language counts, on a held document too", async () => {
  await editor.ask(A);
  const document = editor.open.get(A);
  assert(document);
  editor.documents.closed(document);
  editor.documents.opened(document);
  assert.equal(editor.bumps, 2);
});

test("a document that another program has written is asked about only once the editor has its new text", async () => {
  await editor.ask(A);
  editor.disk.set(A, "three\n");
  let answer: string | undefined;
  const asked = editor.ask(A).then((text) => {
    answer = text;
  });
  await editor.clock.pass(5_000);
  assert.equal(answer, undefined);

  editor.change(A, "half of thr");
  await settled();
  assert.equal(answer, undefined, "A change that leads elsewhere is not the one.");
  editor.change(A, "three\n");
  await asked;
  assert.equal(answer, "three\n");
  assert.equal(editor.clock.timers, 0);
});

test("a document that somebody opened before the file was written is waited for as well", async () => {
  editor.show(A);
  editor.disk.set(A, "three\n");
  const asked = editor.ask(A);
  await settled();
  editor.change(A, "three\n");
  assert.equal(await asked, "three\n");
});

test("a change that comes while the file is being read is not missed", async () => {
  await editor.ask(A);
  editor.disk.set(A, "three\n");
  const asked = editor.ask(A);
  editor.change(A, "three\n");
  assert.equal(await asked, "three\n");
});

test("a question that may be put twice does not wait for the look at the disk, and counts only after it", async () => {
  await editor.ask(A);
  const endLook = editor.holdLook();
  const seen: string[] = [];
  const answered = editor.documents.use(A, async (document) => seen.push(document.getText()));
  let isAnswered = false;
  answered.then(() => {
    isAnswered = true;
  });
  await settled();
  assert.deepEqual(seen, ["one\ntwo\n"]);
  assert.equal(isAnswered, false);

  endLook();
  assert.equal(await answered, 1, "It was put once.");
});

test("a question that must not be put twice waits for the new text", async () => {
  await editor.ask(A);
  editor.disk.set(A, "three\n");
  const seen: string[] = [];
  const answered = editor.documents.useInStep(A, (document) => seen.push(document.getText()));
  await settled();
  assert.deepEqual(seen, []);
  editor.change(A, "three\n");
  assert.equal(await answered, 1);
  assert.deepEqual(seen, ["three\n"]);
});

test("what was asked about an old text does not count, even if somebody has seen the new one before the look ends", async () => {
  await editor.ask(A);
  editor.disk.set(A, "three\n");
  const endLook = editor.holdLook();
  const early = editor.ask(A);
  await settled();
  editor.change(A, "three\n");
  assert.equal(await editor.ask(A), "three\n");
  endLook();
  assert.equal(await early, "three\n");
});

test("a question that fails about an old text is put again about the new one", async () => {
  await editor.ask(A);
  editor.disk.set(A, "three\n");
  const answered = editor.documents.use(A, async (document) => {
    if (document.getText() !== "three\n") {
      throw new Error("there is no such place in the old text");
    }
    return "found";
  });
  await settled();
  editor.change(A, "three\n");
  assert.equal(await answered, "found");
});

test("after 10 s without the new text the question fails, and says why", async () => {
  await editor.ask(A);
  editor.disk.set(A, "three\n");
  const asked = assert.rejects(editor.ask(A), NotInStep);
  await editor.clock.pass(10_000);
  await asked;
});

test("a document with changes that nobody has saved is not waited for, nor one in which somebody begins to type", async () => {
  const document = editor.show(A);
  document.isDirty = true;
  document.text = "typed";
  assert.equal(await editor.ask(A), "typed");

  document.isDirty = false;
  const asked = editor.ask(A);
  await settled();
  document.isDirty = true;
  editor.change(A, "typed more");
  assert.equal(await asked, "typed more");
});

test("a document whose file is gone is not waited for", async () => {
  await editor.ask(A);
  editor.disk.delete(A);
  assert.equal(await editor.ask(A), "one\ntwo\n");
});

test("a file that nobody has written since is not read again", async () => {
  await editor.ask(A);
  const { reads } = editor;
  await editor.ask(A);
  assert.equal(editor.reads, reads);
});

test("the document of a file that is gone is closed for language servers, until it is used again or shown", async () => {
  await editor.ask(A);
  editor.disk.delete(A);
  await editor.documents.gone("file:///w");
  assert.deepEqual(editor.languages, [`${A} plaintext`]);

  editor.disk.set(A, "three\n");
  editor.change(A, "three\n");
  const language = await editor.documents.use(A, async ({ languageId }) => languageId);
  assert.equal(language, "typescript");

  editor.disk.delete(A);
  // It is shown before it is set aside.
  await Promise.all([editor.documents.gone(A), editor.documents.shown(A)]);
  await editor.documents.shown(A);
  assert.deepEqual(editor.languages.slice(1), [`${A} typescript`, `${A} plaintext`, `${A} typescript`]);
});

test("a document whose file is told to be gone twice at once gets its language back", async () => {
  await editor.ask(A);
  editor.disk.delete(A);
  const look = editor.holdLook();
  const first = editor.documents.gone("file:///w");
  await editor.documents.gone(A);
  look();
  await first;

  editor.disk.set(A, "three\n");
  editor.change(A, "three\n");
  assert.equal(await editor.documents.use(A, async ({ languageId }) => languageId), "typescript");
});

test("a document that is used while it is being set aside has its language afterwards", async () => {
  await editor.ask(A);
  editor.disk.delete(A);
  const setAside = editor.holdLanguage();
  const gone = editor.documents.gone(A);
  await settled();
  editor.disk.set(A, "three\n");
  editor.change(A, "three\n");
  const used = editor.documents.use(A, async ({ languageId }) => languageId);
  await settled();
  setAside();
  await gone;
  assert.equal(await used, "typescript");
  assert.equal(editor.open.get(A)?.languageId, "typescript");
});

test("a document that somebody sees, has changed or never asked about stays as it is when its file is gone", async () => {
  const others = ["file:///w/shown.ts", "file:///w/dirty.ts", "file:///w/there.ts", "file:///w/a.ts2"];
  for (const uri of others) {
    editor.disk.set(uri, "");
    await editor.ask(uri);
  }
  const [shown = "", dirty = "", there = ""] = others;
  editor.shown.add(shown);
  Object.assign(editor.open.get(dirty) ?? {}, { isDirty: true });
  editor.show(A);
  for (const uri of [A, shown, dirty]) {
    editor.disk.delete(uri);
    await editor.documents.gone(uri);
  }
  await editor.documents.gone(there);
  assert.deepEqual(editor.languages, []);
});

test("a document that the editor closes while it is set aside can be used again", async () => {
  await editor.ask(A);
  editor.disk.delete(A);
  const gone = editor.documents.gone(A);
  await Promise.resolve();
  editor.clock.time += HELD_FOR_MS;
  editor.close(A);
  await gone;
  editor.disk.set(A, "three\n");
  assert.equal(await editor.ask(A), "three\n");
  assert.deepEqual(editor.languages, []);
});
