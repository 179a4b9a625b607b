// How the server's questions cross to whoever answers them, and the answers back. The addon knows nothing of promises: it
// calls once for each question, and is called once with what became of it.

import type * as Native from "../native.d.ts";

/** The part of the addon that takes answers. */
export type Answers = Pick<typeof Native, "answerQuestion" | "failQuestion">;

/** Answers one question, of a number out of `QUESTION`. What it throws is logged and fails the question, and no other. */
export type Ask = (question: number, request: string) => Promise<Native.Answer>;

/**
 * The callback for `Gateway.start` behind which `ask` answers. It never throws, and nothing that it begins is ever rejected:
 * a question that is not answered, or with something malformed, has failed, whatever the reason is. Only a promise that
 * never comes to an end leaves its question open; the server's time limit is for that.
 */
export function carryQuestions(ask: Ask, answers: Answers): (id: number, question: number, request: string) => void {
  const carry = async (id: number, question: number, request: string): Promise<void> => {
    try {
      answers.answerQuestion(id, await ask(question, request));
    } catch (reason) {
      answers.failQuestion(id, textOf(reason));
    }
  };
  return (id, question, request) => void carry(id, question, request);
}

/** Anything can be thrown, even what throws again as soon as it is looked at. */
function textOf(reason: unknown): string {
  try {
    return String(reason);
  } catch {
    return "for a reason that cannot be told";
  }
}
