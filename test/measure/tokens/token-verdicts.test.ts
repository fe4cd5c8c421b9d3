import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMetric } from "../../../src/measure/metrics/metric-text.ts";
import type { TokenMeasurement } from "../../../src/measure/tokens/token-measurement.ts";
import { NO_TOKENS, TokenTally } from "../../../src/measure/tokens/token-tally.ts";
import { judge } from "../../../src/measure/verdicts.ts";
import type { MetricPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

/** Two responses of five tokens each, in a second: the first token after 100 and 200 ms, then one every 10 ms. */
function twoAnswers(): TokenMeasurement {
  const columns = new TokenTally([
    { timeToFirstToken: 1e8 },
    { latency: 3e8, outputTokensPerSecPerUser: 101 },
    { latency: 1e9 },
  ]);
  for (const [sendNs, firstMs] of [
    [0, 100],
    [760e6, 200],
  ] as const) {
    const contentNs = [0, 10, 20, 30, 40].map((ms) => (firstMs + ms) * 1e6);
    const times = {
      contentNs,
      eventCount: 5,
      firstOutputNs: contentNs[0] as number,
      firstReasoningNs: Number.NaN,
      outputTokens: 5,
      reasoningTokens: 0,
    };
    columns.add({ sendNs, times, inputTokens: 7 });
  }
  return columns.cut();
}

const METRICS: readonly (readonly [metric: MetricPlan, value: number, text: string])[] = [
  [{ key: "timeToFirstToken", statistic: 100 }, 2e8, "p100 time to first token = 200 ms"],
  [{ key: "timeToFirstToken", statistic: "mean" }, 1.5e8, "mean time to first token = 150 ms"],
  [{ key: "interTokenLatency", statistic: "mean" }, 1e7, "mean inter-token latency = 10 ms"],
  [{ key: "outputTokensPerSecPerUser", statistic: "mean" }, 100, "mean output tokens/s per user = 100 tokens/s"],
  [{ key: "inputTokens", statistic: "mean" }, 7, "mean input tokens = 7 tokens"],
  [{ key: "outputTokensPerSec" }, 10, "output tokens/s = 10"],
  [{ key: "goodput", limits: { timeToFirstToken: 1e8 } }, 1, "goodput (time to first token at most 100 ms) = 1 req/s"],
  [
    { key: "goodput", limits: { latency: 3e8, outputTokensPerSecPerUser: 101 } },
    0,
    "goodput (latency at most 300 ms, output tokens/s per user at least 101) = 0 req/s",
  ],
];

for (const [metric, value, text] of METRICS) {
  test(`an assertion reads: ${text}`, () => {
    const level = { level: 2, window: makeWindow({ latenciesNs: [1e6], tokens: twoAnswers() }) };
    const verdict = judge({ metric, comparison: "is", limit: value }, [level], 1);
    assert.deepEqual([verdict.state, verdict.measured, verdict.text], ["pass", value, text]);
    assert.ok(`${text} tokens/s`.includes(formatMetric(metric, value)));
  });
}

test("rates are over the level's own time, as its throughput is, and not from the first send to the last token", () => {
  const window = makeWindow({ durationNs: 4e9, latenciesNs: [1e6, 1e6], tokens: twoAnswers() });
  const level = { level: 2, window };
  const measured = (metric: MetricPlan) => judge({ metric, comparison: "at-least", limit: 0 }, [level], 1).measured;
  assert.equal(measured({ key: "throughput" }), 0.5);
  assert.equal(measured({ key: "goodput", limits: { latency: 1e9 } }), 0.5);
  assert.equal(measured({ key: "outputTokensPerSec" }), 2.5);
});

test("a metric that no request has is unresolved", () => {
  for (const tokens of [undefined, NO_TOKENS]) {
    const window = makeWindow({ latenciesNs: [1e6], tokens });
    for (const [metric] of METRICS) {
      const verdict = judge({ metric, comparison: "at-least", limit: 0 }, [{ level: 1, window }], 1);
      assert.deepEqual([verdict.state, verdict.measured], ["unresolved", undefined]);
    }
  }
});
