import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMetric, judge, judgeRuns } from "../../src/measure/verdicts.ts";
import type { AssertionPlan, MetricPlan } from "../../src/plan/assertions.ts";
import { makeWindow } from "./make-window.ts";

const p99: MetricPlan = { kind: "latency-percentile", percentile: 99, of: "latency" };
const rate: MetricPlan = { kind: "throughput" };

/** Three requests of 2 ms in a second: p99 is 2 ms, throughput 3. */
const level = { level: 1, window: makeWindow({ latenciesNs: [2e6, 2e6, 2e6] }) };

const comparisons: readonly (readonly [
  comparison: AssertionPlan["comparison"],
  limitMs: number,
  isMet: boolean,
  said: string,
])[] = [
  ["below", 2.001, true, "below"],
  ["below", 2, false, "below"],
  ["at-most", 2, true, "at most"],
  ["at-most", 1.999, false, "at most"],
  ["above", 1.999, true, "above"],
  ["above", 2, false, "above"],
  ["at-least", 2, true, "at least"],
  ["at-least", 2.001, false, "at least"],
  ["is", 2, true, "is"],
  ["is", 2.001, false, "is"],
];

for (const [comparison, limitMs, isMet, said] of comparisons) {
  test(`2 ms ${comparison} ${limitMs} ms is ${isMet}`, () => {
    const verdict = judge({ metric: p99, comparison, limit: limitMs * 1e6 }, [level], 1);
    assert.equal(verdict.isMet, isMet);
    assert.equal(verdict.measured, 2e6);
    assert.equal(verdict.level, 1);
    assert.equal(verdict.text, `p99 latency ${said} ${limitMs} ms`);
  });
}

const metrics: readonly (readonly [metric: MetricPlan, value: number, text: string])[] = [
  [{ kind: "latency-percentile", percentile: 50, of: "latency" }, 2e6, "p50 latency is 2 ms"],
  [{ kind: "latency-percentile", percentile: 50, of: "scheduledLatency" }, 7e6, "p50 scheduled latency is 7 ms"],
  [{ kind: "latency-average", of: "latency" }, 2e6, "average latency is 2 ms"],
  [{ kind: "latency-average", of: "scheduledLatency" }, 7e6, "average scheduled latency is 7 ms"],
  [{ kind: "throughput" }, 12, "throughput is 12 infer/s"],
  [{ kind: "error-ratio" }, 0.25, "error rate is 25 %"],
];

for (const [metric, value, text] of metrics) {
  test(`an assertion reads: ${text}`, () => {
    const window = makeWindow({ latenciesNs: [2e6, 2e6, 2e6], scheduledNs: [7e6, 7e6, 7e6], failedCount: 1 });
    const verdict = judge({ metric, comparison: "is", limit: value }, [{ level: 3, window }], 4);
    assert.deepEqual([verdict.isMet, verdict.measured, verdict.text], [true, value, text]);
    assert.equal(`${text.split(" is ")[1]}`, formatMetric(metric, value));
  });
}

test("an assertion must hold at every level, and the worst one is shown", () => {
  const levels = [3, 9, 5].map((ms, index) => ({ level: index + 1, window: makeWindow({ latenciesNs: [ms * 1e6] }) }));
  const verdict = judge({ metric: p99, comparison: "below", limit: 8e6 }, levels, 1);
  assert.deepEqual([verdict.isMet, verdict.level, verdict.measured], [false, 2, 9e6]);
  const met = judge({ metric: p99, comparison: "below", limit: 10e6 }, levels, 1);
  assert.deepEqual([met.isMet, met.level], [true, 2]);
  const least = judge({ metric: p99, comparison: "at-least", limit: 4e6 }, levels, 1);
  assert.deepEqual([least.isMet, least.level, least.measured], [false, 1, 3e6]);
  const nearest = judge({ metric: p99, comparison: "is", limit: 5e6 }, levels, 1);
  assert.deepEqual([nearest.isMet, nearest.level], [false, 2]);
});

test("without a measurement nothing is met", () => {
  const empty = { level: 1, window: makeWindow({ latenciesNs: [], failedCount: 0 }) };
  assert.equal(judge({ metric: rate, comparison: "above", limit: 0 }, [], 1).isMet, false);
  assert.deepEqual(judge({ metric: p99, comparison: "below", limit: 1e9 }, [empty], 1).measured, undefined);
  assert.equal(judge({ metric: p99, comparison: "below", limit: 1e9 }, [empty], 1).isMet, false);
  assert.equal(judge({ metric: p99, comparison: "below", limit: 1e9 }, [level, empty], 1).isMet, false);
  assert.equal(judge({ metric: { kind: "error-ratio" }, comparison: "is", limit: 0 }, [empty], 1).isMet, false);
});

test("an error rate is known even when every request failed", () => {
  const failed = { level: 1, window: makeWindow({ latenciesNs: [], failedCount: 4 }) };
  const verdict = judge({ metric: { kind: "error-ratio" }, comparison: "is", limit: 0 }, [failed], 1);
  assert.deepEqual([verdict.isMet, verdict.measured], [false, 1]);
});

test("over runs an assertion is judged on the mean, with its interval", () => {
  const runOf = (...latenciesMs: readonly number[]) =>
    latenciesMs.map((ms, index) => ({ level: index + 1, window: makeWindow({ latenciesNs: [ms * 1e6] }) }));
  const below: AssertionPlan = { metric: p99, comparison: "below", limit: 10e6 };
  const met = judgeRuns(below, [runOf(5, 8), runOf(5, 9), runOf(5, 12)], 1);
  assert.deepEqual([met.isMet, met.level, met.runCount, met.metCount], [true, 2, 3, 2]);
  assert.ok(Math.abs((met.measured as number) - 29e6 / 3) < 1);
  assert.ok((met.low as number) < 29e6 / 3 && (met.high as number) > 29e6 / 3);
  const broken = judgeRuns(below, [runOf(5, 8), runOf(5, 13)], 1);
  assert.deepEqual([broken.isMet, broken.measured, broken.metCount], [false, 10.5e6, 1]);
  // A level that a run lacks has no mean over the runs.
  const missing = judgeRuns(below, [runOf(5, 8), runOf(5)], 1);
  assert.deepEqual([missing.isMet, missing.level, missing.metCount], [false, 1, 2]);
  const none = judgeRuns(below, [], 1);
  assert.deepEqual([none.isMet, none.measured, none.runCount], [false, undefined, 0]);
  const failures = { metric: { kind: "error-ratio" }, comparison: "is", limit: 0 } as const;
  const failed = [{ level: 1, window: makeWindow({ failedCount: 1 }) }];
  assert.equal(judgeRuns(failures, [runOf(5), runOf(5)], 1).isMet, true);
  assert.equal(judgeRuns(failures, [runOf(5), failed], 1).isMet, false);
});

test("phases with the same load are levels of their own over runs", () => {
  const runOf = (...latenciesMs: readonly number[]) =>
    latenciesMs.map((ms, index) => ({ level: 4, phase: { index }, window: makeWindow({ latenciesNs: [ms * 1e6] }) }));
  const below: AssertionPlan = { metric: p99, comparison: "below", limit: 10e6 };
  const verdict = judgeRuns(below, [runOf(5, 8), runOf(7, 10)], 1);
  assert.deepEqual(
    [verdict.isMet, verdict.level, verdict.phaseIndex, verdict.measured, verdict.metCount],
    [true, 4, 1, 9e6, 1],
  );
  // Only phases with a schedule have a latency from the due time.
  const due = { ...below, metric: { ...p99, of: "scheduledLatency" } } as AssertionPlan;
  const window = makeWindow({ latenciesNs: [9e6] });
  const scheduledLatency = makeWindow({ latenciesNs: [8e6] }).latency;
  const rated = { level: 100, phase: { index: 2 }, window: { ...window, scheduledLatency } };
  const withDue = [...runOf(50, 50), rated];
  const dueVerdict = judgeRuns(due, [withDue, withDue], 1);
  assert.deepEqual(
    [dueVerdict.isMet, dueVerdict.level, dueVerdict.phaseIndex, dueVerdict.measured, dueVerdict.runCount],
    [true, 100, 2, 8e6, 2],
  );
});

test("loads that differ between runs are judged together when they have the same identity", () => {
  const runOf = (level: number, ms: number) => [{ level, window: makeWindow({ latenciesNs: [ms * 1e6] }) }];
  const below: AssertionPlan = { metric: p99, comparison: "below", limit: 10e6 };
  const judgeHighest = (runs: ReturnType<typeof runOf>[]) => judgeRuns(below, runs, 1, undefined, () => "highest");
  const differing = judgeHighest([runOf(4, 6), runOf(5, 8)]);
  assert.deepEqual([differing.isMet, differing.level, differing.measured], [true, undefined, 7e6]);
  const same = judgeHighest([runOf(5, 6), runOf(5, 8)]);
  assert.deepEqual([same.isMet, same.level, same.measured], [true, 5, 7e6]);
  const missing = judgeHighest([runOf(5, 6), []]);
  assert.deepEqual([missing.isMet, missing.runCount], [false, 2]);
});

test("an assertion on tags is judged by the requests that have them, and not met at a level without any", () => {
  const levelOf = (level: number, lengths: Readonly<Record<string, number>>) => {
    const groups = Object.entries(lengths).map(([length, ms]) => ({
      tags: { length },
      window: makeWindow({ latenciesNs: [ms * 1e6] }),
    }));
    return { level, window: { ...makeWindow({ latenciesNs: Object.values(lengths).map((ms) => ms * 1e6) }), groups } };
  };
  const long = { metric: p99, comparison: "below", limit: 8e6, where: { length: "long" } } as const;
  const levels = [levelOf(1, { long: 5, short: 20 }), levelOf(2, { long: 7 })];
  const verdict = judge(long, levels, 1);
  assert.deepEqual(
    [verdict.isMet, verdict.level, verdict.measured, verdict.text],
    [true, 2, 7e6, "p99 latency where length is long below 8 ms"],
  );
  const absent = judge(long, [...levels, levelOf(3, { short: 1 })], 1);
  assert.deepEqual([absent.isMet, absent.reason], [false, "no request had these tags"]);
});
