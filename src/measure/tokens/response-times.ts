import type { Response, TextPiece } from "../../service/openai/response-text.ts";

/** Times and numbers of the content of one response, from which token metrics are computed. */

/** Counts the tokens of a text, without special tokens. */
export type TokenCounter = (text: string) => number;

export interface ResponseTimes {
  /** Arrival of each read with content, in nanoseconds after the send, ascending. */
  readonly contentNs: readonly number[];
  /** Number of events with content in these reads; more than reads if several events arrived in one read. */
  readonly eventCount: number;
  /** Arrival of the first output that is not reasoning; NaN if there is none. */
  readonly firstOutputNs: number;
  /** Arrival of the first reasoning; NaN if there is none. */
  readonly firstReasoningNs: number;
  /** Tokens of the content; NaN if not counted. */
  readonly outputTokens: number;
  /** Tokens of the reasoning; NaN if not counted, 0 without reasoning. */
  readonly reasoningTokens: number;
}

interface ResponseRules {
  /** Counts tokens. Without it, the counts are NaN and only the server's counts are reported. */
  readonly countTokens?: TokenCounter | undefined;
  /** Whether the choices of a response are counted as one text, in the order of arrival. Default: each is counted separately */
  readonly joinsTexts?: boolean | undefined;
  /** Whether tool calls do not count as content. Default: they count, like text */
  readonly omitsToolCalls?: boolean | undefined;
}

/**
 * Computes the times of a response. Its text and its tool calls are content, as in AIPerf; reasoning is not, as in GenAI-Perf.
 *
 * @param readNs arrival of each read, in nanoseconds after the send
 */
export function timeResponse(
  { output, outputTokens, reasoning, toolCalls = [], choices = [] }: Response,
  readNs: ArrayLike<number>,
  { countTokens = () => Number.NaN, joinsTexts, omitsToolCalls }: ResponseRules,
): ResponseTimes {
  const calls = omitsToolCalls === true ? [] : toolCalls;
  const content = joinPieces(output, calls);
  const countAll = (pieces: readonly TextPiece[], textOf: (choice: (typeof choices)[number]) => string): number => {
    if (pieces.length === 0) return 0;
    if (choices.length === 0 || joinsTexts === true) return countTokens(pieces.map(({ text }) => text).join(""));
    return choices.map(textOf).reduce((sum, text) => (text === "" ? sum : sum + countTokens(text)), 0);
  };
  const timeOf = (piece: TextPiece | undefined): number =>
    piece === undefined ? Number.NaN : (readNs[piece.read] ?? Number.NaN);
  return {
    contentNs: content.map(timeOf),
    eventCount: content.reduce((sum, { events }) => sum + events, 0),
    firstOutputNs: timeOf(content[0]),
    firstReasoningNs: timeOf(reasoning[0]),
    outputTokens:
      outputTokens ?? countAll(content, (one) => (calls.length === 0 ? one.text : one.text + (one.toolCalls ?? ""))),
    reasoningTokens: countAll(reasoning, (one) => one.reasoning),
  };
}

/** Joins text and tool calls in the order of their reads. */
function joinPieces(texts: readonly TextPiece[], calls: readonly TextPiece[]): readonly TextPiece[] {
  if (calls.length === 0 || texts.length === 0) return calls.length === 0 ? texts : calls;
  const pieces = new Map(texts.map((piece) => [piece.read, piece]));
  for (const { read, text, events } of calls) {
    const before = pieces.get(read);
    pieces.set(read, { read, text: (before?.text ?? "") + text, events: (before?.events ?? 0) + events });
  }
  return [...pieces.values()].sort((a, b) => a.read - b.read);
}

/** Time between responses of one read, per byte. */
const NS_PER_BYTE = 0.5;

/**
 * Returns the arrival of each response of a request, in whole nanoseconds after the send, each later than the previous one.
 * Responses of one read share one time, so they are spread out before it, at two bytes per nanosecond, which is faster than any
 * network: the last one keeps the time of the read, and no response arrives after the end of its request. GenAI-Perf divides
 * the time between the first and the last response by the number of tokens, rounds to nanoseconds, and divides by the result. A
 * token has at least one byte, so GenAI-Perf never divides by 0, unless reads follow each other within nanoseconds.
 * @param readsNs monotonic nanoseconds @param lengths bytes of each response
 */
export function separateReads(sendNs: number, readsNs: readonly number[], lengths: readonly number[]): number[] {
  const startNs = Math.round(sendNs);
  const offsetsNs = readsNs.map((readNs) => Math.round(readNs) - startNs);
  let beforeNs = 0;
  for (let first = 0; first < readsNs.length; ) {
    const timeNs = offsetsNs[first] as number;
    let last = first;
    while (last + 1 < readsNs.length && (offsetsNs[last + 1] as number) <= timeNs) last++;
    // Each response gets a different nanosecond, whatever the times are.
    const endNs = Math.max(timeNs, beforeNs + last + 1 - first);
    offsetsNs[last] = endNs;
    for (let at = last; at > first; at--) {
      const earlierNs = (offsetsNs[at] as number) - gapNs(lengths[at - 1] as number, lengths[at] as number);
      offsetsNs[at - 1] = Math.max(earlierNs, beforeNs + at - first);
    }
    beforeNs = endNs;
    first = last + 1;
  }
  return offsetsNs;
}

function gapNs(earlierBytes: number, laterBytes: number): number {
  return Math.max(1, Math.ceil((earlierBytes + laterBytes) * NS_PER_BYTE));
}
