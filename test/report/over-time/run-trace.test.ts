import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RECORD_CANCELLED, RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import { nsToSec } from "../../../src/plan/units.ts";
import { type TimeColumn, toRunTimes } from "../../../src/report/model/charts/chart-source.ts";
import { percentileUs } from "../../../src/report/model/charts/time-charts.ts";
import { RunTrace } from "../../../src/report/over-time/run-trace.ts";
import { fill } from "../../measure/make-records.ts";

/** The requests of a run over time: whatever their number and length, the columns add up to them. */

interface Request {
  readonly sentMs: number;
  readonly tookMs: number;
  readonly end: "answered" | "failed" | "cancelled";
}

const FLAGS = { answered: 0, failed: RECORD_FAILED, cancelled: RECORD_FAILED | RECORD_CANCELLED } as const;
const requests = fc.array(
  fc.record({
    sentMs: fc.integer({ min: 0, max: 60_000 }),
    tookMs: fc.integer({ min: 1, max: 9_000 }),
    end: fc.constantFrom<Request["end"]>("answered", "answered", "failed", "cancelled"),
  }),
  { minLength: 1, maxLength: 80 },
);

function traceOf(all: readonly Request[]): RunTrace {
  const trace = new RunTrace(5e9);
  const columns = new RecordColumns((records, count) => trace.add(records, count));
  for (const { sentMs, tookMs, end } of all.toSorted((a, b) => a.sentMs + a.tookMs - b.sentMs - b.tookMs)) {
    const sendStartNs = 5e9 + sentMs * 1e6;
    const endNs = sendStartNs + tookMs * 1e6;
    fill(columns, { sendStartNs, endNs, overNs: endNs, flags: FLAGS[end] });
  }
  columns.drain();
  return trace;
}

/** Returns columns in seconds since the trace began. */
function columnsOf(all: readonly Request[], most: number, fewest = most, perColumn = 0): TimeColumn[] {
  const steps = traceOf(all).steps(most, fewest, perColumn, (atNs) => nsToSec(atNs - 5e9));
  return [...toRunTimes({ steps, windows: [], spans: [], gpus: [] }).columns];
}

test("the columns count every request once, and add up to the time in flight, at any width", () => {
  fc.assert(
    fc.property(requests, fc.constantFrom(240, 60, 7), (all, most) => {
      const columns = columnsOf(all, most);
      const sum = (pick: (column: (typeof columns)[number]) => number): number =>
        columns.reduce((total, column) => total + pick(column), 0);
      const count = (end: Request["end"]): number => all.filter((one) => one.end === end).length;
      assert.ok(columns.length <= most);
      assert.deepEqual(
        [
          sum(({ requests }) => requests),
          sum(({ failed }) => failed),
          sum(({ latencyBins }) => latencyBins.reduce((total, [, inBin]) => total + inBin, 0)),
        ],
        [count("answered"), count("failed"), count("answered")],
      );
      const inFlightSec = sum(({ outstandingMean, startSec, endSec }) => outstandingMean * (endSec - startSec));
      const expectedSec = all.reduce((total, { tookMs }) => total + tookMs / 1000, 0);
      assert.ok(Math.abs(inFlightSec - expectedSec) < 1e-6 * expectedSec + 1e-6, `${inFlightSec} ${expectedSec}`);
    }),
    { numRuns: 20 },
  );
});

test("a run of a day has no more columns than one of a minute", () => {
  const day: readonly Request[] = [
    { sentMs: 0, tookMs: 5, end: "answered" },
    { sentMs: 86_400_000, tookMs: 5, end: "answered" },
  ];
  const columns = columnsOf(day, 240);
  assert.ok(columns.length > 100 && columns.length <= 240);
  assert.deepEqual([columns[0]?.requests, columns.at(-1)?.requests], [1, 1]);
});

test("few requests have wide columns, so that rates are not jagged", () => {
  const sparse = Array.from({ length: 20 }, (_, i): Request => ({ sentMs: i * 100, tookMs: 50, end: "answered" }));
  const columns = columnsOf(sparse, 120, 5, 4);
  assert.ok(columns.length <= 10, `${columns.length}`);
});

test("percentiles of bins are within 1 %", () => {
  const all = Array.from({ length: 1000 }, (_, i): Request => ({ sentMs: i, tookMs: 1 + (i % 100), end: "answered" }));
  const [column] = columnsOf(all, 1, 1);
  for (const [percentile, ms] of [
    [50, 50],
    [99, 99],
  ] as const) {
    const us = percentileUs(column?.latencyBins ?? [], percentile) ?? 0;
    assert.ok(Math.abs(us / (ms * 1000) - 1) < 0.01 + 1 / ms, `p${percentile}: ${us}`);
  }
  assert.equal(percentileUs([], 50), undefined);
});
