import assert from "node:assert/strict";
import { test } from "node:test";
import { constantArrivals } from "../../../src/load/arrivals.ts";
import { Schedule } from "../../../src/run/send/schedule.ts";
import { FakeClock } from "../../runtime/fake-clock.ts";

const START_MS = 500;

/** Requests due 10, 20, 30 … ms after the start, for three lanes. */
function makeSchedule() {
  const clock = new FakeClock({ startNs: START_MS * 1e6 });
  let count = 0;
  return { clock, schedule: new Schedule(() => ++count * 10e6, 3, clock) };
}

test("lanes come in the order in which they are due, in the clock's time", () => {
  const { schedule } = makeSchedule();
  const order: number[][] = [];
  for (let i = 0; i < 5; i++) {
    const dueMs = schedule.firstDueNs / 1e6 - START_MS;
    const lane = schedule.pop();
    order.push([lane, dueMs]);
    schedule.push(lane, schedule.nextDueNs(lane));
  }
  assert.deepEqual(order, [
    [0, 10],
    [1, 20],
    [2, 30],
    [0, 40],
    [1, 50],
  ]);
});

test("without a waiting lane nothing is due", () => {
  const { schedule } = makeSchedule();
  for (let i = 0; i < 3; i++) schedule.pop();
  assert.equal(schedule.firstDueNs, Number.POSITIVE_INFINITY);
});

test("a request is late more than a millisecond after it was due", async () => {
  const { clock, schedule } = makeSchedule();
  const dueNs = schedule.firstDueNs;
  await clock.advanceMs(11);
  assert.equal(schedule.isLate(dueNs), false);
  clock.spendMs(0.001);
  assert.equal(schedule.isLate(dueNs), true);
});

test("a lane is behind when its next request was due before it came to wait for it", async () => {
  const { clock, schedule } = makeSchedule();
  assert.deepEqual(
    [0, 1, 2].map((lane) => schedule.isBehind(lane)),
    [false, false, false],
  );
  await clock.advanceMs(60);
  schedule.nextDueNs(0);
  assert.equal(schedule.isBehind(0), true, "due at 40 ms");
  schedule.nextDueNs(2);
  assert.equal(schedule.isBehind(2), false, "due at 60 ms");
});

test("arrivals at a rate begin when the schedule does", () => {
  const clock = new FakeClock({ startNs: 1e9 });
  const first = constantArrivals(100)();
  assert.equal(new Schedule(constantArrivals(100), 1, clock).firstDueNs, 1e9 + first);
});
