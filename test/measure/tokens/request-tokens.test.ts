import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnsweredRequest } from "../../../src/measure/tokens/answered-request.ts";
import { RequestTokensLog, readTaken } from "../../../src/measure/tokens/request-tokens.ts";

/** Tokens of single requests, between the thread that measures and that of the run. */

function answered(...contentNs: number[]): AnsweredRequest {
  const times = {
    contentNs,
    eventCount: contentNs.length,
    firstOutputNs: contentNs[0] ?? Number.NaN,
    firstReasoningNs: Number.NaN,
    outputTokens: contentNs.length,
    reasoningTokens: 0,
  };
  return { sendNs: 5, times, inputTokens: 3 };
}

test("each request is taken once, with its own metrics and times, also one without content", () => {
  const log = new RequestTokensLog();
  log.add(4, answered(10, 30, 70));
  log.add(2, answered());
  log.add(9, undefined, "the response is an error");
  const taken = readTaken(structuredClone(log.take(false)));
  assert.deepEqual(
    taken.map(({ index, contentNs, error }) => [index, [...contentNs], error]),
    [
      [4, [10, 30, 70], undefined],
      [2, [], undefined],
      [9, [], "the response is an error"],
    ],
  );
  const [first, empty] = taken;
  assert.deepEqual(
    [first?.metrics.get("timeToFirstTokenNs"), first?.metrics.get("interTokenLatencyNs")],
    [10, 30],
    "(70 - 10) / 2",
  );
  assert.equal(first?.metrics.has("timeToFirstReasoningTokenNs"), false, "a missing value is not there");
  assert.equal(empty?.metrics.size, 0);
  assert.deepEqual(readTaken(log.take(false)), []);
});

test("streams that may have been cut wait until the server's end marks are known", () => {
  for (const [isMarked, errors] of [
    [true, ["cut"]],
    [false, [undefined]],
  ] as const) {
    const log = new RequestTokensLog();
    log.add(0, answered(10), undefined, "cut");
    assert.equal(readTaken(log.take(false)).length, 0);
    log.decide(isMarked);
    const [taken] = readTaken(log.take(false));
    assert.deepEqual([taken?.error], errors);
    assert.equal(taken?.metrics.has("timeToFirstTokenNs"), !isMarked);
  }
});

test("at the end, streams that were never decided are complete", () => {
  const log = new RequestTokensLog();
  log.add(7, answered(10, 20), undefined, "cut");
  assert.deepEqual(
    readTaken(log.take(true)).map(({ index, error }) => [index, error]),
    [[7, undefined]],
  );
});
