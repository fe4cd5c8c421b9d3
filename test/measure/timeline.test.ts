import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { RECORD_CANCELLED, RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import { Timeline, type TimelineBucket, toBuckets } from "../../src/measure/timeline.ts";
import { fill, type Row } from "./make-records.ts";

/** @param durationNs of what is measured; undefined: not known */
function timelineOf(
  rows: readonly Row[],
  startNs: number,
  endNs: number,
  durationNs: number | undefined,
  openSentNs: readonly number[] = [],
): TimelineBucket[] {
  const timeline = new Timeline(startNs, durationNs === undefined ? {} : { durationNs });
  const records = new RecordColumns((columns, count) => timeline.add(columns, count));
  for (const row of rows) fill(records, row);
  records.drain();
  return toBuckets([structuredClone(timeline.finish(openSentNs))], endNs);
}

const sumOf = (buckets: readonly TimelineBucket[], pick: (bucket: TimelineBucket) => number): number =>
  buckets.reduce((sum, one) => sum + pick(one), 0);
const inFlightNsOf = (buckets: readonly TimelineBucket[]): number =>
  sumOf(buckets, ({ meanOutstanding, startNs, endNs }) => meanOutstanding * (endNs - startNs));

describe("a time of known length", () => {
  test("has few columns and all requests when a response comes hours after its end", () => {
    const rows = [
      { sendStartNs: 1e9, endNs: 1.5e9 },
      { sendStartNs: 1.2e9, endNs: 1e9 + 36_000e9 },
    ];
    const buckets = timelineOf(rows, 1e9, 1e9 + 36_000e9, 1e9);
    assert.ok(buckets.length <= 1200, `${buckets.length}`);
    assert.equal(
      sumOf(buckets, ({ requestCount }) => requestCount),
      2,
    );
    assert.ok(Math.abs(inFlightNsOf(buckets) / (0.5e9 + 35_999.8e9) - 1) < 1e-9);
  });

  test("has 60 intervals, with the requests that ended in each", () => {
    const rows = [
      { sendStartNs: 1e9, endNs: 1.05e9 },
      { sendStartNs: 1e9, endNs: 1.25e9 },
      { sendStartNs: 1e9, endNs: 1.39e9, flags: RECORD_FAILED },
      { sendStartNs: 12.9e9, endNs: 12.95e9 },
      { sendStartNs: 0.5e9, endNs: 0.9e9 },
    ];
    const buckets = timelineOf(rows, 1e9, 13e9, 12e9);
    assert.equal(buckets.length, 60);
    assert.deepEqual([buckets[0]?.requestCount, buckets[1]?.requestCount, buckets[1]?.failedCount], [2, 1, 1]);
    assert.equal(buckets[59]?.requestCount, 1);
    assert.deepEqual([buckets[1]?.startNs, buckets[1]?.endNs, buckets[2]?.latency], [0.2e9, 0.4e9, undefined]);
    assert.equal(buckets[1]?.latency?.meanNs, 0.25e9);
    // Two requests are in flight within these 0.2 s: for 0.05 s and for 0.19 s.
    assert.ok(Math.abs((buckets[1]?.meanOutstanding ?? 0) - 0.24 / 0.2) < 1e-9);
    assert.equal(
      sumOf(buckets, ({ requestCount }) => requestCount),
      4,
    );
  });

  const INTERVALS: readonly (readonly [endMs: number, boundsMs: readonly number[]])[] = [
    [250, [0, 100, 200, 250]],
    // What is left over is too short for a rate of its own.
    [203, [0, 100, 203]],
    [3, [0, 3]],
    [300, [0, 100, 200, 300]],
  ];
  for (const [endMs, boundsMs] of INTERVALS)
    test(`over ${endMs} ms has intervals of about 100 ms, and counts every request once`, () => {
      const ends = [1, 2, 99, 101, 202, 203, 299, endMs].filter((ms) => ms <= endMs);
      const rows = ends.map((ms) => ({ sendStartNs: -5e6, endNs: ms * 1e6 }));
      const buckets = timelineOf(rows, 0, endMs * 1e6, 250e6, [0]);
      assert.deepEqual([...buckets.map(({ startNs }) => startNs / 1e6), (buckets.at(-1)?.endNs ?? 0) / 1e6], boundsMs);
      assert.equal(
        sumOf(buckets, ({ requestCount }) => requestCount),
        ends.length,
      );
      // Each was in flight from the start to its end, and one that is not over yet.
      const inFlightMs = ends.reduce((all, ms) => all + ms, endMs);
      assert.ok(Math.abs(inFlightNsOf(buckets) / 1e6 - inFlightMs) < 1e-6);
    });
});

describe("a time of unknown length", () => {
  test("that is short has intervals of 100 ms", () => {
    const rows = [
      { sendStartNs: 1e9, endNs: 1.05e9 },
      { sendStartNs: 1e9, endNs: 1.15e9 },
      { sendStartNs: 1.1e9, endNs: 1.19e9, flags: RECORD_FAILED },
      { sendStartNs: 1.1e9, endNs: 1.19e9, flags: RECORD_FAILED | RECORD_CANCELLED },
    ];
    const buckets = timelineOf(rows, 1e9, 1.25e9, undefined);
    assert.deepEqual(
      buckets.map(({ startNs, endNs, requestCount, failedCount, cancelledCount, latency }) => {
        return [startNs / 1e6, endNs / 1e6, requestCount, failedCount, cancelledCount, latency?.meanNs];
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

  test("has at most 60 intervals that add up to it", () => {
    const row = fc.record({ sent: fc.integer({ min: 0, max: 4_000_000 }), ms: fc.integer({ min: 1, max: 90_000 }) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 60 }), (given) => {
        const rows = given.map(({ sent, ms }) => ({ sendStartNs: 1e9 + sent * 1e6, endNs: 1e9 + (sent + ms) * 1e6 }));
        const endNs = Math.max(...rows.map((one) => one.endNs));
        const buckets = timelineOf(rows, 1e9, endNs, undefined);
        assert.ok(buckets.length <= 60);
        assert.equal(
          sumOf(buckets, ({ requestCount }) => requestCount),
          rows.length,
        );
        assert.equal(buckets.at(-1)?.endNs, endNs - 1e9);
        for (const [index, { startNs }] of buckets.entries())
          assert.equal(startNs, index === 0 ? 0 : buckets[index - 1]?.endNs);
        const latencyNs = rows.reduce((sum, one) => sum + one.endNs - one.sendStartNs, 0);
        assert.ok(Math.abs(inFlightNsOf(buckets) - latencyNs) < 1e-6 * latencyNs);
      }),
      { numRuns: 60 },
    );
  });

  test("has percentiles within 0.6 %, also of intervals that were joined", () => {
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      sendStartNs: 1e9 + index * 20e6,
      endNs: 1e9 + index * 20e6 + (index % 50 === 0 ? 9e6 : 3e6),
    }));
    const [bucket] = timelineOf(rows, 1e9, 21e9, undefined);
    assert.ok((bucket?.requestCount ?? 0) > 10);
    assert.ok(Math.abs((bucket?.latency?.p99Ns ?? 0) - 9e6) <= 0.006 * 9e6, `${bucket?.latency?.p99Ns}`);
    assert.ok(Math.abs((bucket?.latency?.p50Ns ?? 0) - 3e6) <= 0.006 * 3e6, `${bucket?.latency?.p50Ns}`);
  });
});

test("the mean in flight is that of each request's time within the interval, also of intervals that were joined", () => {
  const request = fc.tuple(fc.integer({ min: -50, max: 9000 }), fc.integer({ min: 0, max: 3000 }));
  fc.assert(
    fc.property(
      fc.array(request, { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 100, max: 12_000 }),
      (given, end) => {
        const at = (ms: number): number => 1e9 + ms * 1e6;
        const over = given.filter(([from, length]) => from + length <= end);
        const open = given.filter(([from, length]) => from <= end && from + length > end);
        const rows = over.map(([from, length]) => ({ sendStartNs: at(from), endNs: at(from + length) }));
        const openNs = open.map(([from]) => at(from));
        for (const { startNs, endNs, meanOutstanding } of timelineOf(rows, at(0), at(end), undefined, openNs)) {
          const within = [...over, ...open].map(([from, length]) =>
            Math.max(0, Math.min((from + length) * 1e6, endNs) - Math.max(from * 1e6, startNs)),
          );
          const expected = within.reduce((sum, ns) => sum + ns, 0) / (endNs - startNs);
          assert.ok(Math.abs(meanOutstanding - expected) < 1e-9 * (1 + expected), `${meanOutstanding} ${expected}`);
        }
      },
    ),
  );
});

test("senders whose windows begin and end at different moments are in flight only within their own", () => {
  const partOf = (startNs: number, endNs: number) => new Timeline(startNs, { durationNs: 1e9 }).finish([0], endNs);
  // The message to begin may reach a busy agent much later than the others.
  for (const laterNs of [0.05e9, 0.35e9, 0.4e9, 0.77e9]) {
    const buckets = toBuckets([partOf(1e9 + laterNs, 2e9), partOf(1e9, 2.03e9)], 2.03e9);
    const inFlightNs = inFlightNsOf(buckets);
    assert.ok(Math.abs(inFlightNs / (1e9 - laterNs + 1.03e9) - 1) < 1e-9, `${inFlightNs}`);
    assert.deepEqual([buckets[0]?.startNs, buckets.at(-1)?.endNs], [0, 1.03e9]);
    for (const { startNs, endNs, meanOutstanding } of buckets) {
      const most = endNs <= laterNs ? 1 : 2;
      assert.ok(meanOutstanding > 0.99 && meanOutstanding < most + 1e-9, `${meanOutstanding} at ${startNs}`);
    }
  }
});

test("a time line that drops old columns keeps the last ones, and all in its total", () => {
  const timeline = new Timeline(0, { mostColumns: 4, columnNs: 10, whenFull: "forget" });
  const records = new RecordColumns((columns, count) => timeline.add(columns, count));
  for (const endNs of [5, 15, 38, 42, 61]) fill(records, { sendStartNs: endNs - 3, endNs });
  records.drain();
  const { sinceNs, requestCount } = timeline.recent(0, 65);
  assert.deepEqual([sinceNs, requestCount, timeline.total().requestCount], [30, 3, 5]);
  assert.deepEqual([timeline.recent(0, 95).sinceNs, timeline.recent(71, 95).requestCount], [60, 0]);
  assert.deepEqual([timeline.recent(68, 95).sinceNs, timeline.recent(68, 95).requestCount], [60, 1]);
  // A long pause costs nothing.
  assert.deepEqual([timeline.recent(0, 1e15).requestCount, timeline.total().requestCount], [0, 5]);
  timeline.restart(7);
  assert.deepEqual([timeline.recent(7, 9).sinceNs, timeline.total().requestCount], [7, 5]);
});

test("requests can be added after columns were read, joined or dropped", () => {
  const records = (timeline: Timeline, endsNs: readonly number[]): void => {
    const columns = new RecordColumns((all, count) => timeline.add(all, count));
    for (const endNs of endsNs) fill(columns, { sendStartNs: endNs - 1, endNs });
    columns.drain();
  };
  const joined = new Timeline(0, { mostColumns: 4, columnNs: 10 });
  records(joined, [5, 15]);
  assert.deepEqual(
    joined.columns(80).map(({ requestCount }) => requestCount),
    [2, 0, 0, 0],
  );
  records(joined, [16, 25, 79]);
  assert.deepEqual(
    joined.columns(80).map(({ requestCount }) => requestCount),
    [3, 1, 0, 1],
  );
  const recent = new Timeline(0, { mostColumns: 4, columnNs: 10, whenFull: "forget" });
  records(recent, [5, 15]);
  assert.equal(recent.recent(0, 55).requestCount, 0);
  records(recent, [21, 15, 39]);
  assert.deepEqual([recent.recent(20, 55).requestCount, recent.recent(30, 55).requestCount], [3, 1]);
  recent.recent(0, 500);
  records(recent, [39]);
  assert.equal(recent.total().requestCount, 6);
  recent.restart(600);
  records(recent, [599, 601]);
  assert.deepEqual([recent.recent(600, 602).requestCount, recent.total().requestCount], [2, 8]);
});
