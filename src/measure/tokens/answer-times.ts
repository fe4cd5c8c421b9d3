import type { Answer, TextPiece } from "../../service/openai/response-text.ts";

/** When the content of one answer came and how much of it there is: what token metrics are made of. */

/** Tokens of a text, without special tokens. */
export type TokenCounter = (text: string) => number;

export interface AnswerTimes {
  /** When each read with content came, in nanoseconds after the send, ascending. */
  readonly contentNs: readonly number[];
  /** Events with content in these reads; more than reads when they came bunched. */
  readonly eventCount: number;
  /** Of the first output that is not reasoning; NaN without. */
  readonly firstOutputNs: number;
  /** Of the first reasoning; NaN without. */
  readonly firstReasoningNs: number;
  /** Tokens of the content; NaN when they were not counted. */
  readonly outputTokens: number;
  /** Tokens of the reasoning, whether or not it counts as content; NaN when they were not counted, 0 without reasoning. */
  readonly reasoningTokens: number;
}

export interface AnswerRules {
  /** Counts tokens; without it and without `tokens` counts are NaN and the server's stand alone. */
  readonly countTokens?: TokenCounter | undefined;
  /** The answer's tokens where they were counted already, elsewhere. */
  readonly tokens?: { readonly output: number; readonly reasoning: number } | undefined;
  /** Whether reasoning is content, as it is to whoever pays for it. Default false, GenAI-Perf's rule: it is as if nothing came. */
  readonly countsReasoning?: boolean | undefined;
}

/**
 * An answer with the times of its reads.
 *
 * @param readNs when each read came, in nanoseconds after the send
 */
export function timeAnswer(answer: Answer, readNs: ArrayLike<number>, rules: AnswerRules): AnswerTimes {
  const { output, reasoning } = answer;
  const { countsReasoning = false } = rules;
  const tokens = rules.tokens ?? countAnswer(answer, rules.countTokens);
  const content = countsReasoning ? mergePieces(reasoning, output) : output;
  const timeOf = (piece: TextPiece | undefined): number =>
    piece === undefined ? Number.NaN : (readNs[piece.read] ?? Number.NaN);
  return {
    contentNs: content.map(timeOf),
    eventCount: content.reduce((sum, { events }) => sum + events, 0),
    firstOutputNs: timeOf(output[0]),
    firstReasoningNs: timeOf(reasoning[0]),
    outputTokens: tokens.output + (countsReasoning ? tokens.reasoning : 0),
    reasoningTokens: tokens.reasoning,
  };
}

function countAnswer(
  { output, reasoning }: Answer,
  countTokens: TokenCounter = () => Number.NaN,
): NonNullable<AnswerRules["tokens"]> {
  return {
    output: output.length === 0 ? 0 : countTokens(joinTexts(output)),
    reasoning: reasoning.length === 0 ? 0 : countTokens(joinTexts(reasoning)),
  };
}

function joinTexts(pieces: readonly TextPiece[]): string {
  return pieces.map(({ text }) => text).join("");
}

/** By read: reasoning comes before output. */
function mergePieces(first: readonly TextPiece[], second: readonly TextPiece[]): TextPiece[] {
  const merged = new Map<number, TextPiece>();
  for (const piece of [...first, ...second].toSorted((a, b) => a.read - b.read)) {
    const before = merged.get(piece.read);
    const text = (before?.text ?? "") + piece.text;
    merged.set(piece.read, { read: piece.read, text, events: (before?.events ?? 0) + piece.events });
  }
  return [...merged.values()];
}
