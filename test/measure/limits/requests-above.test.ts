import assert from "node:assert/strict";
import { test } from "node:test";
import { isTooMany, requestsAbove } from "../../../src/measure/limits/requests-above.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

const p90 = (limit: number, comparison: AssertionPlan["comparison"] = "below"): AssertionPlan => ({
  ...{ metric: { key: "latency", statistic: 90 }, comparison, limit },
});
/** 1 to 1000 ms, always slower. */
const level = {
  level: 1,
  window: makeWindow({ latenciesNs: Array.from({ length: 1000 }, (_, at) => (at + 1) * 1e6) }),
};

test("the share of requests above a limit is exact, and they are worth few when they follow each other", () => {
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
