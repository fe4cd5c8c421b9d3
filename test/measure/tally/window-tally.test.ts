import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { meanGapNs } from "../../../src/measure/derived-values.ts";
import { goodCountOf } from "../../../src/measure/good-requests.ts";
import { RECORD_DELAYED, RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import { BinTally } from "../../../src/measure/tally/bin-tally.ts";
import {
  NO_OPEN_REQUESTS,
  sumOpenRequests,
  toMeasurement,
  type WindowFrame,
  WindowTally,
} from "../../../src/measure/tally/window-tally.ts";
import { sum } from "../../../src/plan/units.ts";
import { fill, type Row } from "../make-records.ts";

function tallyRows(rows: readonly Row[], isScheduled = false, countsReading = true): WindowTally {
  const tally = new WindowTally({ isScheduled, countsReading, isDecoupled: false });
  const records = new RecordColumns((columns, count) => tally.add(columns, count));
  for (const row of rows) fill(records, row);
  records.drain();
  return tally;
}

const frame: WindowFrame = {
  ...{ startNs: 0, endNs: 10_000, sentCount: 2, laneCount: 2, canLanesWait: false },
  ...{ openBefore: NO_OPEN_REQUESTS, openAfter: NO_OPEN_REQUESTS },
  health: { cpuRatio: 0, loopLagMaxNs: 0, loopLagMeanNs: 0 },
};

test("successes are measured, failures only counted, all time outstanding adds up", () => {
  const tally = tallyRows([
    { sendStartNs: 0, sendEndNs: 100, firstByteNs: 4500, endNs: 5000, decodeNs: 50 },
    { sendStartNs: 1000, sendEndNs: 1300, firstByteNs: 3800, endNs: 4000, decodeNs: 150 },
    { sendStartNs: 0, endNs: 9000, flags: RECORD_FAILED },
    { sendStartNs: 0, endNs: 2000, flags: RECORD_DELAYED },
  ]);
  assert.equal(tally.latency.count, 3);
  assert.deepEqual([tally.failedCount, tally.delayedCount], [1, 1]);
  assert.deepEqual([tally.sendSumNs, tally.receiveSumNs], [400, 50 + 500 + 150 + 200]);
  assert.equal(tally.outstandingSumNs, 5000 + 3000 + 9000 + 2000);
  assert.equal(tally.scheduledLatency, undefined);
});

test("only HTTP counts the time from the first to the last byte as receiving", () => {
  const row = { sendStartNs: 0, firstByteNs: 4500, endNs: 5000, decodeNs: 50 };
  assert.equal(tallyRows([row], false, true).receiveSumNs, 550);
  assert.equal(tallyRows([row], false, false).receiveSumNs, 50);
});

test("scheduled requests have two latencies and a delay that is never below 0", () => {
  const tally = tallyRows(
    [
      { intendedSendNs: 1000, sendStartNs: 5000, endNs: 9000 },
      { intendedSendNs: 6000, sendStartNs: 5000, endNs: 9000 },
    ],
    true,
  );
  const { latency, scheduledLatency, sendDelay } = toMeasurement(tally, frame);
  assert.deepEqual([latency.min, latency.max], [4000, 4000]);
  assert.deepEqual([scheduledLatency?.min, scheduledLatency?.max], [3000, 8000]);
  assert.deepEqual([sendDelay?.min, sendDelay?.max], [0, 4000]);
});

test("requests without a response have no first one, and no times between responses", () => {
  const tally = new WindowTally({
    ...{ isScheduled: false, countsReading: false, isDecoupled: true },
    goodputs: [{ firstResponse: 9000 }, { latency: 9000 }],
  });
  const records = new RecordColumns((columns, count) => tally.add(columns, count));
  fill(records, { sendStartNs: 0, firstByteNs: 2000, endNs: 6000, responseCount: 3 });
  fill(records, { sendStartNs: 0, firstByteNs: 8000, endNs: 8000, responseCount: 0 });
  fill(records, { sendStartNs: 0, firstByteNs: 4000, endNs: 4000 });
  records.drain();
  const window = toMeasurement(tally, frame);
  const { latency, firstResponse, betweenCount, betweenSumNs, good = [] } = window;
  assert.deepEqual([latency.count, latency.mean], [3, 6000]);
  assert.deepEqual([firstResponse?.count, firstResponse?.mean, firstResponse?.max], [2, 3000, 4000]);
  assert.deepEqual([betweenCount, betweenSumNs, meanGapNs(window)], [2, 4000, 2000]);
  assert.deepEqual(good.map(goodCountOf), [2, 3]);
});

test("any number of records is tallied without loss", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 1, max: 7 }), (count, every) => {
      const rows = Array.from({ length: count }, (_, i) => ({
        sendStartNs: i,
        endNs: i + 1000 * (i + 1),
        flags: i % every === 0 ? RECORD_FAILED : 0,
      }));
      const tally = tallyRows(rows);
      const failed = rows.filter(({ flags }) => flags === RECORD_FAILED).length;
      assert.deepEqual([tally.latency.count, tally.failedCount], [count - failed, failed]);
    }),
    { numRuns: 30 },
  );
});

test("a window's overhead: idle lanes in a closed loop, sending and receiving in a schedule", () => {
  const rows = [
    { sendStartNs: 0, sendEndNs: 200, endNs: 8000 },
    { sendStartNs: 0, sendEndNs: 300, endNs: 7000 },
  ];
  const closed = toMeasurement(tallyRows(rows), frame);
  assert.equal(closed.overheadPct, 25);
  assert.deepEqual([closed.requestCount, closed.sendMeanNs, closed.durationNs], [2, 250, 10_000]);
  const scheduled = toMeasurement(tallyRows(rows, true), { ...frame, canLanesWait: true });
  assert.equal(scheduled.overheadPct, 2.5);
  const empty = toMeasurement(tallyRows([]), frame);
  assert.deepEqual([empty.sendMeanNs, empty.receiveMeanNs, empty.overheadPct], [0, 0, 100]);
});

test("the requests in flight are counted, with the time since each was sent", () => {
  assert.deepEqual(sumOpenRequests([10, 40, 100], 100), { count: 3, ageSumNs: 150 });
  assert.deepEqual(sumOpenRequests([], 100), NO_OPEN_REQUESTS);
});

test("a request that is sent after the moment has no age", () => {
  assert.deepEqual(sumOpenRequests([90, 120], 100), { count: 2, ageSumNs: 10 });
});

test("the order in which requests are added does not matter", () => {
  const times = fc.array(fc.tuple(fc.integer({ min: 1e9, max: 9e9 }), fc.boolean()), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(times, fc.constantFrom(1e3, 1e6, 1e9), (requests, stepNs) => {
      const cut = (all: typeof requests) => {
        const tally = new BinTally();
        const channel = tally.newChannel("times");
        for (const [at, isFailed] of all) {
          const endNs = (at * stepNs) / 1e9;
          if (isFailed) tally.addFailed(endNs);
          else channel.add(tally.add(endNs), at);
        }
        const { completions, samplesOf } = tally.cut(stepNs, 9 * stepNs);
        return [completions, samplesOf(channel).histogram];
      };
      assert.deepEqual(cut(requests), cut(requests.toReversed()));
    }),
  );
});

test("what was recorded outside of a window counts at its ends", () => {
  const tally = new BinTally();
  for (const endNs of [1e6, 5e6, 5.5e6, 9e6]) tally.add(endNs);
  const { counts, coveredNs, first, binNs } = tally.cut(4e6, 6e6).completions;
  assert.deepEqual(
    [first * binNs, counts[0], counts.at(-1), counts.reduce((sum, count) => sum + count)],
    [4e6, 1, 1, 4],
  );
  assert.equal(sum(coveredNs), 2e6);
});
