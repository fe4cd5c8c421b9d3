import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RECORD_CANCELLED, RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import { type RunBucket, RunTimeline } from "../../src/measure/run-timeline.ts";
import { fill, type Row } from "./make-records.ts";

function timelineOf(rows: readonly Row[], endNs: number): RunBucket[] {
  const timeline = new RunTimeline(1e9);
  const records = new RecordColumns((columns, count) => timeline.add(columns, count));
  for (const row of rows) fill(records, row);
  records.drain();
  return timeline.finish(endNs);
}

test("a short run has intervals of 100 ms, with what ended in each", () => {
  const buckets = timelineOf(
    [
      { sendStartNs: 1e9, endNs: 1.05e9 },
      { sendStartNs: 1e9, endNs: 1.15e9 },
      { sendStartNs: 1.1e9, endNs: 1.19e9, flags: RECORD_FAILED },
      { sendStartNs: 1.1e9, endNs: 1.19e9, flags: RECORD_FAILED | RECORD_CANCELLED },
    ],
    1.25e9,
  );
  assert.deepEqual(
    buckets.map(({ startNs, endNs, requestCount, failedCount, cancelledCount, latencyMeanNs }) => {
      return [startNs / 1e6, endNs / 1e6, requestCount, failedCount, cancelledCount, latencyMeanNs];
    }),
    [
      [0, 100, 1, 0, 0, 50e6],
      [100, 200, 1, 1, 1, 150e6],
      [200, 250, 0, 0, 0, undefined],
    ],
  );
  // 50 and 100 of 100 ms in the first interval; 50 and two times 90 ms in the second one.
  assert.deepEqual(
    buckets.map(({ meanOutstanding }) => Number(meanOutstanding.toFixed(6))),
    [1.5, 2.3, 0],
  );
});

test("a run of any length has at most 60 intervals that add up to it", () => {
  const row = fc.record({ sent: fc.integer({ min: 0, max: 4_000_000 }), ms: fc.integer({ min: 1, max: 90_000 }) });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 60 }), (given) => {
      const rows = given.map(({ sent, ms }) => ({ sendStartNs: 1e9 + sent * 1e6, endNs: 1e9 + (sent + ms) * 1e6 }));
      const endNs = Math.max(...rows.map((one) => one.endNs));
      const buckets = timelineOf(rows, endNs);
      assert.ok(buckets.length <= 60);
      const sumOf = (pick: (bucket: RunBucket) => number): number => buckets.reduce((sum, one) => sum + pick(one), 0);
      assert.equal(
        sumOf(({ requestCount }) => requestCount),
        rows.length,
      );
      assert.equal(buckets.at(-1)?.endNs, endNs - 1e9);
      for (const [index, { startNs }] of buckets.entries())
        assert.equal(startNs, index === 0 ? 0 : buckets[index - 1]?.endNs);
      const inFlightNs = sumOf(({ meanOutstanding, startNs, endNs: stopNs }) => meanOutstanding * (stopNs - startNs));
      const latencyNs = rows.reduce((sum, one) => sum + one.endNs - one.sendStartNs, 0);
      assert.ok(Math.abs(inFlightNs - latencyNs) < 1e-6 * latencyNs, `${inFlightNs} ${latencyNs}`);
    }),
    { numRuns: 60 },
  );
});

test("the 99th percentile of an interval survives joining intervals", () => {
  const rows = Array.from({ length: 1000 }, (_, index) => ({
    sendStartNs: 1e9 + index * 20e6,
    endNs: 1e9 + index * 20e6 + (index % 50 === 0 ? 9e6 : 3e6),
  }));
  const [bucket] = timelineOf(rows, 21e9);
  assert.ok((bucket?.requestCount ?? 0) > 10);
  assert.ok(Math.abs((bucket?.latencyP99Ns ?? 0) - 9e6) <= 0.1e6, `${bucket?.latencyP99Ns}`);
});
