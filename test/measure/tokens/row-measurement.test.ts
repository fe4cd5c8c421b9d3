import assert from "node:assert/strict";
import { test } from "node:test";
import { systemMetrics } from "../../../src/measure/tokens/row-measurement.ts";
import { makeColumns, makeTimes, rateOf } from "./make-columns.ts";

const usage = { promptTokens: 10, completionTokens: 5, reasoningTokens: undefined };

test("a run lasts from its first send to its last content", () => {
  const columns = makeColumns(
    { sendNs: 1e9, times: makeTimes([500, 1000]), usage },
    { sendNs: 2e9, times: makeTimes([500, 1000, 2000]), usage },
  );
  assert.deepEqual(systemMetrics(columns), {
    startNs: 1e9,
    durationNs: 3e9,
    requestCount: 2,
    requestsPerSec: 2 / 3,
    outputTokensPerSec: 5 / 3,
  });
});

test("a session has its own duration", () => {
  const columns = makeColumns({ sendNs: 0, times: makeTimes([1000]) }, { sendNs: 5e9, times: makeTimes([1000]) });
  const { durationNs, requestCount } = systemMetrics(columns, [1]);
  assert.deepEqual([durationNs, requestCount], [1e9, 1]);
});

test("a sum over some of the requests is not a throughput", () => {
  const columns = makeColumns({ times: makeTimes([1000]), usage }, { times: makeTimes([1000]) });
  assert.equal(rateOf(columns, "serverTokensPerSec"), undefined);
  const uncounted = makeColumns({ times: makeTimes([1000]), inputTokens: Number.NaN });
  assert.equal(rateOf(uncounted, "totalTokensPerSec"), undefined);
});

test("without requests all is 0", () => {
  const { durationNs, requestsPerSec } = systemMetrics(makeColumns());
  assert.deepEqual([durationNs, requestsPerSec], [0, 0]);
});
