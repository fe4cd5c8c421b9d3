import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  combineStates,
  isShareBroken,
  isShareKept,
  judgeLimits,
  type LimitState,
  requestsAbove,
} from "../../../src/measure/limits/judge-limits.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

/** 400 latencies of 1 to 2 ms: the interval of p50 is about 1.45 to 1.55 ms. */
const window = makeWindow({
  latenciesNs: Array.from({ length: 400 }, (_, index) => 1e6 + ((index * 617) % 1000) * 1000),
});

function stateOf(comparison: AssertionPlan["comparison"], limitMs: number): LimitState | undefined {
  const limit: AssertionPlan = {
    metric: { key: "latency", statistic: 50 },
    comparison,
    limit: limitMs * 1e6,
  };
  return judgeLimits([limit], { window }, 1)[0]?.state;
}

describe("a limit of p50, which is 1.5 ms, is", () => {
  const cases: readonly (readonly [AssertionPlan["comparison"], limitMs: number, LimitState])[] = [
    ["below", 2, "kept"],
    ["below", 1.5, "unresolved"],
    ["below", 1.2, "broken"],
    ["at-most", 2, "kept"],
    ["at-most", 1.2, "broken"],
    ["above", 1.2, "kept"],
    ["above", 1.5, "unresolved"],
    ["above", 2, "broken"],
    ["at-least", 1.2, "kept"],
    ["at-least", 2, "broken"],
  ];
  for (const [comparison, limitMs, state] of cases)
    test(`${state} with ${comparison} ${limitMs} ms`, () => assert.equal(stateOf(comparison, limitMs), state));
});

test("an exact limit is kept or broken by its value", () => {
  const limit: AssertionPlan = { metric: { key: "errorRate" }, comparison: "is", limit: 0 };
  const failing = makeWindow({ failedCount: 1 });
  const states = [window, failing].map((one) => judgeLimits([limit], { window: one }, 1)[0]?.state);
  assert.deepEqual(states, ["kept", "broken"]);
});

test("a limit without a value is unresolved", () => {
  const empty = makeWindow({ latenciesNs: [] });
  const limit: AssertionPlan = { metric: { key: "latency", statistic: "mean" }, comparison: "below", limit: 1 };
  assert.deepEqual(judgeLimits([limit], { window: empty }, 1), [{ limit, state: "unresolved" }]);
});

test("several limits are broken when one is, and kept when all are", () => {
  assert.equal(combineStates(["kept", "kept"]), "kept");
  assert.equal(combineStates(["kept", "unresolved"]), "unresolved");
  assert.equal(combineStates(["unresolved", "broken", "kept"]), "broken");
});

const p90 = (limit: number, comparison: AssertionPlan["comparison"] = "below"): AssertionPlan => ({
  ...{ metric: { key: "latency", statistic: 90 }, comparison, limit },
});
/** 1 to 1000 ms, always slower. */
const level = {
  level: 1,
  window: makeWindow({ latenciesNs: Array.from({ length: 1000 }, (_, at) => (at + 1) * 1e6) }),
};

test("the share of requests above a limit is exact, with a small effective sample when they follow each other", () => {
  assert.equal(requestsAbove(p90(751e6), level, 0.95)?.aboveCount, 250);
  assert.ok((requestsAbove(p90(751e6), level, 0.95)?.effectiveCount ?? 1000) < 20);
});

test("when all or none are above a limit, it does not matter how they change", () => {
  assert.deepEqual(requestsAbove(p90(0.5e6), level, 0.95), { count: 1000, aboveCount: 1000, effectiveCount: 1000 });
  assert.deepEqual(requestsAbove(p90(2e9), level, 0.95), { count: 1000, aboveCount: 0, effectiveCount: 1000 });
});

test("only limits of percentiles have a share", () => {
  assert.equal(requestsAbove(p90(501e6, "above"), level, 0.95)?.aboveCount, 499);
  assert.equal(requestsAbove(p90(501e6, "at-least"), level, 0.95)?.aboveCount, 500);
  assert.equal(requestsAbove({ ...p90(1e6), metric: { key: "latency", statistic: "mean" } }, level, 0.95), undefined);
  assert.equal(requestsAbove(p90(1e6), { window: makeWindow({ latenciesNs: [] }) }, 0.95), undefined);
});

test("a share breaks or keeps a limit when a binomial variable is that far off with a smaller probability than the error", () => {
  // Of 10, with the probability 0.1: 4 or more 1.28 %, 5 or more 0.16 %. None of 43: 1.08 %, of 44: 0.97 %.
  const of = (count: number, aboveCount: number) => ({ count, aboveCount, effectiveCount: count });
  assert.deepEqual(
    [of(10, 4), of(10, 5)].map((above) => isShareBroken(p90(1), above, 0.01)),
    [false, true],
  );
  assert.deepEqual(
    [of(43, 0), of(44, 0)].map((above) => isShareKept(p90(1), above, 0.01)),
    [false, true],
  );
  assert.deepEqual(
    [of(43, 0), of(44, 0)].map((above) => isShareBroken(p90(1, "above"), above, 0.01)),
    [false, true],
  );
  assert.equal(isShareBroken(p90(1), of(1e6, 5e4), 0.5), false);
});

test("p99 far below its limit is kept by as many requests as the share above the limit needs", () => {
  // None of 368 has a probability of 2.48 % when 1 % may be above.
  const states = [367, 368].map((count) => {
    const one = makeWindow({ latenciesNs: Array.from({ length: count }, (_, at) => 1e6 + ((at * 617) % 1000)) });
    return judgeLimits([{ ...p90(50e6), metric: { key: "latency", statistic: 99 } }], { window: one }, 1)[0]?.state;
  });
  assert.deepEqual(states, ["unresolved", "kept"]);
});

test("a short time without a late request does not show that a slow queue keeps its limit", () => {
  // Latencies go up and down once in the measured time, and stay below the limit.
  const slow = makeWindow({ latenciesNs: Array.from({ length: 2000 }, (_, at) => 6e6 + 3e6 * Math.sin(at / 300)) });
  const limit = (ns: number): AssertionPlan => ({ ...p90(ns), metric: { key: "latency", statistic: 99 } });
  assert.equal(judgeLimits([limit(10e6)], { window: slow }, 1)[0]?.state, "unresolved");
});

test("a small drift does not keep a percentile from being far below its limit", () => {
  // The percentile is worth few independent requests, and 250 standard deviations away from 50 ms.
  const drifting = makeWindow({
    latenciesNs: Array.from({ length: 400 }, (_, at) => 2e6 + at * 500 + ((at * 617) % 1000) * 100),
  });
  const stateAt = (ns: number) => judgeLimits([p90(ns)], { window: drifting }, 1)[0]?.state;
  assert.deepEqual([50e6, 2.2e6, 1e5].map(stateAt), ["kept", "unresolved", "broken"]);
  const p99 = { ...p90(50e6), metric: { key: "latency", statistic: 99 } } as const;
  assert.equal(judgeLimits([p99], { window: drifting }, 1)[0]?.state, "kept");
});

test("a mean breaks its limit when certainly more than half of the requests take twice as long, however they change", () => {
  const growing = makeWindow({ latenciesNs: Array.from({ length: 400 }, (_, at) => (at + 60) * 1e6) });
  const mean = (limit: number): AssertionPlan => ({
    ...p90(limit),
    metric: { key: "latency", statistic: "mean" },
  });
  const states = [20e6, 150e6].map((limit) => judgeLimits([mean(limit)], { window: growing }, 1)[0]?.state);
  assert.deepEqual(states, ["broken", "unresolved"]);
});
