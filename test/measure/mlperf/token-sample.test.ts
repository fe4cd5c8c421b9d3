import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleTokens } from "../../../src/measure/mlperf/token-sample.ts";
import { makeColumns, makeTimes } from "../tokens/make-columns.ts";

const MS = 1e6;

test("the first token counts from when its request was due, and the others from the first", () => {
  const sample = sampleTokens(
    makeColumns({ times: makeTimes([30, 40, 50]), waitNs: 5 * MS }, { times: makeTimes([10, 11]) }),
  );
  assert.deepEqual([...sample.firstTokenNs], [10 * MS, 35 * MS]);
  assert.deepEqual([...sample.perTokenNs], [MS, 10 * MS]);
  assert.equal(sample.tokenCount, 5);
});

test("the time per token is rounded down, as LoadGen divides whole nanoseconds", () => {
  const times = { ...makeTimes([0, 0]), contentNs: [100, 111], outputTokens: 5 };
  assert.deepEqual([...sampleTokens(makeColumns({ times })).perTokenNs], [2]);
});

test("tokens that arrive together take no time, and a single token has no time per token", () => {
  const together = makeTimes([20], { outputTokens: 4 });
  const { firstTokenNs, perTokenNs } = sampleTokens(makeColumns({ times: together }, { times: makeTimes([30]) }));
  assert.deepEqual([...firstTokenNs], [20 * MS, 30 * MS]);
  assert.deepEqual([...perTokenNs], [0]);
});

test("reasoning is generated like other tokens", () => {
  const times = makeTimes([50, 60], { firstReasoningNs: 10 * MS, reasoningTokens: 4 });
  const sample = sampleTokens(makeColumns({ times }));
  assert.deepEqual([...sample.firstTokenNs], [10 * MS]);
  assert.deepEqual([...sample.perTokenNs], [10 * MS]);
  assert.equal(sample.tokenCount, 6);
});

test("a response that arrived whole has no first token, and one of unknown length is counted", () => {
  const sample = sampleTokens(
    makeColumns(
      { times: makeTimes([20, 30]), lacksStream: true },
      { times: makeTimes([20, 30], { outputTokens: Number.NaN, reasoningTokens: Number.NaN }) },
    ),
  );
  assert.deepEqual([...sample.firstTokenNs], [20 * MS]);
  assert.deepEqual([...sample.perTokenNs], []);
  assert.deepEqual([sample.tokenCount, sample.uncountedCount], [2, 1]);
});
