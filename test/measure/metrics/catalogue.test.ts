import assert from "node:assert/strict";
import { test } from "node:test";
import { addReading, type GaugeReadings, NO_READINGS } from "../../../src/measure/gauge-readings.ts";
import { findEntry, hasStatistic, keysWith, METRIC_KEYS } from "../../../src/measure/metrics/catalogue.ts";
import type { MeasuredPart, Metric } from "../../../src/measure/metrics/metric.ts";
import { formatMetric, metricKey, metricText } from "../../../src/measure/metrics/metric-text.ts";
import { estimateMetric, explainMissing, metricValue } from "../../../src/measure/metrics/read-metric.ts";
import type { ServerDelta } from "../../../src/measure/server-delta.ts";
import { judge } from "../../../src/measure/verdicts.ts";
import type { MetricPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

/** The one catalogue of metrics. */

const ENTRIES = METRIC_KEYS.map((key) => [key, findEntry(key) as Metric] as const);

/** Ten requests whose server counted 2 ms in the queue for each, and answered three of four from its cache, on two GPUs. */
function servedPart(): MeasuredPart {
  let gauges: GaugeReadings = NO_READINGS;
  for (const [atNs, first, second] of [
    [0.1e9, 0.5, 0.7],
    [0.4e9, 0.7, 0.9],
    [0.6e9, 0.5, 0.7],
    [0.9e9, 0.7, 0.9],
  ] as const) {
    const reading = {
      gpuUtilizationRatio: new Map([
        ["a", first],
        ["b", second],
      ]),
      gpuPowerWatts: new Map([
        ["a", 100 * first],
        ["b", 100 * second],
      ]),
      gpuEnergyJoules: new Map([
        ["a", 1000 + 5e-9 * atNs],
        ["b", 2000 + 3e-9 * atNs],
      ]),
      gpuMemoryUsedBytes: new Map([["a", 3e9]]),
      kvCacheUsageRatio: new Map([["m 0", first]]),
    };
    gauges = addReading(gauges, reading, atNs);
  }
  const server = { queueNs: 20e6, queueCount: 10, cacheHitCount: 3, cacheMissCount: 1 } as unknown as ServerDelta;
  return { window: { ...makeWindow({ latenciesNs: [1e6, 2e6, 9e6] }), server, gauges } };
}

test("keys and labels are unique, times and failures are better when low, rates when high", () => {
  assert.equal(new Set(ENTRIES.map(([, { label }]) => label)).size, ENTRIES.length);
  for (const [key, { quantity, better }] of ENTRIES) {
    if (quantity === "time") assert.equal(better, "lower", key);
    if (quantity === "rate") assert.equal(better, "higher", key);
  }
});

const VALUES: readonly (readonly [metric: MetricPlan, value: number, text: string, shown: string])[] = [
  [{ key: "latency", statistic: "max" }, 9e6, "max latency", "9 ms"],
  [{ key: "latency", statistic: "min" }, 1e6, "min latency", "1 ms"],
  [{ key: "serverQueue", statistic: "mean" }, 2e6, "mean server queue", "2 ms"],
  [{ key: "serverCacheHits" }, 0.75, "server cache hits", "75 %"],
  [{ key: "gpuUtilization", statistic: "mean" }, 0.7, "mean GPU utilization", "70 %"],
  [{ key: "gpuUtilization", statistic: "max" }, 0.9, "max GPU utilization", "90 %"],
  [{ key: "kvCacheUsage", statistic: "max" }, 0.7, "max KV cache usage", "70 %"],
  [{ key: "gpuPower", statistic: "max" }, 90, "max GPU power", "90 W"],
  [{ key: "gpuMemoryUsed", statistic: "max" }, 3000, "max GPU memory used", "3,000 MB"],
  // GPUs of 5 W and 3 W in a measured second.
  [{ key: "gpuEnergy" }, 8, "GPU energy", "8 J"],
];

for (const [metric, value, text, shown] of VALUES)
  test(`${text} is ${shown}, and can be asserted`, () => {
    const part = servedPart();
    const found = metricValue(metric, part, 1) as number;
    assert.ok(Math.abs(found - value) < 1e-9 * value, String(found));
    assert.equal(metricText(metric), text);
    assert.equal(formatMetric(metric, value), shown);
    // It counts as exact: there is no interval of what the server reports, or of a maximum. Energy is extended to times without a reading.
    if (metric.key !== "gpuEnergy")
      assert.deepEqual(estimateMetric(metric, part, 1), { value: found, low: found, high: found });
    const stateOf = (limit: number) => judge({ metric, comparison: "below", limit }, [{ level: 1, ...part }], 1).state;
    assert.deepEqual([stateOf(value * 1.01), stateOf(value * 0.99)], ["pass", "fail"]);
  });

test("what a run does not have is unresolved with its reason, and never passes", () => {
  const level = { level: 1, window: makeWindow({ latenciesNs: [1e6] }) };
  const reasons = new Map<string, string | undefined>();
  for (const [key, { needs, statistics, isOfReports }] of ENTRIES) {
    if (needs === undefined || isOfReports === true) continue;
    const metric: MetricPlan = { key, ...(statistics === undefined ? {} : { statistic: "mean" }) };
    if (key === "goodput") Object.assign(metric, { limits: { latency: 1e9 } });
    assert.equal(explainMissing(metric, level, 1) === undefined, false, key);
    if (needs === "schedule") continue;
    const { state, measured, reason } = judge({ metric, comparison: "at-least", limit: 0 }, [level], 1);
    assert.deepEqual([state, measured], ["unresolved", undefined], key);
    reasons.set(needs, reason);
  }
  assert.deepEqual(Object.fromEntries(reasons), {
    responses: "each request has one response",
    tokens: "no tokens were measured",
    streams: "no tokens were measured",
    statistics: "the server reported no statistics of these requests",
    gauges: "the server's metrics were not read",
  });
});

test("a key has the statistics that its entry lists, and single values have none", () => {
  const latency = findEntry("latency") as Metric;
  assert.deepEqual([hasStatistic(latency, 99), hasStatistic(latency, undefined)], [true, false]);
  const queue = findEntry("serverQueue") as Metric;
  assert.deepEqual(
    [hasStatistic(queue, "mean"), hasStatistic(queue, "max"), hasStatistic(queue, 50)],
    [true, false, false],
  );
  assert.ok(keysWith(undefined).includes("throughput") && !keysWith(undefined).includes("highestLoad"));
  assert.ok(keysWith("max").includes("gpuPower") && !keysWith(99).includes("gpuPower"));
  assert.equal(findEntry("toString"), undefined);
});

test("values have groups of digits, and six digits at most", () => {
  const shown = [1990, 19.88694, 1_234_567.8, 0.0000123456].map((value) => formatMetric({ key: "throughput" }, value));
  assert.deepEqual(shown, ["1,990 infer/s", "19.8869 infer/s", "1,234,570 infer/s", "0.0000123456 infer/s"]);
});

test("a metric with its statistic has the name of its column and of its JSON", () => {
  const keyOf = (statistic: "mean" | "max" | number): string => metricKey({ key: "latency", statistic });
  assert.deepEqual([keyOf("mean"), keyOf("max"), keyOf(99.9)], ["latency.mean", "latency.max", "latency.p99.9"]);
  assert.equal(metricKey({ key: "throughput" }), "throughput");
});
