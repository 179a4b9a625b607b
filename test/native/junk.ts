// What can come back instead of an answer, by a name for each, and what can be done to the addon instead of answering it.

import {
  packDiagnostics,
  packDocumentSymbols,
  packHovers,
  packLocations,
  packWorkspaceSymbols,
} from "../../extension/boundary/rows.ts";
import type * as Native from "../../extension/native.d.ts";
import type { Answer } from "../../extension/native.d.ts";

const uri = "file:///x";
const position = { line: 0, character: 0 };
const range = { start: position, end: position };

function rows(...cells: number[]): Answer {
  return { outcome: 0, text: uri, cells: new Uint32Array(cells) };
}

function one(): Answer {
  return rows(1, uri.length, 0, 0, 0, 0, 0);
}

/** What no async function returns, and answers as well as one. */
export const ANSWERS: Readonly<Record<string, () => unknown>> = {
  "returns no promise": one,
  "returns something that is only like a promise": () => thenable((resolve) => resolve(one())),
  "returns something like a promise that resolves twice": () =>
    thenable((resolve) => {
      resolve(one());
      resolve(rows(0));
    }),
};

/** Every one of these has to end in the same error as a provider that fails. */
export const JUNK: Readonly<Record<string, () => unknown>> = {
  "throws before it returns a promise": () => {
    throw new Error("thrown");
  },
  "throws a text": () => {
    throw "thrown";
  },
  "throws a symbol": () => {
    throw Symbol("thrown");
  },
  "throws nothing": () => {
    throw undefined;
  },
  "rejects with an error": async () => {
    throw new Error("rejected");
  },
  "rejects with a text": () => Promise.reject("rejected"),
  "rejects with a symbol": () => Promise.reject(Symbol("rejected")),
  "rejects with nothing": () => Promise.reject(),
  "rejects with an object that cannot be looked at": () => Promise.reject(unreadable()),
  "returns nothing": () => undefined,
  "returns something like a promise that throws": () =>
    thenable(() => {
      throw Symbol("thrown");
    }),
  "returns something like a promise that rejects twice": () =>
    thenable((_, reject) => {
      reject(unreadable());
      reject(undefined);
    }),
  "returns something that cannot even be asked if it is a promise": () => ({
    // biome-ignore lint/suspicious/noThenProperty: whatever is awaited is asked for it.
    get then() {
      throw unreadable();
    },
  }),
  "answers an object that throws what cannot be looked at": async () => ({
    get outcome() {
      throw unreadable();
    },
  }),
  "answers nothing": async () => undefined,
  "answers null": async () => null,
  "answers a number": async () => 7,
  "answers a list": async () => [],
  "answers an empty object": async () => ({}),
  "answers an object that cannot be looked at": async () => unreadable(),
  "has a text as its outcome": async () => ({ ...rows(0), outcome: "0" }),
  "has an unknown outcome": async () => ({ ...rows(0), outcome: 3 }),
  "has a negative outcome": async () => ({ ...rows(0), outcome: -1 }),
  "has no text": async () => ({ outcome: 0, cells: new Uint32Array(1) }),
  "has a number as its text": async () => ({ ...rows(0), text: 5 }),
  "has no cells": async () => ({ outcome: 0, text: "" }),
  "has a plain list as its cells": async () => ({ outcome: 0, text: "", cells: [0] }),
  "has bytes as its cells": async () => ({ outcome: 0, text: "", cells: new Uint8Array(4) }),
  "has cells of which nothing is left": async () => {
    const memory = new ArrayBuffer(8);
    const answer = { ...rows(), cells: new Uint32Array(memory) };
    structuredClone(memory, { transfer: [memory] });
    return answer;
  },
  "counts more strings than there are": async () => rows(2, uri.length),
  "counts absurdly many strings": async () => rows(0xffff_ffff, uri.length),
  "has strings longer than its text": async () => rows(1, uri.length + 1),
  "has text that belongs to no string": async () => rows(1, uri.length - 1),
  "has a row that is cut off": async () => rows(1, uri.length, 0, 0, 0, 0),
  "names a string that is not there": async () => rows(1, uri.length, 1, 0, 0, 0, 0),
  "has a coordinate that is too large": async () => rows(1, uri.length, 0, 0, 0, 0, 0x8000_0000),
  "packs no list": async () => packLocations({ uri, range }),
  "packs a list with a hole": async () => packLocations(new Array(1)),
  "packs an item without a URI": async () => packLocations([{ range }]),
};

const NONE = [0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff] as const;
const ABSENT = 0xffff_ffff;
const symbol = { name: "n", kind: 4, range };

/** What only the rows of one kind can have wrong, by the tool whose question they answer. */
export const JUNK_BY_TOOL: Readonly<Record<string, typeof JUNK>> = {
  "vscode.lsp.hover": {
    "has a fragment without a value": async () => rows(1, uri.length, ...NONE, ABSENT, ABSENT),
    "has a fragment in a language that is not there": async () => rows(1, uri.length, ...NONE, 1, 0),
    "has half a range": async () => rows(1, uri.length, 0, 0, ABSENT, ABSENT, ABSENT, 0),
    "packs a hover that is none": async () => packHovers([undefined]),
    "packs a hover with a negative line": async () =>
      packHovers([{ contents: ["a"], range: { start: { line: -1, character: 0 }, end: position } }]),
  },
  "vscode.lsp.documentSymbols": {
    "has a symbol inside itself": async () => rows(1, uri.length, 0, 4, 0, 0, 0, 0, ...NONE, ABSENT, 0),
    "has a symbol inside one that comes later": async () => {
      const row = [0, 4, 0, 0, 0, 0, ...NONE, ABSENT];
      return rows(1, uri.length, ...row, 1, ...row, ABSENT);
    },
    "has a symbol without a range": async () => rows(1, uri.length, 0, 4, ...NONE, ...NONE, ABSENT, ABSENT),
    "has a document symbol of an unknown kind": async () =>
      rows(1, uri.length, 0, 26, 0, 0, 0, 0, ...NONE, ABSENT, ABSENT),
    "packs a child without a range": async () =>
      packDocumentSymbols([{ ...symbol, children: [{ name: "n", kind: 4 }] }]),
    "packs children that are no list": async () => packDocumentSymbols([{ ...symbol, children: {} }]),
  },
  "vscode.lsp.workspaceSymbols": {
    "has a symbol without a URI": async () => rows(1, uri.length, 0, 4, ABSENT, ABSENT, ...NONE),
    "has a workspace symbol of an unknown kind": async () => rows(1, uri.length, 0, 26, ABSENT, 0, 0, 0, 0, 0),
    "has a workspace symbol of no kind": async () => rows(1, uri.length, 0, ABSENT, ABSENT, 0, 0, 0, 0, 0),
    "packs a symbol that is nowhere": async () => packWorkspaceSymbols([symbol]),
  },
  "vscode.lsp.diagnostics.document": {
    "has a diagnostic without a message": async () => rows(1, uri.length, 0, 0, 0, 0, 0, 0, 0, 0, ABSENT),
    "has a diagnostic with half a range": async () => rows(1, uri.length, 0, 0, 0, ABSENT, ABSENT, 0, 0, 0, 0),
    "has an unknown severity": async () => rows(1, uri.length, 0, 0, 0, 0, 0, 4, 0, 0, 0),
    "packs diagnostics of nobody": async () => packDiagnostics([[{ message: "m", range }]]),
  },
};

/** What a callback does that does not leave the answering to `carryQuestions`. */
type Callback = (id: number, native: Pick<typeof Native, "answerQuestion" | "failQuestion">) => void;

/** Every one of these has to end in the same error as a provider that fails. */
export const FAULTY_CALLBACKS: Readonly<Record<string, Callback>> = {
  "throws an error from the callback": () => {
    throw new Error("thrown");
  },
  "throws a text from the callback": () => {
    throw "thrown";
  },
  "throws a symbol from the callback": () => {
    throw Symbol("thrown");
  },
  "throws nothing from the callback": () => {
    throw undefined;
  },
  "throws from the callback what cannot be looked at": () => {
    throw unreadable();
  },
  "leaves what a malformed answer throws alone": (id, { answerQuestion }) => answerQuestion(id, {} as Answer),
  "fails, and answers then": (id, { answerQuestion, failQuestion }) => {
    failQuestion(id, "failed");
    answerQuestion(id, one());
  },
  "fails for no reason, and for a text that is none": (id, { failQuestion }) => {
    for (const reason of [undefined, Symbol("reason"), unreadable(), "\ud800"]) {
      try {
        failQuestion(id, reason as never);
      } catch {
        // Only a text is a reason.
      }
    }
  },
};

/** Every one of these has to answer its question. */
export const ODD_CALLBACKS: Readonly<Record<string, Callback>> = {
  "answers twice": (id, { answerQuestion }) => {
    answerQuestion(id, one());
    answerQuestion(id, rows(0));
  },
  "answers, and fails then": (id, { answerQuestion, failQuestion }) => {
    answerQuestion(id, one());
    failQuestion(id, "failed");
  },
  "answers, and throws then": (id, { answerQuestion }) => {
    answerQuestion(id, one());
    throw new Error("thrown");
  },
  "answers questions that were never asked": (id, { answerQuestion, failQuestion }) => {
    for (const other of [id + 1_000_000, 0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER]) {
      answerQuestion(other, rows(0));
      failQuestion(other, "failed");
    }
    answerQuestion(id, one());
  },
  "answers by an id that is no number, and then rightly": (id, { answerQuestion, failQuestion }) => {
    for (const other of [undefined, null, String(id), BigInt(id), unreadable()]) {
      for (const call of [() => answerQuestion(other as never, rows(0)), () => failQuestion(other as never, "no")]) {
        try {
          call();
        } catch {
          // Only a number is an id.
        }
      }
    }
    answerQuestion(id, one());
  },
  "answers with something malformed, and then rightly": (id, { answerQuestion }) => {
    for (const malformed of [undefined, null, {}, unreadable(), { ...one(), cells: [0] }]) {
      try {
        answerQuestion(id, malformed as never);
      } catch {
        // As it should.
      }
    }
    answerQuestion(id, one());
  },
};

/** What VS Code's own Thenable looks like. */
function thenable(then: (resolve: (answer: Answer) => void, reject: (reason: unknown) => void) => void): object {
  return { then };
}

function unreadable(): object {
  return new Proxy(
    {},
    {
      get(_, name) {
        if (name === "then") {
          return undefined;
        }
        throw new Error("do not look");
      },
      has: () => true,
    },
  );
}
