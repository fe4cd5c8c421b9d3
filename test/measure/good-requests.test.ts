import assert from "node:assert/strict";
import { test } from "node:test";
import { canJoin, goodCountOf, joinGood } from "../../src/measure/good-requests.ts";
import { RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import {
  NO_OPEN_REQUESTS,
  toMeasurement,
  type WindowFrame,
  WindowTally,
} from "../../src/measure/tally/window-tally.ts";
import { fill, type Row } from "./make-records.ts";

const frame: WindowFrame = {
  ...{ startNs: 0, endNs: 10_000, sentCount: 2, laneCount: 2, canLanesWait: false },
  ...{ openBefore: NO_OPEN_REQUESTS, openAfter: NO_OPEN_REQUESTS },
  health: { cpuRatio: 0, loopLagMaxNs: 0, loopLagMeanNs: 0 },
};

test("good requests keep their limits on times of their own, and failed ones are not counted", () => {
  const goodputs = [
    { latency: 5000 },
    { scheduledLatency: 5000 },
    { firstResponse: 1000, latency: 9000 },
    { timeToFirstToken: 1 },
  ];
  const rows: readonly Row[] = [
    { intendedSendNs: 0, sendStartNs: 0, firstByteNs: 900, endNs: 5000 },
    { intendedSendNs: 0, sendStartNs: 1000, firstByteNs: 2500, endNs: 6000 },
    { intendedSendNs: 1000, sendStartNs: 1000, firstByteNs: 2000, endNs: 9000 },
    { sendStartNs: 0, endNs: 10, flags: RECORD_FAILED },
  ];
  const count = (isScheduled: boolean, isDecoupled: boolean): number[] => {
    const tally = new WindowTally({ isScheduled, countsReading: true, isDecoupled, goodputs });
    const records = new RecordColumns((columns, size) => tally.add(columns, size));
    for (const row of rows) fill(records, row);
    records.drain();
    const { good = [] } = toMeasurement(tally, frame);
    assert.deepEqual(
      good.map(({ limits }) => limits),
      goodputs.slice(0, 3),
    );
    for (const { sample } of good) assert.equal(sample.count, 3);
    assert.deepEqual(
      joinGood([good, good]).map(goodCountOf),
      good.map((one) => 2 * goodCountOf(one)),
    );
    return good.map(goodCountOf);
  };
  assert.deepEqual(count(true, true), [2, 1, 2]);
  // Without a schedule a request is due when it is sent, and a single response is the first one.
  assert.deepEqual(count(false, false), [2, 2, 0]);
});

test("the schedule of a request cannot be joined with its tokens", () => {
  assert.ok(canJoin({ latency: 1, scheduledLatency: 1, firstResponse: 1 }));
  assert.ok(canJoin({ latency: 1, timeToFirstToken: 1 }));
  assert.ok(!canJoin({ scheduledLatency: 1, timeToFirstToken: 1 }));
});
