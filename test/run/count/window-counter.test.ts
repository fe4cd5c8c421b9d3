import assert from "node:assert/strict";
import { test } from "node:test";
import { RECORD_CANCELLED, RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import { WindowTally } from "../../../src/measure/tally/window-tally.ts";
import { Timeline, toBuckets } from "../../../src/measure/timeline.ts";
import { LevelMeter } from "../../../src/run/count/window-counter.ts";
import { fill, type Row } from "../../measure/make-records.ts";

function makeMeter() {
  const meter = new LevelMeter();
  meter.begin(() => new WindowTally({ isScheduled: false, countsReading: true, isDecoupled: false }));
  const records = new RecordColumns((columns, count) => meter.add(columns, count));
  const add = (...rows: Row[]): void => {
    for (const row of rows) fill(records, row);
    records.drain();
  };
  return { meter, add };
}

test("a cut ends one window and begins the next", () => {
  const { meter, add } = makeMeter();
  add({ sendStartNs: 0, endNs: 10 }, { sendStartNs: 0, endNs: 20, flags: RECORD_FAILED });
  assert.equal(meter.collected, 2, "failed ones included");
  const first = meter.cut();
  assert.deepEqual([first.latency.count, first.failedCount, meter.collected], [1, 1, 0]);
  add({ sendStartNs: 10, endNs: 30 });
  assert.deepEqual([meter.cut().latency.count, first.latency.count], [1, 1]);
});

test("the last end ignores cancelled requests", () => {
  const { meter, add } = makeMeter();
  add(
    { sendStartNs: 0, endNs: 10, overNs: 15 },
    { sendStartNs: 0, endNs: 12 },
    { sendStartNs: 0, endNs: 99, flags: RECORD_FAILED | RECORD_CANCELLED },
  );
  assert.equal(meter.lastEndNs, 15);
});

test("a time line gets the same records while there is one", () => {
  const { meter, add } = makeMeter();
  const timeline = new Timeline(0, { durationNs: 1e9 });
  meter.timeline = timeline;
  add({ sendStartNs: 0, endNs: 10e6 });
  meter.timeline = undefined;
  add({ sendStartNs: 0, endNs: 20e6 });
  assert.equal(toBuckets([timeline.finish()], 100e6)[0]?.requestCount, 1);
});

test("before a level begins nothing is counted", () => {
  const meter = new LevelMeter();
  assert.deepEqual([meter.collected, meter.cut().failedCount], [0, 0]);
});
