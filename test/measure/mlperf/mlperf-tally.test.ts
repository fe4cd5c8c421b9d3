import assert from "node:assert/strict";
import { test } from "node:test";
import { MlperfTally } from "../../../src/measure/mlperf/mlperf-tally.ts";
import { RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import { fill, type Row } from "../make-records.ts";

function sampleOf(samplesPerQuery: number, rows: readonly Row[]): ReturnType<MlperfTally["sample"]> {
  const tally = new MlperfTally(samplesPerQuery);
  const records = new RecordColumns((columns, count) => tally.add(columns, count));
  for (const row of rows) fill(records, row);
  records.drain();
  return tally.sample();
}

test("latencies begin when a request was due", () => {
  const sample = sampleOf(1, [
    { intendedSendNs: 100, sendStartNs: 150, endNs: 400, overNs: 450 },
    { intendedSendNs: 200, sendStartNs: 200, endNs: 300 },
  ]);
  assert.deepEqual([...sample.sampleLatenciesNs], [100, 300]);
  assert.equal(sample.queryLatenciesNs, sample.sampleLatenciesNs);
  assert.deepEqual([sample.lastDueNs, sample.lastEndNs], [200, 450]);
});

test("a query takes as long as its slowest request", () => {
  const sample = sampleOf(2, [
    { intendedSendNs: 100, sendStartNs: 101, endNs: 400 },
    { intendedSendNs: 100, sendStartNs: 102, endNs: 250 },
    { intendedSendNs: 500, sendStartNs: 500, endNs: 510 },
    { intendedSendNs: 500, sendStartNs: 501, endNs: 520 },
  ]);
  assert.deepEqual([...sample.queryLatenciesNs], [20, 300]);
  assert.equal(sample.sampleLatenciesNs.length, 4);
});

test("a failed request has no latency, and neither has its query", () => {
  const sample = sampleOf(2, [
    { intendedSendNs: 100, sendStartNs: 101, endNs: 400, flags: RECORD_FAILED },
    { intendedSendNs: 100, sendStartNs: 102, endNs: 250 },
    { intendedSendNs: 500, sendStartNs: 500, endNs: 510 },
    { intendedSendNs: 500, sendStartNs: 501, endNs: 520 },
  ]);
  assert.deepEqual([...sample.queryLatenciesNs], [20]);
  assert.deepEqual([...sample.sampleLatenciesNs], [10, 20, 150]);
  assert.deepEqual([sample.failedCount, sample.failedQueryCount], [1, 1]);
});
