import type { Response, TextPiece } from "../../service/openai/response-text.ts";

/** Times and amounts of the content of one response, from which token metrics are computed. */

/** Counts the tokens of a text, without special tokens. */
export type TokenCounter = (text: string) => number;

export interface ResponseTimes {
  /** Arrival of each read with content, in nanoseconds after the send, ascending. */
  readonly contentNs: readonly number[];
  /** Events with content in these reads; more than reads when several events arrived in one read. */
  readonly eventCount: number;
  /** First output that is not reasoning; NaN without. */
  readonly firstOutputNs: number;
  /** First reasoning; NaN without. */
  readonly firstReasoningNs: number;
  /** Tokens of the content; NaN when not counted. */
  readonly outputTokens: number;
  /** Tokens of the reasoning, whether or not it counts as content; NaN when not counted, 0 without reasoning. */
  readonly reasoningTokens: number;
}

export interface ResponseRules {
  /** Counts tokens. Without this and `tokens`, the counts are NaN and only the server's counts are reported. */
  readonly countTokens?: TokenCounter | undefined;
  /** Token counts that are already known. */
  readonly tokens?: { readonly output: number; readonly reasoning: number } | undefined;
  /** Whether reasoning counts as content. Default: false, as in GenAI-Perf, which ignores reasoning. */
  readonly countsReasoning?: boolean | undefined;
}

/**
 * Computes the times of a response.
 *
 * @param readNs arrival of each read, in nanoseconds after the send
 */
export function timeResponse(response: Response, readNs: ArrayLike<number>, rules: ResponseRules): ResponseTimes {
  const { output, reasoning } = response;
  const { countsReasoning = false } = rules;
  const tokens = rules.tokens ?? countResponse(response, rules.countTokens);
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

function countResponse(
  { output, outputTokens, reasoning }: Response,
  countTokens: TokenCounter = () => Number.NaN,
): NonNullable<ResponseRules["tokens"]> {
  return {
    output: outputTokens ?? (output.length === 0 ? 0 : countTokens(joinTexts(output))),
    reasoning: reasoning.length === 0 ? 0 : countTokens(joinTexts(reasoning)),
  };
}

function joinTexts(pieces: readonly TextPiece[]): string {
  return pieces.map(({ text }) => text).join("");
}

/** Merges by read. Reasoning precedes output. */
function mergePieces(first: readonly TextPiece[], second: readonly TextPiece[]): TextPiece[] {
  const merged = new Map<number, TextPiece>();
  for (const piece of [...first, ...second].toSorted((a, b) => a.read - b.read)) {
    const before = merged.get(piece.read);
    const text = (before?.text ?? "") + piece.text;
    merged.set(piece.read, { read: piece.read, text, events: (before?.events ?? 0) + piece.events });
  }
  return [...merged.values()];
}
