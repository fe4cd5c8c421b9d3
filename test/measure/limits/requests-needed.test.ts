import assert from "node:assert/strict";
import { test } from "node:test";
import { judgePart } from "../../../src/measure/limits/judge-part.ts";
import { requestsNeeded } from "../../../src/measure/limits/requests-needed.ts";
import type { AssertionPlan } from "../../../src/plan/assertions.ts";
import { makeWindow } from "../make-window.ts";

/** `count` latencies of 1 ms, every nth of 30 ms. */
const latencies = (count: number, every: number): number[] =>
  Array.from({ length: count }, (_, at) => (at % every === every - 1 ? 30e6 : 1e6));
const p99: AssertionPlan = { metric: { key: "latency", statistic: 99 }, comparison: "below", limit: 25e6 };
const neededFor = (assertion: AssertionPlan, latenciesNs: readonly number[]): number | undefined =>
  requestsNeeded(assertion, { window: makeWindow({ latenciesNs }) })?.needed;

// scipy.stats.binom.cdf(k, n, 0.01) falls to 5 % at n = 299 for k = 0.
for (const [name, count, every, needed] of [
  ["none above the limit", 40, 1000, 299],
  ["one in 200 above", 400, 200, 1200],
  ["exactly as many above as the percentile allows", 2000, 100, undefined],
] as const)
  test(`p99 with ${name}`, () => assert.equal(neededFor(p99, latencies(count, every)), needed));

test("as many requests of the same kind decide, and half as many do not", () => {
  for (const every of [150, 200, 250, 1000]) {
    const needed = neededFor(p99, latencies(every === 1000 ? 100 : 2 * every, every)) ?? 0;
    const stateOf = (count: number): string =>
      judgePart(p99, { window: makeWindow({ latenciesNs: latencies(count, every) }) }, 1).state;
    assert.deepEqual([stateOf(needed), stateOf(Math.floor(needed / 2))], ["pass", "unresolved"], `1 in ${every}`);
  }
});

test("a mean needs more the closer it is to its limit, and none at it", () => {
  const values = Array.from({ length: 100 }, (_, at) => 1e6 + ((at * 37) % 100) * 1e4);
  const mean = (limit: number): AssertionPlan => {
    return { metric: { key: "latency", statistic: "mean" }, comparison: "below", limit };
  };
  const [far, near, at] = [1.54e6, 1.51e6, 1.495e6].map((limit) => neededFor(mean(limit), values));
  assert.ok(far !== undefined && near !== undefined && near > far && far > 100, `${far}, ${near}`);
  assert.equal(at, undefined);
  assert.equal(neededFor(mean(3e6), values), undefined);
});
