import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { separateReads, timeResponse } from "../../../src/measure/tokens/response-times.ts";
import type { TextPiece } from "../../../src/service/openai/response-text.ts";

const piece = (read: number, text: string, events = 1): TextPiece => ({ read, text, events });
const countWords = (text: string): number => text.split(" ").filter((word) => word !== "").length;
const readNs = [10, 20, 30, 40];

function time(
  output: TextPiece[],
  reasoning: TextPiece[],
  rules: Parameters<typeof timeResponse>[2] = { countTokens: countWords },
) {
  const answer = { output, reasoning, usage: undefined, finishReason: undefined, isStreamed: true, error: undefined };
  return timeResponse(answer, readNs, rules);
}

describe("the times of a response", () => {
  test("are those of the reads that brought content", () => {
    assert.deepEqual(time([piece(1, "a b "), piece(3, "c", 2)], []), {
      contentNs: [20, 40],
      eventCount: 3,
      firstOutputNs: 20,
      firstReasoningNs: Number.NaN,
      outputTokens: 3,
      reasoningTokens: 0,
    });
  });

  test("leave reasoning out, and have it beside", () => {
    const { contentNs, firstReasoningNs, firstOutputNs, outputTokens, reasoningTokens } = time(
      [piece(2, "x")],
      [piece(0, "hm "), piece(1, "so")],
    );
    assert.deepEqual([contentNs, firstReasoningNs, firstOutputNs], [[30], 10, 30]);
    assert.deepEqual([outputTokens, reasoningTokens], [1, 2]);
  });

  test("have no counts without a counter", () => {
    assert.equal(time([piece(0, "a b c")], [], {}).outputTokens, Number.NaN);
    assert.equal(time([], [], {}).outputTokens, 0);
  });
});

const CASES: readonly (readonly [what: string, readNs: readonly number[], offsetsNs: readonly number[]])[] = [
  ["of different reads keep their times", [15, 20], [5, 10]],
  ["of one read precede it, by half a nanosecond for each byte", [110, 110, 110], [92, 96, 100]],
  ["of one read follow those before", [20, 30, 30, 31, 31, 50], [10, 16, 20, 21, 22, 40]],
  ["never come with the send", [10, 10], [1, 2]],
  ["that are too close have a nanosecond each", [15, 15, 16, 16, 16, 30], [1, 5, 6, 7, 8, 20]],
  ["whose clock goes back keep their order", [20, 18, 40], [6, 10, 30]],
  ["are rounded to whole nanoseconds", [15.6, 20.4], [6, 10]],
];

for (const [what, readNs, offsetsNs] of CASES)
  test(`responses ${what}`, () => {
    // Each has four bytes.
    const lengths = readNs.map(() => 4);
    assert.deepEqual(separateReads(10, readNs, lengths), offsetsNs);
  });
