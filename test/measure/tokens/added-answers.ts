import { fileURLToPath } from "node:url";
import type { AnswerPacker, PackedAnswer } from "../../../src/measure/tokens/packed-answers.ts";
import type { TokensPlan } from "../../../src/plan/tokens.ts";

/** Streamed answers whose tokens are measured. */

/** The path of a small tokenizer. */
export const TINY = fileURLToPath(new URL("../../tokenize/fixtures/tiny", import.meta.url));
export const TOKENS: TokensPlan = { answers: "chat", isStreamed: true, tokenizer: TINY, revision: "main" };

const encoder = new TextEncoder();
const PROMPT = encoder.encode(JSON.stringify({ messages: [{ role: "user", content: "one two three" }] }));

/** Returns an answer of several events, one per millisecond. */
export function answer(...texts: string[]): PackedAnswer {
  const events = texts.map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
  const offsetsNs = texts.map((_, index) => (10 + index) * 1e6);
  return { step: 0, sequenceId: 0, sendNs: 0, offsetsNs, bodies: events.map((text) => encoder.encode(text)) };
}

/** Adds a prompt and two answers to it. */
export function addAnswers(answers: AnswerPacker): void {
  answers.addPrompt(0, PROMPT);
  answers.addAnswer(answer("the", " end"));
  answers.addAnswer(answer("a", " longer", " answer"));
}
