import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatMetric } from "../../src/measure/metrics/metric-text.ts";
import type { VerdictState } from "../../src/measure/verdict-state.ts";
import { judgeInterval, judgePercentile, requestsToShow, worstState } from "../../src/measure/verdict-state.ts";
import { judge, judgeRuns } from "../../src/measure/verdicts.ts";
import type { AssertionPlan, MetricPlan } from "../../src/plan/assertions.ts";
import { formatCount } from "../../src/plan/units.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { makeWindow } from "./make-window.ts";

const p99: MetricPlan = { key: "latency", statistic: 99 };
const rate: MetricPlan = { key: "throughput" };

/** As many requests as show a p99. */
const MANY = 299;
const many = (ms: number, count = MANY): number[] => new Array<number>(count).fill(Math.round(ms * 1e6));

/** 299 requests of 2 ms. */
const level = { level: 1, window: makeWindow({ latenciesNs: many(2) }) };

const comparisons: readonly (readonly [
  comparison: AssertionPlan["comparison"],
  limitMs: number,
  state: VerdictState,
  said: string,
])[] = [
  ["below", 2.001, "pass", "<"],
  ["below", 2, "fail", "<"],
  ["at-most", 2, "pass", "≤"],
  ["at-most", 1.999, "fail", "≤"],
  ["above", 1.999, "pass", ">"],
  ["above", 2, "fail", ">"],
  ["at-least", 2, "pass", "≥"],
  ["at-least", 2.001, "fail", "≥"],
  ["is", 2, "pass", "="],
  ["is", 2.001, "fail", "="],
];

for (const [comparison, limitMs, state, said] of comparisons) {
  test(`2 ms ${comparison} ${limitMs} ms is ${state}`, () => {
    const verdict = judge({ metric: p99, comparison, limit: limitMs * 1e6 }, [level], 1);
    assert.equal(verdict.state, state);
    assert.equal(verdict.measured, 2e6);
    assert.equal(verdict.level, 1);
    assert.equal(verdict.text, `p99 latency ${said} ${limitMs} ms`);
  });
}

const metrics: readonly (readonly [metric: MetricPlan, value: number, text: string])[] = [
  [{ key: "latency", statistic: 50 }, 2e6, "p50 latency = 2 ms"],
  [{ key: "scheduledLatency", statistic: 50 }, 7e6, "p50 scheduled latency = 7 ms"],
  [{ key: "latency", statistic: "mean" }, 2e6, "mean latency = 2 ms"],
  [{ key: "scheduledLatency", statistic: "mean" }, 7e6, "mean scheduled latency = 7 ms"],
  [{ key: "throughput" }, 12, "throughput = 12 infer/s"],
  [{ key: "errorRate" }, 0.25, "error rate = 25 %"],
];

for (const [metric, value, text] of metrics) {
  test(`an assertion reads: ${text}`, () => {
    const window = makeWindow({ latenciesNs: [2e6, 2e6, 2e6], scheduledNs: [7e6, 7e6, 7e6], failedCount: 1 });
    const verdict = judge({ metric, comparison: "is", limit: value }, [{ level: 3, window }], 4);
    assert.deepEqual([verdict.state, verdict.measured, verdict.text], ["pass", value, text]);
    assert.equal(`${text.split(" = ")[1]}`, formatMetric(metric, value));
  });
}

test("an assertion must hold at every level, and the worst one is shown", () => {
  const levels = [3, 9, 5].map((ms, index) => ({ level: index + 1, window: makeWindow({ latenciesNs: many(ms) }) }));
  const verdict = judge({ metric: p99, comparison: "below", limit: 8e6 }, levels, 1);
  assert.deepEqual([verdict.state, verdict.level, verdict.measured], ["fail", 2, 9e6]);
  const met = judge({ metric: p99, comparison: "below", limit: 10e6 }, levels, 1);
  assert.deepEqual([met.state, met.level], ["pass", 2]);
  const least = judge({ metric: p99, comparison: "at-least", limit: 4e6 }, levels, 1);
  assert.deepEqual([least.state, least.level, least.measured], ["fail", 1, 3e6]);
  const nearest = judge({ metric: p99, comparison: "is", limit: 5e6 }, levels, 1);
  assert.deepEqual([nearest.state, nearest.level], ["fail", 2]);
});

test("without a measurement an assertion is unresolved", () => {
  const empty = { level: 1, window: makeWindow({ latenciesNs: [], failedCount: 0 }) };
  const stateOf = (metric: MetricPlan, levels: Parameters<typeof judge>[1]) =>
    judge({ metric, comparison: "below", limit: 1e9 }, levels, 1).state;
  assert.equal(stateOf(rate, []), "unresolved");
  assert.equal(judge({ metric: p99, comparison: "below", limit: 1e9 }, [empty], 1).measured, undefined);
  assert.equal(stateOf(p99, [empty]), "unresolved");
  assert.equal(stateOf({ key: "errorRate" }, [empty]), "unresolved");
  // The level that was not measured is named, unless another one fails.
  const partly = judge({ metric: p99, comparison: "below", limit: 1e9 }, [level, { ...empty, level: 2 }], 1);
  assert.deepEqual([partly.state, partly.level, partly.measured], ["unresolved", 2, undefined]);
  const broken = judge({ metric: p99, comparison: "below", limit: 1e6 }, [level, { ...empty, level: 2 }], 1);
  assert.deepEqual([broken.state, broken.level, broken.measured], ["fail", 1, 2e6]);
});

test("an error rate is known even when every request failed", () => {
  const failed = { level: 1, window: makeWindow({ latenciesNs: [], failedCount: 4 }) };
  const verdict = judge({ metric: { key: "errorRate" }, comparison: "is", limit: 0 }, [failed], 1);
  assert.deepEqual([verdict.state, verdict.measured], ["fail", 1]);
});

test("over runs an assertion is judged on the mean, with its interval", () => {
  const runOf = (...latenciesMs: readonly number[]) =>
    latenciesMs.map((ms, index) => ({ level: index + 1, window: makeWindow({ latenciesNs: many(ms) }) }));
  const below: AssertionPlan = { metric: p99, comparison: "below", limit: 10e6 };
  const met = judgeRuns(below, [runOf(5, 8), runOf(5, 8.1), runOf(5, 8), runOf(5, 8.2), runOf(5, 10.1)], 1);
  assert.deepEqual([met.state, met.level, met.runCount, met.metCount], ["pass", 2, 5, 4]);
  assert.ok(Math.abs((met.measured as number) - 42.4e6 / 5) < 1);
  assert.ok((met.low as number) < 42.4e6 / 5 && (met.high as number) > 42.4e6 / 5);
  const close = judgeRuns(below, [runOf(5, 8), runOf(5, 13)], 1);
  assert.deepEqual([close.state, close.measured, close.metCount], ["unresolved", 10.5e6, 1]);
  const broken = judgeRuns(below, [runOf(5, 13), runOf(5, 13.1), runOf(5, 9.9), runOf(5, 13), runOf(5, 13)], 1);
  assert.deepEqual([broken.state, broken.metCount], ["fail", 1]);
  // Two runs that pass on their own pass together, though the interval of two runs is wide.
  assert.equal(judgeRuns(below, [runOf(5, 6), runOf(5, 9)], 1).state, "pass");
  // A level that a run lacks has no mean over the runs.
  const missing = judgeRuns(below, [runOf(5, 8), runOf(5)], 1);
  assert.deepEqual([missing.state, missing.level, missing.metCount], ["unresolved", 2, 2]);
  const none = judgeRuns(below, [], 1);
  assert.deepEqual([none.state, none.measured, none.runCount], ["unresolved", undefined, 0]);
  const failures = { metric: { key: "errorRate" }, comparison: "is", limit: 0 } as const;
  const failed = [{ level: 1, window: makeWindow({ failedCount: 1 }) }];
  assert.equal(judgeRuns(failures, [runOf(5), runOf(5)], 1).state, "pass");
  assert.equal(judgeRuns(failures, [runOf(5), failed], 1).state, "fail");
});

test("phases with the same load are levels of their own over runs", () => {
  const runOf = (...latenciesMs: readonly number[]) =>
    latenciesMs.map((ms, index) => ({ level: 4, phase: { index }, window: makeWindow({ latenciesNs: many(ms) }) }));
  const below: AssertionPlan = { metric: p99, comparison: "below", limit: 10e6 };
  const verdict = judgeRuns(below, [runOf(5, 8), runOf(7, 9.9)], 1);
  assert.deepEqual(
    [verdict.state, verdict.level, verdict.phaseIndex, verdict.measured, verdict.metCount],
    ["pass", 4, 1, 8.95e6, 2],
  );
  // Only phases with a schedule have a latency from the due time.
  const due = { ...below, metric: { ...p99, key: "scheduledLatency" } } as AssertionPlan;
  const window = makeWindow({ latenciesNs: many(9), scheduledNs: many(8) });
  const rated = { level: 100, phase: { index: 2 }, window };
  const withDue = [...runOf(50, 50), rated];
  const dueVerdict = judgeRuns(due, [withDue, withDue], 1);
  assert.deepEqual(
    [dueVerdict.state, dueVerdict.level, dueVerdict.phaseIndex, dueVerdict.measured, dueVerdict.runCount],
    ["pass", 100, 2, 8e6, 2],
  );
});

test("an assertion on a phase is judged at its levels only", () => {
  const levels = ["busy", "calm"].map((label, index) => ({
    ...{ level: 4, phase: { index, label }, window: makeWindow({ latenciesNs: many(index === 0 ? 50 : 5) }) },
  }));
  const below: AssertionPlan = { metric: p99, comparison: "below", limit: 10e6 };
  const at = (phase: string) => judge({ ...below, phase }, levels, 1);
  assert.deepEqual([at("busy").state, at("busy").measured, at("busy").phaseIndex], ["fail", 50e6, 0]);
  assert.deepEqual([at("calm").state, at("calm").measured, at("calm").phaseIndex], ["pass", 5e6, 1]);
  assert.equal(at("calm").text, "p99 latency where phase is calm < 10 ms");
  assert.equal(judgeRuns({ ...below, phase: "calm" }, [levels, levels], 1).state, "pass");
  // Nothing measured in the phase decides nothing.
  assert.equal(judge({ ...below, phase: "calm" }, levels.slice(0, 1), 1).state, "unresolved");
});

test("loads that differ between runs are judged together when they have the same identity", () => {
  const runOf = (level: number, ms: number) => [{ level, window: makeWindow({ latenciesNs: many(ms) }) }];
  const below: AssertionPlan = { metric: p99, comparison: "below", limit: 10e6 };
  const judgeHighest = (runs: ReturnType<typeof runOf>[]) => judgeRuns(below, runs, 1, undefined, () => "highest");
  const differing = judgeHighest([runOf(4, 6), runOf(5, 8)]);
  assert.deepEqual([differing.state, differing.level, differing.measured], ["pass", undefined, 7e6]);
  const same = judgeHighest([runOf(5, 6), runOf(5, 8)]);
  assert.deepEqual([same.state, same.level, same.measured], ["pass", 5, 7e6]);
  const missing = judgeHighest([runOf(5, 6), []]);
  assert.deepEqual([missing.state, missing.runCount], ["unresolved", 2]);
});

test("an assertion on tags is judged by the requests that have them, and not met at a level without any", () => {
  const levelOf = (level: number, lengths: Readonly<Record<string, number>>) => {
    const groups = Object.entries(lengths).map(([length, ms]) => ({
      tags: { length },
      window: makeWindow({ latenciesNs: many(ms) }),
    }));
    return {
      level,
      window: { ...makeWindow({ latenciesNs: Object.values(lengths).flatMap((ms) => many(ms)) }), groups },
    };
  };
  const long = { metric: p99, comparison: "below", limit: 8e6, where: { length: "long" } } as const;
  const levels = [levelOf(1, { long: 5, short: 20 }), levelOf(2, { long: 7 })];
  const verdict = judge(long, levels, 1);
  assert.deepEqual(
    [verdict.state, verdict.level, verdict.measured, verdict.text],
    ["pass", 2, 7e6, "p99 latency where length is long < 8 ms"],
  );
  const absent = judge(long, [...levels, levelOf(3, { short: 1 })], 1);
  assert.deepEqual([absent.state, absent.reason], ["unresolved", "no request had these tags"]);
});

describe("a percentile that the sample cannot show is unresolved", () => {
  const stateOf = (percentile: number, comparison: AssertionPlan["comparison"], limitMs: number, ...ms: number[]) =>
    judge(
      { metric: { key: "latency", statistic: percentile }, comparison, limit: limitMs * 1e6 },
      [{ level: 1, window: makeWindow({ latenciesNs: ms.map((one) => one * 1e6) }) }],
      1,
    );
  const all = (count: number, ms: number): number[] => new Array<number>(count).fill(ms);

  // 0.99 ** 298 is above 5 %, and 0.99 ** 299 below: scipy.stats.binomtest(0, 299, 0.01).
  for (const [percentile, needed] of [
    [50, 5],
    [90, 29],
    [95, 59],
    [99, 299],
    [99.9, 2995],
  ] as const) {
    test(`p${percentile} needs ${needed} requests below its limit`, () => {
      const few = stateOf(percentile, "below", 25, ...all(needed - 1, 1));
      assert.equal(few.state, "unresolved");
      assert.equal(few.reason, `p${percentile} needs ${formatCount(needed)} requests, has ${formatCount(needed - 1)}`);
      assert.equal(stateOf(percentile, "below", 25, ...all(needed, 1)).state, "pass");
    });
  }

  test("one request above the limit of p99 is enough to fail, and one in 50 is not", () => {
    assert.equal(stateOf(99, "below", 25, 30).state, "fail");
    assert.equal(stateOf(99, "below", 25, ...all(49, 1), 30).state, "unresolved");
    // scipy.stats.binom.sf(1, 20, 0.01) is 0.017.
    assert.equal(stateOf(99, "below", 25, ...all(5, 1), 30, ...all(7, 1), 30, ...all(6, 1)).state, "fail");
  });

  test("a limit close to the percentile is unresolved on both sides of it, and farther away it is not", () => {
    // Every fiftieth to two hundredth of 2,000 requests is slow.
    const withSlow = (every: number) => Array.from({ length: 2000 }, (_, index) => (index % every === 7 ? 30 : 1));
    const states = [50, 90, 100, 110, 200].map((every) => stateOf(99, "below", 25, ...withSlow(every)).state);
    assert.deepEqual(states, ["fail", "unresolved", "unresolved", "unresolved", "pass"]);
    assert.match(stateOf(99, "below", 25, ...withSlow(100)).reason ?? "", /too close to the limit/);
  });

  test("lower limits are judged by the same rule", () => {
    assert.equal(stateOf(99, "above", 25, 30).state, "pass");
    assert.equal(stateOf(50, "above", 25, ...all(4, 30)).state, "unresolved");
    assert.equal(stateOf(50, "above", 25, ...all(5, 30)).state, "pass");
    assert.equal(stateOf(50, "above", 25, ...all(5, 20)).state, "fail");
  });
});

test("a wrong pass or fail of a percentile is rarer than 5 %", () => {
  // A limit at the true p99 of independent latencies: both are wrong, and the result should be unresolved.
  const next = createRandom(7);
  const counts = { pass: 0, fail: 0, unresolved: 0 };
  for (let run = 0; run < 400; run++) {
    const latenciesNs = Array.from({ length: 1000 }, () => Math.round(-Math.log(1 - next()) * 10e6));
    const assertion = { metric: p99, comparison: "below", limit: Math.round(-Math.log(0.01) * 10e6) } as const;
    counts[judge(assertion, [{ level: 1, window: makeWindow({ latenciesNs }) }], 1).state]++;
  }
  assert.ok(counts.pass <= 30 && counts.fail <= 30, JSON.stringify(counts));
});

test("a mean is judged by its interval, and by nothing when there is one request", () => {
  const mean: MetricPlan = { key: "latency", statistic: "mean" };
  const stateOf = (limitMs: number, ...ms: number[]) =>
    judge(
      { metric: mean, comparison: "below", limit: limitMs * 1e6 },
      [{ level: 1, window: makeWindow({ latenciesNs: ms.map((one) => one * 1e6) }) }],
      1,
    ).state;
  assert.equal(stateOf(25, 1), "unresolved");
  assert.equal(stateOf(25, 1, 2, 1, 2, 1, 2, 1, 2), "pass");
  assert.equal(stateOf(1.55, 1, 2, 1, 2, 1, 2, 1, 2), "unresolved");
  assert.equal(stateOf(0.5, 1, 2, 1, 2, 1, 2, 1, 2), "fail");
});

test("fail outweighs unresolved, which outweighs pass", () => {
  assert.equal(worstState([]), "pass");
  assert.equal(worstState(["pass", "unresolved", "pass"]), "unresolved");
  assert.equal(worstState(["unresolved", "fail", "pass"]), "fail");
});

test("an interval decides when the limit is outside of it", () => {
  const stateOf = (low: number | null, high: number | null): string =>
    judgeInterval({ comparison: "below", limit: 10 }, { value: 9, low, high });
  assert.deepEqual(
    [stateOf(1, 9), stateOf(10, 12), stateOf(8, 12), stateOf(8, null), stateOf(12, null), stateOf(null, null)],
    ["pass", "fail", "unresolved", "unresolved", "fail", "unresolved"],
  );
});

test("the result of a percentile is monotone in the number of requests beyond its limit", () => {
  const order = ["pass", "unresolved", "fail"];
  for (const percentile of [50, 90, 99]) {
    let worst = 0;
    for (let aboveCount = 0; aboveCount <= 400; aboveCount++) {
      const at = order.indexOf(judgePercentile("below", percentile, { count: 400, aboveCount }));
      assert.ok(at >= worst, `p${percentile}, ${aboveCount}`);
      worst = at;
    }
    assert.equal(worst, 2);
  }
  assert.deepEqual(
    [50, 90, 99].map((percentile) => requestsToShow("below", percentile)),
    [5, 29, 299],
  );
});
