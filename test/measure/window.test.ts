import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { mergeWindows } from "../../src/measure/merge.ts";
import {
  errorRatio,
  inferPerSec,
  saturationReason,
  sentPerSec,
  stabilizingLatencyNs,
} from "../../src/measure/metrics.ts";
import { NO_OPEN_REQUESTS } from "../../src/measure/open-requests.ts";
import { RECORD_DELAYED, RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import { Timeline, type TimelineBucket } from "../../src/measure/timeline.ts";
import { toWindowResult, WindowTally } from "../../src/measure/window.ts";
import { fill, type Row } from "./make-records.ts";
import { makeDelta, makeWindow } from "./make-window.ts";

function tallyRows(rows: readonly Row[], isScheduled = false, countsReading = true): WindowTally {
  const tally = new WindowTally({ isScheduled, countsReading, isDecoupled: false });
  const records = new RecordColumns((columns, count) => tally.add(columns, count));
  for (const row of rows) fill(records, row);
  records.drain();
  return tally;
}

const health = { cpuRatio: 0, loopLagMaxNs: 0, loopLagMeanNs: 0 };

test("columns are handed over when full, and used again without losing or repeating a row", () => {
  const seen: number[] = [];
  const records = new RecordColumns((columns, count) => {
    for (let row = 0; row < count; row++) seen.push(columns.endNs[row] as number);
  });
  const ends = records.endNs;
  const count = 8192 * 2 + 5;
  for (let i = 0; i < count; i++) fill(records, { sendStartNs: 0, endNs: i });
  assert.equal(seen.length, 8192 * 2);
  records.drain();
  records.drain();
  assert.equal(seen.length, count);
  assert.ok(seen.every((end, index) => end === index));
  assert.equal(records.endNs, ends, "the columns are the same arrays");
  assert.equal(records.row, 0);
});

test("a record may be written from inside the drain", () => {
  let drains = 0;
  const records: RecordColumns = new RecordColumns((_, count) => {
    drains += count;
    if (drains === 8192) fill(records, { sendStartNs: 0, endNs: 1 });
  });
  for (let i = 0; i < 8192; i++) fill(records, { sendStartNs: 0, endNs: i });
  assert.equal(records.row, 1);
  records.drain();
  assert.equal(drains, 8193);
});

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
  assert.equal(tally.scheduledLatency, tally.latency);
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
  assert.deepEqual([tally.latency.minNs, tally.latency.maxNs], [4000, 4000]);
  assert.deepEqual([tally.scheduledLatency.minNs, tally.scheduledLatency.maxNs], [3000, 8000]);
  assert.deepEqual([tally.sendDelay.minNs, tally.sendDelay.maxNs], [0, 4000]);
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
  const open = { openBefore: NO_OPEN_REQUESTS, openAfter: NO_OPEN_REQUESTS };
  const frame = { startNs: 0, endNs: 10_000, sentCount: 2, ...open, laneCount: 2, health, server: undefined };
  const rows = [
    { sendStartNs: 0, sendEndNs: 200, endNs: 8000 },
    { sendStartNs: 0, sendEndNs: 300, endNs: 7000 },
  ];
  const closed = toWindowResult(tallyRows(rows), { ...frame, canLanesWait: false });
  assert.equal(closed.overheadPct, 25);
  assert.deepEqual([closed.requestCount, closed.sendMeanNs, closed.durationNs], [2, 250, 10_000]);
  const scheduled = toWindowResult(tallyRows(rows, true), { ...frame, canLanesWait: true });
  assert.equal(scheduled.overheadPct, 2.5);
  const empty = toWindowResult(tallyRows([]), { ...frame, canLanesWait: false });
  assert.deepEqual([empty.sendMeanNs, empty.receiveMeanNs, empty.overheadPct], [0, 0, 100]);
});

test("three windows merge into one: counts add up, rates are over the whole length", () => {
  const windows = [
    makeWindow({
      startNs: 0,
      durationNs: 1e9,
      latenciesNs: [1e6],
      sendMeanNs: 100,
      overheadPct: 1,
      server: makeDelta(1),
    }),
    makeWindow({
      startNs: 1e9,
      durationNs: 2e9,
      latenciesNs: [2e6, 3e6],
      sendMeanNs: 400,
      overheadPct: 2,
      failedCount: 2,
      server: makeDelta(2),
    }),
    makeWindow({
      startNs: 3e9,
      durationNs: 1e9,
      latenciesNs: [4e6, 5e6, 6e6],
      sendMeanNs: 700,
      overheadPct: 6,
      delayedCount: 3,
      sentCount: 9,
      server: makeDelta(3),
    }),
  ];
  const merged = mergeWindows(windows);
  assert.deepEqual([merged.startNs, merged.endNs, merged.durationNs], [0, 4e9, 4e9]);
  assert.deepEqual([merged.requestCount, merged.failedCount, merged.delayedCount, merged.sentCount], [6, 2, 3, 12]);
  assert.deepEqual([merged.latency.count, merged.latency.minNs, merged.latency.maxNs], [6, 1e6, 6e6]);
  assert.equal(merged.scheduledLatency, merged.latency);
  assert.equal(merged.sendMeanNs, (100 + 2 * 400 + 3 * 700) / 6);
  assert.equal(merged.overheadPct, 3);
  assert.deepEqual(merged.server, makeDelta(6));
  assert.equal(inferPerSec(merged, 1), 1.5);
  assert.throws(() => mergeWindows([]));
});

test("a merge keeps scheduled latencies apart and has no server times when one window lacks them", () => {
  const merged = mergeWindows([
    makeWindow({ latenciesNs: [1e6], scheduledNs: [9e6], server: makeDelta(1) }),
    makeWindow({ startNs: 1e9, latenciesNs: [1e6], scheduledNs: [8e6], health: { loopLagMaxNs: 5, cpuRatio: 0.5 } }),
  ]);
  assert.deepEqual(
    [merged.latency.maxNs, merged.scheduledLatency.maxNs, merged.scheduledLatency.minNs],
    [1e6, 9e6, 8e6],
  );
  assert.equal(merged.server, undefined);
  assert.equal(merged.health.loopLagMaxNs, 5);
  assert.ok(Math.abs(merged.health.cpuRatio - 0.3) < 1e-12);
});

test("throughput counts batch items and is computed in single precision", () => {
  const window = makeWindow({ durationNs: 3e9, latenciesNs: new Array(10).fill(1e6) });
  assert.equal(inferPerSec(window, 4), Math.fround(40 / 3));
  assert.equal(sentPerSec(makeWindow({ durationNs: 2e9, sentCount: 10 })), 5);
});

test("error ratio and the latency that counts", () => {
  assert.equal(errorRatio(makeWindow({ latenciesNs: [1, 1, 1], failedCount: 1 })), 0.25);
  assert.equal(errorRatio(makeWindow({ latenciesNs: [] })), 0);
  const window = makeWindow({ latenciesNs: [1_500_700, 2_500_800] });
  assert.equal(stabilizingLatencyNs(window, null), 2_000_750);
  assert.equal(stabilizingLatencyNs(window, 99), 2_500_000);
});

test("the tool says when it, not the server, was the limit", () => {
  assert.equal(saturationReason(makeWindow()), undefined);
  assert.equal(
    saturationReason(makeWindow({ health: { loopLagMaxNs: 500e6 } })),
    undefined,
    "one late timer is no limit",
  );
  assert.match(saturationReason(makeWindow({ health: { cpuRatio: 0.93 } })) ?? "", /used 93 % of a core/);
  assert.equal(saturationReason(makeWindow({ health: { cpuRatio: 0.2, coreWaitRatio: 0.6 } })), undefined);
  assert.match(
    saturationReason(makeWindow({ health: { cpuRatio: 0.15, coreWaitRatio: 0.77 } })) ?? "",
    /used 15 % of a core and waited for one 77 % of the time/,
  );
  assert.match(
    saturationReason(makeWindow({ health: { loopLagMeanNs: 25e6, loopLagMaxNs: 80e6 } })) ?? "",
    /25\.0 ms late on average \(at most 80\.0 ms\)/,
  );
});

test("a time line sorts records into at most 60 stretches by their end", () => {
  const timeline = new Timeline(1e9, 12e9);
  const records = new RecordColumns((columns, count) => timeline.add(columns, count));
  fill(records, { sendStartNs: 1e9, endNs: 1.05e9 });
  fill(records, { sendStartNs: 1e9, endNs: 1.25e9 });
  fill(records, { sendStartNs: 1e9, endNs: 1.39e9, flags: RECORD_FAILED });
  fill(records, { sendStartNs: 12.9e9, endNs: 12.95e9 });
  fill(records, { sendStartNs: 0.5e9, endNs: 0.9e9 });
  records.drain();
  const buckets = timeline.finish(13e9);
  assert.equal(buckets.length, 60);
  assert.deepEqual([buckets[0]?.requestCount, buckets[1]?.requestCount, buckets[1]?.failedCount], [2, 1, 1]);
  assert.equal(buckets[59]?.requestCount, 1);
  assert.deepEqual([buckets[1]?.startNs, buckets[1]?.endNs], [0.2e9, 0.4e9]);
  // Two requests are in flight within these 0.2 s: for 0.05 s and for 0.19 s.
  assert.ok(Math.abs((buckets[1]?.meanOutstanding ?? 0) - 0.24 / 0.2) < 1e-9);
  assert.equal(
    buckets.reduce((sum, bucket) => sum + bucket.requestCount, 0),
    4,
  );
});

const STRETCHES: readonly (readonly [endMs: number, boundsMs: readonly (readonly [number, number])[]])[] = [
  [
    250,
    [
      [0, 100],
      [100, 200],
      [200, 250],
    ],
  ],
  // What is left over is too short for a rate of its own.
  [
    203,
    [
      [0, 100],
      [100, 203],
    ],
  ],
  [3, [[0, 3]]],
  [
    300,
    [
      [0, 100],
      [100, 200],
      [200, 300],
    ],
  ],
];

for (const [endMs, boundsMs] of STRETCHES) {
  test(`a time line over ${endMs} ms has stretches of about 100 ms, and counts every request once`, () => {
    const timeline = new Timeline(0, 250e6);
    const records = new RecordColumns((columns, count) => timeline.add(columns, count));
    const ends = [1e6, 2e6, 99e6, 101e6, 202e6, 203e6, 299e6].filter((endNs) => endNs <= endMs * 1e6);
    for (const endNs of [...ends, endMs * 1e6]) fill(records, { sendStartNs: -5e6, endNs });
    records.drain();
    const buckets = timeline.finish(endMs * 1e6, [0]);
    assert.deepEqual(
      buckets.map(({ startNs, endNs }) => [startNs / 1e6, endNs / 1e6]),
      boundsMs,
    );
    const sum = (pick: (bucket: TimelineBucket) => number): number => buckets.reduce((all, one) => all + pick(one), 0);
    assert.equal(
      sum(({ requestCount }) => requestCount),
      ends.length + 1,
    );
    // Each was in flight from the start to its end, and one that is not over yet.
    const inFlightMs = ends.reduce((all, ns) => all + ns / 1e6, 2 * endMs);
    const found = sum(({ meanOutstanding, startNs, endNs }) => (meanOutstanding * (endNs - startNs)) / 1e6);
    assert.ok(Math.abs(found - inFlightMs) < 1e-6, `${found} ${inFlightMs}`);
  });
}
