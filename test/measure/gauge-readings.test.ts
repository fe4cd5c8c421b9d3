import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addReading,
  type GaugeReadings,
  joinReadings,
  NO_READINGS,
  seriesOf,
} from "../../src/measure/gauge-readings.ts";
import { gpuUuidsOf } from "../../src/measure/metrics/server-gauges.ts";

/** Readings of GPUs, joined over windows and hosts. */

function tallyOf(...powers: readonly (readonly number[])[]): GaugeReadings {
  return powers.reduce<GaugeReadings>((tally, [a, b], index) => {
    const watts = new Map<string, number>();
    if (b !== undefined) watts.set("b", b);
    if (a !== undefined) watts.set("a", a);
    return addReading(tally, { gpuPowerWatts: watts }, index);
  }, NO_READINGS);
}

test("mean, maximum, first and last of each GPU, in the order of their UUIDs", () => {
  const tally = tallyOf([10, 1], [30, 2], [20]);
  assert.equal(tally.count, 3);
  assert.deepEqual(gpuUuidsOf(tally), ["a", "b"]);
  assert.deepEqual(seriesOf(tally, "gpuPowerWatts"), [
    ["a", { count: 3, changeCount: 2, mean: 20, max: 30, first: 10, last: 20, firstNs: 0, lastNs: 2 }],
    ["b", { count: 2, changeCount: 1, mean: 1.5, max: 2, first: 1, last: 2, firstNs: 0, lastNs: 1 }],
  ]);
  assert.deepEqual(seriesOf(tally, "gpuUtilizationRatio"), []);
});

test("windows join weighted by their readings, whatever the GPUs and readings they have", () => {
  const joined = joinReadings([tallyOf([10]), undefined, NO_READINGS, tallyOf([40, 5], [40], [30])], "in-time");
  assert.equal(joined?.count, 4);
  assert.deepEqual(seriesOf(joined, "gpuPowerWatts"), [
    ["a", { count: 4, changeCount: 2, mean: 30, max: 40, first: 10, last: 30, firstNs: 0, lastNs: 2 }],
    ["b", { count: 1, changeCount: 0, mean: 5, max: 5, first: 5, last: 5, firstNs: 0, lastNs: 0 }],
  ]);
  assert.equal(joinReadings([undefined, undefined], "in-time"), undefined);
});

test("of parallel readings of one GPU, the extremes are its first and last ones", () => {
  const [one, other] = [tallyOf([10], [30]), tallyOf([9], [20])];
  const joined = joinReadings([one, other], "parallel");
  assert.deepEqual(joined, joinReadings([other, one], "parallel"));
  assert.deepEqual(seriesOf(joined ?? NO_READINGS, "gpuPowerWatts"), [
    ["a", { count: 4, changeCount: 1, mean: 17.25, max: 30, first: 9, last: 30, firstNs: 0, lastNs: 1 }],
  ]);
});
