import assert from "node:assert/strict";
import { test } from "node:test";
import { averageUs, type ServerDelta, subtractCounters, sumDeltas } from "../../src/measure/server-delta.ts";
import { formatMetric, judge } from "../../src/measure/verdicts.ts";
import type { AssertionPlan, MetricPlan } from "../../src/plan/assertions.ts";
import type { ServerCounters } from "../../src/service/statistics.ts";
import { makeDelta, makeWindow } from "./make-window.ts";

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

function counters(version: string, count: number, change: Partial<ServerCounters> = {}): ServerCounters {
  return { ...makeDelta(count), name: "simple", version, ...change };
}

const simple = { name: "simple", version: "", composing: [] };

test("the change of counters is a difference, field by field", () => {
  const result = subtractCounters([counters("1", 10)], [counters("1", 25)], simple);
  assert.deepEqual(result, makeDelta(15));
});

test("without a version asked for the highest one that moved counts", () => {
  const before = ["1", "9", "10"].map((version) => counters(version, 5));
  const after = [counters("1", 8), counters("9", 7), counters("10", 6)];
  const result = subtractCounters(before, after, simple);
  assert.deepEqual([result?.version, result?.successCount, result?.hasManyVersions], ["10", 1, true]);
  const one = subtractCounters(before, [counters("1", 8), ...before.slice(1)], simple);
  assert.deepEqual([one?.version, one?.hasManyVersions], ["1", false]);
});

test("a version asked for counts alone, moved or not; other models never", () => {
  const before = [counters("1", 5), counters("2", 5)];
  const after = [counters("1", 5), counters("2", 9), counters("1", 50, { name: "other" })];
  assert.equal(subtractCounters(before, after, { ...simple, version: "1" })?.successCount, 0);
  assert.equal(subtractCounters(before, before, simple), undefined);
  assert.equal(subtractCounters(before, after, { ...simple, name: "absent" }), undefined);
});

test("a version that was loaded meanwhile counts from nothing; counters that fell tell nothing", () => {
  const loaded = subtractCounters([counters("1", 5)], [counters("1", 5), counters("2", 3)], simple);
  assert.deepEqual([loaded?.version, loaded?.successCount, loaded?.hasManyVersions], ["2", 3, false]);
  const asked = { ...simple, version: "1" };
  assert.equal(subtractCounters([counters("1", 50)], [counters("1", 4)], asked), undefined);
  assert.equal(subtractCounters([counters("1", 50)], [counters("1", 4)], simple), undefined);
});

test("a version loaded meanwhile counts from zero", () => {
  assert.deepEqual(subtractCounters([], [counters("3", 4)], simple), makeDelta(4, { version: "3" }));
});

test("models that are called are told with their caller, sorted, each version once", () => {
  const ids = (delta: ServerDelta | undefined): string[] =>
    (delta?.composing ?? []).map(({ name, version, successCount }) => `${name}:${version} ${successCount}`);
  const leaf = { name: "leaf", version: "1", composing: [] };
  const model = {
    ...simple,
    composing: [
      { name: "two", version: "", composing: [] },
      { name: "two", version: "1", composing: [] },
      { name: "away", version: "", composing: [] },
      { name: "idle", version: "", composing: [leaf] },
      { name: "nested", version: "", composing: [leaf, { ...leaf, version: "" }] },
    ],
  };
  const others = (count: number): ServerCounters[] => [
    counters("1", count, { name: "leaf" }),
    counters("1", count, { name: "nested" }),
    counters("2", 7, { name: "idle" }),
    counters("10", 7, { name: "idle" }),
    counters("1", count, { name: "two" }),
    counters("3", 2 * count, { name: "two" }),
  ];
  const delta = subtractCounters([counters("1", 1), ...others(1)], [counters("1", 5), ...others(5)], model);
  assert.deepEqual(ids(delta), ["away: 0", "idle:10 0", "nested:1 4", "two:1 4", "two:3 8"]);
  assert.deepEqual(ids(delta?.composing[2]), ["leaf:1 4"]);
  // What was asked for by version and moved is no doubt; two versions that moved by themselves are.
  assert.deepEqual(
    delta?.composing.map(({ hasManyVersions }) => hasManyVersions),
    new Array(5).fill(false),
  );
  const alone = { ...simple, composing: [{ name: "two", version: "", composing: [] }] };
  const many = subtractCounters([counters("1", 1), ...others(1)], [counters("1", 5), ...others(5)], alone);
  assert.deepEqual([ids(many), many?.composing[0]?.hasManyVersions], [["two:3 8"], true]);
  const sum = sumDeltas([delta, many]);
  assert.deepEqual(ids(sum), ["away: 0", "idle:10 0", "nested:1 4", "two:1 4", "two:3 16"]);
  assert.deepEqual(ids(sum?.composing[2]), ["leaf:1 4"]);
});

test("changes of several windows add up, unless one is unknown", () => {
  assert.deepEqual(sumDeltas([makeDelta(1), makeDelta(2), makeDelta(3)]), makeDelta(6));
  assert.equal(sumDeltas([makeDelta(1), undefined]), undefined);
  assert.equal(sumDeltas([]), undefined);
});

test("averages are whole microseconds, rounded down; none without occurrences", () => {
  assert.deepEqual([averageUs(3_999_000, 2), averageUs(999, 1), averageUs(5, 0)], [1999, 0, 0]);
});
