import assert from "node:assert/strict";
import { test } from "node:test";
import { RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import { Timeline, type TimelineBucket } from "../../src/measure/timeline.ts";
import { fill } from "./make-records.ts";

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
