import assert from "node:assert/strict";
import { test } from "node:test";
import { systemMetrics } from "../../../src/measure/tokens/token-system.ts";
import { makeColumns, makeTimes } from "./make-columns.ts";

const usage = { promptTokens: 10, completionTokens: 5, reasoningTokens: undefined };

test("a run lasts from its first send to its last content", () => {
  const columns = makeColumns(
    { sendNs: 1e9, times: makeTimes([500, 1000]), usage },
    { sendNs: 2e9, times: makeTimes([500, 1000, 2000]), usage },
  );
  assert.deepEqual(systemMetrics(columns), {
    durationNs: 3e9,
    requestCount: 2,
    requestsPerSec: 2 / 3,
    outputTokensPerSec: 5 / 3,
    totalTokensPerSec: 19 / 3,
    serverTokensPerSec: 10,
    effectiveConcurrency: 1,
    errorRatio: 0,
  });
});

test("a session has its own duration, and counts none of the others' failures", () => {
  const columns = makeColumns({ sendNs: 0, times: makeTimes([1000]) }, { sendNs: 5e9, times: makeTimes([1000]) });
  columns.addFailures(2);
  const { durationNs, requestCount, errorRatio } = systemMetrics(columns, [1]);
  assert.deepEqual([durationNs, requestCount, errorRatio], [1e9, 1, 0]);
  assert.equal(systemMetrics(columns).errorRatio, 0.5);
});

test("a sum over some of the requests is not a throughput", () => {
  const columns = makeColumns({ times: makeTimes([1000]), usage }, { times: makeTimes([1000]) });
  assert.equal(systemMetrics(columns).serverTokensPerSec, undefined);
  const uncounted = makeColumns({ times: makeTimes([1000]), inputTokens: Number.NaN });
  assert.equal(systemMetrics(uncounted).totalTokensPerSec, undefined);
});

test("without requests all is 0", () => {
  const { durationNs, requestsPerSec, effectiveConcurrency, totalTokensPerSec } = systemMetrics(makeColumns());
  assert.deepEqual([durationNs, requestsPerSec, effectiveConcurrency, totalTokensPerSec], [0, 0, 0, undefined]);
});
