import assert from "node:assert/strict";
import { test } from "node:test";
import type { CompletionBins } from "../../../src/measure/intervals/time-bins.ts";
import { NumberTally } from "../../../src/measure/tally/number-tally.ts";
import { systemMetrics } from "../../../src/measure/tokens/row-measurement.ts";
import { goodPerSec, sumPerSec, tokenRateInterval } from "../../../src/measure/tokens/token-measurement.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import { makeColumns, makeTimes, rateOf } from "./make-columns.ts";

const window = { durationNs: 2e9 };
const GOODPUTS = [{}, { timeToFirstToken: 50e6 }];
const columns = makeColumns({ times: makeTimes([50, 60, 70]) }, { times: makeTimes([100]) });
const tokens = measureColumns(columns, GOODPUTS);
const none = measureColumns(makeColumns(), GOODPUTS);

test("rates are over the window, not from the first send to the last token", () => {
  assert.equal(sumPerSec([tokens.metrics.outputTokens], window), 2);
  assert.equal(goodPerSec(tokens, window, { timeToFirstToken: 50e6 }), 0.5);
  assert.equal(goodPerSec(tokens, window, {}), 1);
});

test("without requests, counts, time or known limits there is no rate", () => {
  assert.equal(sumPerSec([none.metrics.outputTokens], window), undefined);
  const uncounted = measureColumns(makeColumns({ times: makeTimes([5], { outputTokens: Number.NaN }) }));
  assert.equal(sumPerSec([uncounted.metrics.outputTokens], window), undefined);
  assert.equal(sumPerSec([tokens.metrics.outputTokens], { durationNs: 0 }), undefined);
  assert.equal(goodPerSec(none, window, {}), undefined);
  assert.equal(goodPerSec(tokens, window, { latency: 1 }), undefined);
});

test("a window of nothing but failures has a goodput of 0", () => {
  const failed = makeColumns();
  failed.addFailures(3);
  assert.equal(goodPerSec(measureColumns(failed, GOODPUTS), window, {}), 0);
});

/** The coverage of these intervals is simulated in `limits/coverage.test.ts`. A request ends each 10 ms. */
function intervalOf(weights: readonly number[], stepNs = 1e7) {
  const tally = new NumberTally();
  for (const [row, weight] of weights.entries()) if (!Number.isNaN(weight)) tally.add(weight, row * stepNs);
  const durationNs = weights.length * stepNs;
  const sample = tally.cut(0, durationNs);
  const { binNs, first, counts } = sample.bins ?? { binNs: 1, first: 0, counts: [] };
  const completions: CompletionBins = { binNs, first, counts, coveredNs: counts.map(() => binNs) };
  const perSec = (1e9 * weights.reduce((sum, one) => sum + (Number.isNaN(one) ? 0 : one), 0)) / durationNs;
  return tokenRateInterval([sample], { durationNs, completions }, perSec, 0.95);
}
const widthOf = ({ low, high }: ReturnType<typeof intervalOf>): number => (high as number) - (low as number);
const even = new Array<number>(1024).fill(10);

test("lengths that vary widen the interval", () => {
  const varied = even.map((_, at) => ((at * 7919) % 1024) / 51.2);
  assert.ok(widthOf(intervalOf(even)) < 60, String(widthOf(intervalOf(even))));
  assert.ok(widthOf(intervalOf(varied)) > 1.5 * widthOf(intervalOf(even)), String(widthOf(intervalOf(varied))));
});

test("a request without a value adds nothing", () => {
  const gaps = even.map((one, at) => (at % 2 === 0 ? one : Number.NaN));
  const { low, high } = intervalOf(gaps);
  assert.ok(low !== null && high !== null && low <= 500 && 500 <= high);
});

test("nothing good at all has an upper end, and a short measurement no interval", () => {
  const { low, high } = intervalOf(even.map(() => 0));
  // -ln(0.025) in 10.24 s.
  assert.deepEqual([low, high?.toFixed(3)], [0, (3.68888 / 10.24).toFixed(3)]);
  assert.deepEqual(intervalOf([1, 1, 1, 1], 1e5), { low: null, high: null });
});

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
