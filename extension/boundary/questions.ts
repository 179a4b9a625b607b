// How the server's questions cross to whoever answers them, and the answers back. The addon knows nothing of promises: it
// calls once for each question, and is called once with what became of it.

import type * as Native from "../native.d.ts";
import { type AskRequest, noProvider, type OpenRequest, QUESTION, type ReadyRequest } from "./rows.ts";

/** The part of the addon that takes answers. */
export type Answers = Pick<typeof Native, "answerQuestion" | "failQuestion">;

/** Who answers the questions in place of the editor. What a method throws is logged and fails its question, and no other. */
export interface Host {
  open(request: OpenRequest): Promise<Native.Answer>;
  ready(request: ReadyRequest): Promise<Native.Answer>;
  mainDocuments(): Promise<Native.Answer>;
  ask(request: AskRequest): Promise<Native.Answer>;
  sessionsEnded(ids: readonly string[]): Promise<Native.Answer>;
}

/** Puts one question, of a number out of `QUESTION`, to the host. */
export async function put(host: Host, question: number, request: string): Promise<Native.Answer> {
  const asked = JSON.parse(request);
  switch (question) {
    case QUESTION.open:
      return host.open(asked);
    case QUESTION.ready:
      return host.ready(asked);
    case QUESTION.mainDocuments:
      return host.mainDocuments();
    case QUESTION.ask:
      return host.ask(asked);
    case QUESTION.sessionsEnded:
      return host.sessionsEnded(asked);
    default:
      return noProvider();
  }
}

/**
 * The callback for `Gateway.start` behind which the host answers. It never throws, and nothing that it begins is ever
 * rejected: a question that is not answered, or with something malformed, has failed, whatever the reason is. Only a promise
 * that never comes to an end leaves its question open; the server's time limit is for that.
 */
export function carryQuestions(host: Host, answers: Answers): (id: number, question: number, request: string) => void {
  const carry = async (id: number, question: number, request: string): Promise<void> => {
    try {
      answers.answerQuestion(id, await put(host, question, request));
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
