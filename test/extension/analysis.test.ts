import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  Analysis,
  LANGUAGE_QUIET_MS,
  LONGEST_QUIET_MS,
  NO_SIGN_MS,
  UNEXPECTED_MS,
} from "../../extension/language/analysis.ts";
import { FakeClock } from "./fake-clock.ts";

const A = "file:///w/a.c";
const B = "file:///w/b.c";
const OTHER = "file:///w/other.c";

let clock: FakeClock;
let analysis: Analysis;

beforeEach(() => {
  clock = new FakeClock();
  analysis = new Analysis(clock);
});

/** When the promise settled and to what, in time that has passed by then; undefined while it has not. */
function watch<T>(promise: Promise<T>): { settled?: { readonly at: number; readonly value: T } } {
  const watched: { settled?: { readonly at: number; readonly value: T } } = {};
  void promise.then((value) => {
    watched.settled = { at: clock.time, value };
  });
  return watched;
}

/** Something is published for a document that is in no tab. */
function published(uri: string): void {
  analysis.published(uri, () => false);
}

/** Lets the language be settled, at 1,000 ms. */
async function settleLanguage(): Promise<void> {
  analysis.opened(OTHER, "c");
  published(OTHER);
  await clock.pass(LANGUAGE_QUIET_MS);
}

/** As for a document in no tab, of whose language something may be expected. */
function settled(uri: string): Promise<void> {
  return analysis.documentSettled(uri, false, undefined, NO_SIGN_MS);
}

test("the times are those of the design", () => {
  assert.deepEqual([LANGUAGE_QUIET_MS, LONGEST_QUIET_MS], [1_000, 5_000]);
  assert.deepEqual([NO_SIGN_MS, UNEXPECTED_MS], [20_000, 1_500]);
});

test("a document is settled once its diagnostics were published after it was opened, and then not for a while", async () => {
  await settleLanguage();
  published(A);
  analysis.opened(A, "c");
  const document = watch(settled(A));

  await clock.pass(5_000);
  published(A);
  await clock.pass(200);
  published(A);
  await clock.pass(NO_SIGN_MS);
  assert.deepEqual(document.settled, { at: 7_200, value: undefined });
  assert.equal(clock.timers, 0);
});

test("a document that is settled is so at once, until it changes", async () => {
  await settleLanguage();
  analysis.opened(A, "c");
  published(A);
  await clock.pass(1_000);
  await settled(A);
  published(OTHER);
  await settled(A);

  analysis.changed(A);
  const document = watch(settled(A));
  await clock.pass(1_000);
  assert.equal(document.settled, undefined);
  published(A);
  await clock.pass(1_000);
  assert.deepEqual(document.settled, { at: 4_000, value: undefined });
});

test("a change while somebody waits puts off what was published before it", async () => {
  analysis.opened(A, "c");
  published(A);
  const document = watch(settled(A));
  await clock.pass(100);
  analysis.changed(A);
  await clock.pass(NO_SIGN_MS - 1);
  assert.equal(document.settled, undefined);
  await clock.pass(1);
  assert.deepEqual(document.settled, { at: 100 + NO_SIGN_MS, value: undefined });
});

test("what is published for a document counts once its language has rested", async () => {
  const nothing = Promise.resolve();
  const lasting = (milliseconds: number) => new Promise<void>((resolve) => clock.after(milliseconds, resolve));
  const cases: [name: string, meanwhile: () => void, settledAt: number][] = [
    ["nothing", () => {}, 1_000],
    ["another document is reported on", () => clock.after(800, () => published(OTHER)), 1_800],
    ["a document of another language is reported on", () => clock.after(800, () => published("file:///w/a.py")), 1_000],
    ["a question is asked", () => clock.after(700, () => void analysis.during("c", () => nothing)), 1_700],
    ["a question takes long", () => void analysis.during("c", () => lasting(3_000)), 4_000],
    ["a question about all languages", () => void analysis.during(undefined, () => lasting(3_000)), 4_000],
    ["a question about another language", () => void analysis.during("python", () => lasting(3_000)), 1_000],
    ["a question takes too long", () => void analysis.during("c", () => lasting(30_000)), 5_000],
  ];
  for (const [name, meanwhile, settledAt] of cases) {
    clock = new FakeClock();
    analysis = new Analysis(clock);
    await settleLanguage();
    analysis.opened("file:///w/a.py", "python");
    analysis.opened(A, "c");
    published(A);
    const document = watch(settled(A));
    meanwhile();
    await clock.pass(20_000);
    assert.deepEqual(document.settled?.at, 1_000 + settledAt, name);
  }
});

test("a question that lasted is no rest, and one that failed is over", async () => {
  await settleLanguage();
  analysis.opened(A, "c");
  published(A);
  const failed = analysis.during("c", async () => {
    await new Promise<void>((resolve) => clock.after(3_000, resolve));
    throw new Error("The server is gone.");
  });
  await Promise.all([assert.rejects(failed), clock.pass(3_000)]);
  const document = watch(settled(A));
  await clock.pass(20_000);
  assert.deepEqual(document.settled, { at: 5_000, value: undefined });
});

test("what is published for a document while its language starts counts once that is settled", async () => {
  analysis.opened(A, "c");
  await clock.pass(2_000);
  const document = watch(settled(A));
  published(A);
  await clock.pass(1_500);
  assert.equal(document.settled, undefined, "The first sign came after 2 s, so that much must pass without another.");
  published(B);
  published(A);
  await clock.pass(10_000);
  assert.deepEqual(document.settled, { at: 5_500, value: undefined });
});

test("a document of a language whose diagnostics never come to rest is believed 20 s after the language's first", async () => {
  analysis.opened(OTHER, "c");
  analysis.opened(A, "c");
  published(A);
  const document = watch(settled(A));
  for (let time = 0; time < 25_000; time += 500) {
    published(OTHER);
    await clock.pass(500);
  }
  assert.deepEqual(document.settled, { at: 20_000, value: undefined });
});

test("a document for which nobody publishes is settled 20 s after it was opened, whenever that is asked", async () => {
  analysis.opened(A, "c");
  await clock.pass(15_000);
  const document = watch(settled(A));
  const unknown = watch(settled("file:///w/never-opened.c"));
  await clock.pass(30_000);
  assert.deepEqual(document.settled, { at: 20_000, value: undefined });
  assert.deepEqual(unknown.settled, { at: 35_000, value: undefined });
});

test("what was published and taken back is no sign", async () => {
  analysis.opened(A, "c");
  published(A);
  const document = watch(settled(A));
  analysis.withdrawn(A);
  await clock.pass(30_000);
  assert.deepEqual(document.settled, { at: 20_000, value: undefined });
});

test("a document that is shown gets its time anew, unless somebody has reported on it", async () => {
  await settleLanguage();
  analysis.opened(A, "c");
  await clock.pass(30_000);
  analysis.shown(A);
  const document = watch(settled(A));
  await clock.pass(1_000);
  assert.equal(document.settled, undefined);
  published(A);
  await clock.pass(1_000);
  assert.deepEqual(document.settled, { at: 33_000, value: undefined });

  analysis.shown(A);
  await settled(A);
});

test("a report that nothing leads to expect is not waited for as long as one that may come", async () => {
  const cases: [isShown: boolean, before: () => void, settledAt: number][] = [
    [false, () => {}, 1_500],
    [true, () => {}, 1_500],
    // A language that reports on what is in a tab is expected to do so again, and on nothing else.
    [true, () => analysis.published(B, () => true), 20_000],
    [false, () => analysis.published(B, () => true), 1_500],
    [false, () => analysis.published(B, () => false), 20_000],
    // Who has reported on the document will report on it again.
    [false, () => changedAfterReport(), 20_000],
  ];
  for (const [isShown, before, settledAt] of cases) {
    clock = new FakeClock();
    analysis = new Analysis(clock);
    analysis.opened(B, "c");
    analysis.opened(A, "c");
    before();
    await clock.pass(LANGUAGE_QUIET_MS);
    analysis.changed(A);
    const document = watch(analysis.documentSettled(A, isShown));
    await clock.pass(30_000);
    assert.deepEqual(document.settled, { at: LANGUAGE_QUIET_MS + settledAt, value: undefined }, String(before));
  }

  function changedAfterReport(): void {
    analysis.published(A, () => true);
  }
});

test("documents are told apart, and nothing is remembered of one that was closed", async () => {
  analysis.opened(A, "c");
  analysis.opened(B, "c");
  published(B);
  const document = watch(settled(A));
  await clock.pass(1_000);
  assert.equal(document.settled, undefined);

  analysis.closed(B);
  published(B);
  analysis.opened(B, "c");
  const reopened = watch(settled(B));
  await clock.pass(1_000);
  assert.equal(reopened.settled, undefined);
});

test("a language is settled once something was published for one of its documents, and then nothing for a while", async () => {
  analysis.opened(A, "c");
  analysis.opened("file:///w/a.py", "python");
  const language = watch(analysis.languageSettled("c"));
  await clock.pass(2_000);
  published("file:///w/a.py");
  await clock.pass(1_000);
  published(A);
  await clock.pass(900);
  analysis.opened(B, "c");
  published(B);
  await clock.pass(10_000);
  // 3 s, since that is how long the first sign took.
  assert.deepEqual(language.settled, { at: 6_900, value: true });
});

test("the signs of a language that was quick to give the first have to rest for 1 s, of a slow one for 5 s", async () => {
  for (const [first, rest] of [
    [10, 1_000],
    [1_700, 1_700],
    [12_000, 5_000],
  ] as const) {
    clock = new FakeClock();
    analysis = new Analysis(clock);
    analysis.opened(A, "c");
    await clock.pass(first);
    published(A);
    const language = watch(analysis.languageSettled("c"));
    await clock.pass(20_000);
    assert.deepEqual(language.settled, { at: first + rest, value: true });
  }
});

test("a language that was settled once stays so, whatever is published then", async () => {
  analysis.opened(A, "c");
  published(A);
  await clock.pass(1_000);
  published(A);
  analysis.closed(A);
  await clock.pass(30_000);
  assert.equal(await analysis.languageSettled("c"), true);
});

test("a language without a sign is believed 20 s after its first document, and anew when extensions have changed", async () => {
  analysis.opened(A, "c");
  await clock.pass(5_000);
  analysis.opened(B, "c");
  const language = watch(analysis.languageSettled("c"));
  await clock.pass(30_000);
  assert.deepEqual(language.settled, { at: 20_000, value: false });

  analysis.extensionsChanged();
  const again = watch(analysis.languageSettled("c"));
  await clock.pass(30_000);
  assert.deepEqual(again.settled, { at: 55_000, value: false });
});

test("a language whose diagnostics never come to rest is believed after 20 s", async () => {
  analysis.opened(A, "c");
  const language = watch(analysis.languageSettled("c"));
  for (let time = 0; time < 25_000; time += 500) {
    published(A);
    await clock.pass(500);
  }
  assert.deepEqual(language.settled, { at: 20_000, value: false });
  assert.equal(clock.timers, 0);
});

test("what was published before something was written counts once nothing has come of that for a while", async () => {
  type Publish = readonly [at: number, uri: string];
  const cases: [knownFor: number | undefined, publish: Publish[], document: number, all: number][] = [
    [undefined, [], 0, 0],
    [60_000, [], 0, 0],
    [300, [], 1_700, 700],
    [0, [], 2_000, 1_000],
    // What is published for another says nothing of this one, but that the server is late.
    [0, [[400, B]], 2_000, 1_400],
    [0, [[900, B]], 2_000, 2_250],
    [
      0,
      [
        [900, B],
        [1_900, B],
      ],
      2_900,
      4_750,
    ],
    // What is published at once may be about the files before.
    [0, [[50, A]], 1_250, 1_050],
    [0, [[400, A]], 1_400, 1_400],
    // What came shortly before servers were sure to know may be about it, too.
    [-200, [[0, A]], 1_600, 1_200],
    // The later it is, the more may come after it.
    [0, [[900, A]], 1_900, 2_250],
    [0, [[1_500, A]], 2_625, 1_000],
    // What goes on for ever has another reason.
    [0, Array.from({ length: 20 }, (_, index): Publish => [500 * index, B]), 5_000, 5_000],
  ];
  for (const [knownFor, publish, ...expected] of cases) {
    clock = new FakeClock();
    analysis = new Analysis(clock);
    await settleLanguage();
    for (const uri of [A, B]) {
      analysis.opened(uri, "c");
      published(uri);
    }
    await clock.pass(60_000);
    const asked = clock.time;
    const watched = [analysis.documentSettled(A, false, knownFor), analysis.allSettled(knownFor)].map(watch);
    for (const [at, uri] of publish) {
      await clock.pass(asked + at - clock.time);
      published(uri);
    }
    await clock.pass(30_000);
    assert.deepEqual(
      watched.map(({ settled }) => (settled?.at ?? 0) - asked),
      expected,
      JSON.stringify([knownFor, publish]),
    );
  }
});

test("a text that was changed in the editor counts as something that was written, for its language", async () => {
  await settleLanguage();
  analysis.opened("file:///w/a.py", "python");
  for (const uri of [A, B, "file:///w/a.py"]) {
    analysis.opened(uri, uri.endsWith("py") ? "python" : "c");
    published(uri);
  }
  await clock.pass(60_000);
  const asked = clock.time;
  analysis.changed(B);
  const watched = [A, "file:///w/a.py"].map((uri) => watch(analysis.documentSettled(uri, false)));
  await clock.pass(30_000);
  assert.deepEqual(
    watched.map(({ settled }) => (settled?.at ?? 0) - asked),
    [2_000, 0],
  );
});
