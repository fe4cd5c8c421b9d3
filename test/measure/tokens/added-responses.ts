import {
  type PackedFailure,
  type PackedResponse,
  partsOf,
  type ResponsePacker,
} from "../../../src/measure/tokens/packed-responses.ts";
import type { TokensPlan } from "../../../src/plan/tokens.ts";
import { TINY } from "../../tokenize/tiny.ts";

/** Streamed responses whose tokens are measured. */

export const TOKENS: TokensPlan = { responses: "chat", isStreamed: true, tokenizer: TINY, revision: "main" };

/** A request whose connection was closed. */
export const FAILURE: PackedFailure = {
  step: 0,
  sequenceId: 0,
  sendNs: 1,
  firstByteNs: Number.NaN,
  endNs: 2,
  responseCount: 0,
  failure: { kind: "closed", message: "closed" },
};

const encoder = new TextEncoder();
const PROMPT = encoder.encode(JSON.stringify({ messages: [{ role: "user", content: "one two three" }] }));

/** Returns a response of several events, one per millisecond. */
export function answer(...texts: string[]): PackedResponse {
  const events = texts.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  const offsetsNs = texts.map((_, index) => (10 + index) * 1e6);
  return { step: 0, sequenceId: 0, sendNs: 0, offsetsNs, ...partsOf(events.map((text) => encoder.encode(text))) };
}

/** Adds a prompt and two responses to it. */
export function addAnswers(responses: ResponsePacker): void {
  responses.addPrompt(0, PROMPT);
  responses.addResponse(answer("the", " end"));
  responses.addResponse(answer("a", " longer", " response"));
}
