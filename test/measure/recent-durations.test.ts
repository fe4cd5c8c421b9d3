import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RecentDurations } from "../../src/measure/recent-durations.ts";

/** Percentiles of the last five seconds. */

const HOUR_NS = 3.6e12;

/** Two significant digits, and whole microseconds. */
function isNear(measuredNs: number | undefined, exactNs: number): boolean {
  return Math.abs((measuredNs ?? Number.NaN) - exactNs) <= exactNs / 100 + 1000;
}

test("percentiles are within 1 % of the recorded durations, from microseconds to an hour", () => {
  const duration = fc.double({ min: 0, max: HOUR_NS, noNaN: true });
  const ratio = fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1);
  fc.assert(
    fc.property(fc.array(duration, { minLength: 1, maxLength: 200 }), ratio, (durations, wanted) => {
      const recent = new RecentDurations();
      for (const durationNs of durations) recent.add(durationNs);
      const rank = Math.max(1, Math.ceil(wanted * durations.length));
      const exact = durations.toSorted((one, other) => one - other)[rank - 1] as number;
      const [measured] = recent.quantilesNs([wanted]) ?? [];
      assert.ok(isNear(measured, exact), `${wanted} of ${durations.length}: ${measured} instead of ${exact}`);
    }),
  );
});

const outliers: readonly (readonly [what: string, durationNs: number, shownNs: number | undefined])[] = [
  ["a negative duration counts as 1 us", -3, 1000],
  ["0 counts as 1 us", 0, 1000],
  ["more than an hour counts as an hour", 3 * HOUR_NS, HOUR_NS],
  ["NaN is skipped", Number.NaN, undefined],
];
for (const [what, durationNs, shownNs] of outliers) {
  test(what, () => {
    const recent = new RecentDurations();
    recent.add(durationNs);
    const [shown] = recent.quantilesNs([0.5]) ?? [];
    assert.ok(shownNs === undefined ? shown === undefined : isNear(shown, shownNs), String(shown));
  });
}

test("seconds are merged, and those older than five are forgotten", () => {
  const recent = new RecentDurations();
  recent.add(5e9);
  for (let second = 0; second < 4; second++) {
    recent.rotate();
    for (let i = 0; i < 100; i++) recent.add(1e6);
  }
  const [middle, high] = recent.quantilesNs([0.5, 1]) ?? [];
  assert.ok(isNear(middle, 1e6) && isNear(high, 5e9), `${middle} ${high}`);
  recent.rotate();
  assert.ok(isNear(recent.quantilesNs([1])?.[0], 1e6));
  recent.clear();
  assert.equal(recent.quantilesNs([0.5]), undefined);
});
