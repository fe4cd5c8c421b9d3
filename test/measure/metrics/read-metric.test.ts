import assert from "node:assert/strict";
import { test } from "node:test";
import { inferPerSec } from "../../../src/measure/derived-values.ts";
import { certaintyOf } from "../../../src/measure/intervals/certainty.ts";
import { throughputInterval } from "../../../src/measure/intervals/throughput.ts";
import { mergeInTime } from "../../../src/measure/merge.ts";
import type { MeasuredPart } from "../../../src/measure/metrics/metric.ts";
import { estimateMetric } from "../../../src/measure/metrics/read-metric.ts";
import { TokenTally } from "../../../src/measure/tokens/token-tally.ts";
import type { MetricPlan } from "../../../src/plan/assertions.ts";
import { completionBins, makeWindow } from "../make-window.ts";

/** Latencies of 1 to 2 ms in no order. */
const LATENCIES_NS = Array.from({ length: 400 }, (_, index) => 1e6 + ((index * 617) % 1000) * 1000);

function makeLevel(windowCount: number, failedCount = 0): MeasuredPart {
  const windows = Array.from({ length: windowCount }, (_, index) =>
    makeWindow({
      latenciesNs: LATENCIES_NS.slice(0, 400 - 10 * (index % 3)),
      failedCount,
      startNs: index * 1e9,
      completions: completionBins(
        1e8,
        Array.from({ length: 10 }, (_, at) => 36 + ((3 * index + 7 * at) % 9)),
        {
          first: 10 * index,
          ...(failedCount === 0 ? {} : { failed: Array.from({ length: 10 }, (_, at) => at % 2) }),
        },
      ),
    }),
  );
  return { window: mergeInTime(windows) };
}

const INTERVALS: readonly (readonly [name: string, metric: MetricPlan])[] = [
  ["p50", { key: "latency", statistic: 50 }],
  ["p90", { key: "latency", statistic: 90 }],
  ["the mean", { key: "latency", statistic: "mean" }],
  ["throughput", { key: "throughput" }],
  ["the error rate", { key: "errorRate" }],
];

for (const [name, metric] of INTERVALS)
  test(`the interval of ${name} holds its value and shrinks with more windows`, () => {
    const widths = [3, 24].map((count) => {
      const estimate = estimateMetric(metric, makeLevel(count, 5), 1);
      assert.ok(estimate?.low !== undefined && estimate.low !== null && estimate.high !== null);
      assert.ok(estimate.low <= estimate.value && estimate.value <= estimate.high, JSON.stringify(estimate));
      return estimate.high - estimate.low;
    });
    assert.ok((widths[1] as number) < (widths[0] as number), widths.join());
  });

test("throughput has the interval of reports", () => {
  const level = makeLevel(5);
  const value = inferPerSec(level.window, 2);
  const { low, high } = throughputInterval(level.window, value, 2);
  assert.ok(low !== null && high !== null);
  assert.deepEqual(estimateMetric({ key: "throughput" }, level, 2), { value, low, high });
});

test("a short measurement says nothing about how much a rate varies", () => {
  const estimate = estimateMetric({ key: "throughput" }, makeLevel(1), 1);
  assert.deepEqual([estimate?.low, estimate?.high], [null, null]);
  assert.equal(estimate?.value, 400);
});

test("a sample without a value beyond the percentile has no upper bound", () => {
  const window = makeWindow({ latenciesNs: [1e6, 2e6, 3e6] });
  const estimate = estimateMetric({ key: "latency", statistic: 99 }, { window }, 1);
  assert.equal(estimate?.high, null);
});

test("without requests there is no value", () => {
  const window = makeWindow({ latenciesNs: [] });
  const level = { window };
  assert.equal(estimateMetric({ key: "latency", statistic: "mean" }, level, 1), undefined);
  assert.equal(estimateMetric({ key: "errorRate" }, level, 1), undefined);
});

test("tokens have intervals, and none without tokens", () => {
  const tokens = new TokenTally();
  for (let index = 0; index < 300; index++) {
    const firstNs = 5e6 + (index % 7) * 1e5;
    tokens.add({
      sendNs: index * 1e7,
      times: { contentNs: [firstNs, firstNs + 1e6], endNs: firstNs + 1e6, outputTokens: 2 } as never,
      inputTokens: 3,
    });
  }
  const level = makeLevel(3);
  const metric: MetricPlan = { key: "timeToFirstToken", statistic: 90 };
  assert.equal(estimateMetric(metric, level, 1), undefined);
  const estimate = estimateMetric(metric, { window: { ...level.window, tokens: tokens.cut() } }, 1);
  assert.ok(estimate?.low !== null && estimate?.high !== null && estimate !== undefined);
  assert.ok(estimate.low <= estimate.value && estimate.value <= estimate.high);
});

test("a percentile whose share of the time is in gaps is not certain, and one that asks for less is", () => {
  const { window } = makeLevel(24);
  const gaps = [{ startNs: 2e9, endNs: 2e9 + 0.2 * window.durationNs, typicalNs: 1e6 }];
  const certain = (gapped: typeof window): boolean[] =>
    [50, 75, 90].map((statistic) => {
      const estimate = estimateMetric({ key: "latency", statistic }, { window: gapped }, 1);
      assert.ok(estimate !== undefined);
      return certaintyOf(estimate).isCertain;
    });
  assert.deepEqual(certain(window), [true, true, true]);
  assert.deepEqual(certain({ ...window, gaps }), [true, true, false]);
  assert.deepEqual(certain({ ...window, gaps, isScheduled: true }), [true, true, true], "a schedule sends in gaps too");
});
