import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  combineStates,
  errorOfLook,
  isTooMany,
  judgeLimits,
  LIMIT_ERROR,
  type LimitState,
  planLooks,
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

test("a percentile that a table marks as too few samples keeps no limit, and breaks one by the requests above it", () => {
  const p99 = (limitMs: number): AssertionPlan => ({
    metric: { key: "latency", statistic: 99 },
    comparison: "below",
    limit: limitMs * 1e6,
  });
  const more = makeWindow({
    latenciesNs: Array.from({ length: 800 }, (_, index) => 1e6 + ((index * 617) % 1000) * 1000),
  });
  const states = [window, more].map((one) =>
    judgeLimits([p99(50), p99(1.5)], { window: one }, 1).map(({ state }) => state),
  );
  assert.deepEqual(states, [
    ["unresolved", "broken"],
    ["kept", "broken"],
  ]);
});

test("an exact limit is kept or broken by its value", () => {
  const limit: AssertionPlan = { metric: { key: "errorRate" }, comparison: "is", limit: 0 };
  const failing = makeWindow({ failedCount: 1 });
  const states = [window, failing].map((one) => judgeLimits([limit], { window: one }, 1)[0]?.state);
  assert.deepEqual(states, ["kept", "broken"]);
});

test("a limit without a value is unresolved", () => {
  const empty = makeWindow({ latenciesNs: [] });
  const limit: AssertionPlan = { metric: { key: "latency", statistic: "average" }, comparison: "below", limit: 1 };
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

test("only limits of percentiles from above have a share", () => {
  assert.equal(requestsAbove(p90(1e6, "above"), level, 0.95), undefined);
  assert.equal(
    requestsAbove({ ...p90(1e6), metric: { key: "latency", statistic: "average" } }, level, 0.95),
    undefined,
  );
  assert.equal(requestsAbove(p90(1e6), { window: makeWindow({ latenciesNs: [] }) }, 0.95), undefined);
});

test("more are above than allowed when a binomial variable has that many with a smaller probability than the error", () => {
  // Of 10, with the probability 0.1: 4 or more 1.28 %, 5 or more 0.16 %.
  const found = [4, 5].map((hits) => isTooMany({ count: 10, aboveCount: hits, effectiveCount: 10 }, 0.1, 0.01));
  assert.deepEqual(found, [false, true]);
  assert.equal(isTooMany({ count: 1e6, aboveCount: 5e4, effectiveCount: 1e6 }, 0.1, 0.5), false);
});

test("the errors of all looks together are the stated one, from the second window to the last", () => {
  for (const most of [2, 3, 5, 30, 299.5, 3600]) {
    const looks = planLooks(most);
    assert.deepEqual([looks[0]?.windowCount, looks.at(-1)?.windowCount], [2, Math.floor(most)]);
    const sum = looks.reduce((all, { error }) => all + error, 0);
    assert.ok(Math.abs(sum - LIMIT_ERROR) < 1e-12, String(sum));
    assert.ok(looks.every(({ windowCount }, index) => windowCount > (looks[index - 1]?.windowCount ?? 0)));
  }
  assert.deepEqual(
    planLooks(30).map(({ windowCount }) => windowCount),
    [2, 3, 4, 6, 9, 13, 20, 30],
  );
});

test("any number of looks has the stated error at most", () => {
  let sum = 0;
  for (let look = 1; look <= 10_000; look++) sum += errorOfLook(look);
  assert.ok(sum < LIMIT_ERROR && sum > 0.99 * LIMIT_ERROR, String(sum));
});
