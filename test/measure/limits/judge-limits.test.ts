import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { combineStates, judgeLimits, type LimitState } from "../../../src/measure/limits/judge-limits.ts";
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
