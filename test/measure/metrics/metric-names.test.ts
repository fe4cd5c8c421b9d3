import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  findMetric,
  fromOption,
  nameMetric,
  orderOfMetric,
  suggestMetric,
} from "../../../src/measure/metrics/metric-names.ts";
import { directionOf, TOKEN_METRICS } from "../../../src/measure/tokens/metrics.ts";
import { listMetrics } from "./list-metrics.ts";

/** Names of metrics in comparisons. */

describe("a metric by its name", () => {
  for (const [given, name, label, quantity, better] of [
    ["p99", "latency.p99", "p99 latency", "time", "lower"],
    ["mean", "latency.mean", "mean latency", "time", "lower"],
    ["latency.mean", "latency.mean", "mean latency", "time", "lower"],
    ["p99.9", "latency.p99.9", "p99.9 latency", "time", "lower"],
    ["throughput", "throughput", "throughput", "rate", "higher"],
    ["errorRate", "errorRate", "error rate", "ratio", "lower"],
    ["timeToFirstToken.p99", "timeToFirstToken.p99", "p99 time to first token", "time", "lower"],
    [
      "outputTokensPerSecPerUser.p50",
      "outputTokensPerSecPerUser.p50",
      "p50 output tokens/s per user",
      "rate",
      "higher",
    ],
    ["outputTokens.mean", "outputTokens.mean", "mean output tokens", "count", undefined],
    ["latency.max", "latency.max", "max latency", "time", "lower"],
    ["max(latency)", "latency.max", "max latency", "time", "lower"],
    ["p99(timeToFirstToken)", "timeToFirstToken.p99", "p99 time to first token", "time", "lower"],
    ["serverQueue", "serverQueue", "server queue", "time", "lower"],
    ["mean(serverQueue)", "serverQueue", "server queue", "time", "lower"],
    ["max(gpuPower)", "gpuPower.max", "max GPU power", "number", "lower"],
    ["extracted.a.score.p99.9", "extracted.a.score.p99.9", "p99.9 a.score", "number", undefined],
  ] as const)
    test(given, () => {
      const found = findMetric(given);
      const { unit: _unit, ...rest } = found ?? { unit: "" };
      assert.deepEqual({ ...rest, better: found?.better }, { name, label, quantity, better });
    });

  for (const given of [
    "latency",
    "throughput.p99",
    "p100",
    "p",
    "ttft.p99",
    "p99(itl)",
    "avg",
    "latency.average",
    "error_rate",
    "nothing",
    "extracted.",
    "extracted.score",
    "serverQueue.max",
    "max(throughput)",
    "p0.99",
    "latency()",
  ])
    test(`${given} is none`, () => assert.equal(findMetric(given), undefined));
});

describe("a suggestion", () => {
  for (const [given, near] of [
    ["thruput", "throughput"],
    ["througput", "throughput"],
    ["ttft", "timeToFirstToken.p99"],
    ["p99(itl)", "interTokenLatency.p99"],
    ["avg", "mean"],
    ["ttft p99", "timeToFirstToken.p99"],
    ["p95_itl", "interTokenLatency.p95"],
    ["average latency", "latency.mean"],
    ["p98.latency", "latency.p98"],
    ["ttft.average", "timeToFirstToken.mean"],
    ["error_rate", "errorRate"],
    ["latency", "latency.p99"],
    ["latncy.p90", "latency.p90"],
    ["p9", "p99"],
    ["errorate", "errorRate"],
    ["somethingElse", undefined],
  ] as const)
    test(`for ${given}: ${near}`, () => {
      const found = suggestMetric(given);
      if (given === "p9") assert.match(found ?? "", /^p\d\d$/);
      else if (given === "thruput") assert.ok(found === near || found === undefined);
      else assert.equal(found, near);
      if (found !== undefined) assert.ok(findMetric(found), found);
    });
});

test("options have shorter names of some metrics", () => {
  assert.equal(fromOption("ttft"), "timeToFirstToken");
  assert.equal(fromOption("p99(itl)"), "interTokenLatency.p99");
  assert.equal(fromOption("ttst.max"), "timeToSecondToken.max");
  for (const name of ["p99", "latency.p99", "extracted.ttft.p99", "ttfts", "constructor"])
    assert.equal(fromOption(name), name);
});

test("all metrics of the tables have names that are found again", () => {
  const names = listMetrics().map(nameMetric);
  assert.ok(names.length > TOKEN_METRICS.length);
  for (const name of names) assert.equal(findMetric(name)?.name, name);
});

test("the directions of token metrics: times are better when short, limited rates when high, counts neither", () => {
  assert.equal(directionOf("timeToFirstTokenNs"), "lower");
  assert.equal(directionOf("normalizedTimePerOutputTokenNs"), "lower");
  assert.equal(directionOf("outputTokensPerSecPerUser"), "higher");
  assert.equal(directionOf("imagesPerSec"), "higher");
  assert.equal(directionOf("outputTokens"), undefined);
});

test("the order is that of the tables, then means before percentiles", () => {
  const sorted = [
    "extracted.x.mean",
    "timeToFirstToken.mean",
    "latency.p99.9",
    "latency.p99",
    "latency.mean",
    "throughput",
  ].sort((a, b) => orderOfMetric(a) - orderOfMetric(b));
  assert.deepEqual(sorted, [
    "throughput",
    "latency.mean",
    "latency.p99",
    "latency.p99.9",
    "timeToFirstToken.mean",
    "extracted.x.mean",
  ]);
});
