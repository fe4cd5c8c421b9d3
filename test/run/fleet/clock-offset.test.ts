import assert from "node:assert/strict";
import { test } from "node:test";
import {
  driftNs,
  messageDelayNs,
  offsetNs,
  originMsOf,
  readClock,
  readClocks,
} from "../../../src/run/fleet/clock-offset.ts";
import { nowNs, sleepMs, timeOriginMs } from "../../../src/runtime/clock.ts";
import { createRandom } from "../../../src/runtime/random.ts";

/** Clocks of other hosts: compared with ones whose offset is known, over ways that take different times there and back. */

/** A clock on another host. @param aheadMs what it shows when this thread's clock shows 0 */
function otherClock(aheadMs: number, wayMs: () => readonly [there: number, back: number]): () => Promise<number> {
  return async () => {
    const [there, back] = wayMs();
    await sleepMs(there);
    const shown = aheadMs + nowNs() / 1e6;
    await sleepMs(back);
    return shown;
  };
}

test("the error that is stated contains the true offset, whatever the ways take", async () => {
  const random = createRandom(5);
  const ways: readonly (() => readonly [number, number])[] = [
    () => [2, 2],
    () => [1, 9],
    () => [9, 1],
    () => [10 * random(), 10 * random()],
  ];
  await Promise.all(
    ways.map(async (wayMs, index) => {
      const aheadMs = 1.7e12 + 1234.5 * index;
      const reading = await readClock(otherClock(aheadMs, wayMs));
      const offMs = Math.abs(originMsOf(reading) - aheadMs);
      assert.ok(offMs <= reading.errorNs / 1e6 + 0.001, `${offMs} ms off, and ${reading.errorNs} ns stated`);
      const offsetMs = aheadMs - timeOriginMs();
      assert.ok(
        Math.abs(offsetNs(reading) / 1e6 - offsetMs) <= reading.errorNs / 1e6 + 0.001,
        `${offsetNs(reading)} ns`,
      );
      assert.ok(reading.roundTripNs >= 2 * reading.errorNs);
    }),
  );
});

test("a clock that moved is seen, within the errors of both comparisons", async () => {
  const way = (): readonly [number, number] => [1, 1];
  const first = await readClock(otherClock(5000, way));
  const last = await readClock(otherClock(5000 + 40, way));
  const error = (first.errorNs + last.errorNs) / 1e6 + 0.001;
  assert.ok(Math.abs(driftNs(first, last) / 1e6 - 40) <= error, `${driftNs(first, last)} ns`);
  assert.ok(Math.abs(driftNs(last, first) / 1e6 + 40) <= error);
});

test("messages wait for the longest usual round trip, in bounds", () => {
  const reading = (roundTripMs: number) => ({ wallMs: 0, nowNs: 0, errorNs: 0, roundTripNs: roundTripMs * 1e6 });
  assert.equal(messageDelayNs([reading(1), reading(40), reading(3)]), 55e6);
  assert.equal(messageDelayNs([reading(0)]), 15e6);
  assert.equal(messageDelayNs([reading(60_000)]), 2e9);
});

test("many clocks are compared some at once, and their readings stay in order", async () => {
  let [now, most] = [0, 0];
  const readings = await readClocks([...Array(200).keys()], async (index) => {
    most = Math.max(most, ++now);
    await sleepMs(index % 3);
    now--;
    return index;
  });
  assert.deepEqual(readings, [...Array(200).keys()]);
  assert.ok(most > 1 && most <= 50, `${most} at once`);
  assert.deepEqual(await readClocks([], async () => 1), []);
});
