import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { RECORD_CANCELLED, RECORD_FAILED, RecordColumns } from "../../../src/measure/records.ts";
import { Timeline, toBuckets } from "../../../src/measure/timeline.ts";
import { msToNs, nsToSec, sum } from "../../../src/plan/units.ts";
import { checkPlan } from "../../../src/registry/check-plan.ts";
import { followRuns, RunFollower } from "../../../src/report/json/followed-runs.ts";
import { toTimelineJson } from "../../../src/report/json/level.ts";
import { toReportJson } from "../../../src/report/json/report-json.ts";
import { RunState } from "../../../src/report/live/run-state.ts";
import { toPagePoint } from "../../../src/report/live/watch/watch-page.ts";
import { viewReport } from "../../../src/report/model/build-model.ts";
import { heatMap, timedRuns, timeLine, toRunTimes } from "../../../src/report/model/charts/time-charts.ts";
import type { ReportView } from "../../../src/report/model/report-view.ts";
import type { HeatMapPlot, TimeLinePlot } from "../../../src/report/plot.ts";
import type { OverTimeJson } from "../../../src/report/schema/over-time.ts";
import { broadcast, type RunProgress } from "../../../src/result/observer.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { fill } from "../../measure/make-records.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { LIMIT } from "../../time-limit.ts";
import { makePrepared } from "../make-result.ts";

/** One run has one time line: in JSON, on the page and while it lasts, its counts and percentiles are those of the records. */

const START_NS = 5e9;

/** A request that has ended. Times are nanoseconds after the start. */
interface Request {
  readonly sentNs: number;
  readonly endNs: number;
  readonly end: "answered" | "failed" | "cancelled";
}

const FLAGS = { answered: 0, failed: RECORD_FAILED, cancelled: RECORD_FAILED | RECORD_CANCELLED } as const;
const requests = fc
  .array(
    fc.record({
      sentMs: fc.integer({ min: 0, max: 60_000 }),
      tookUs: fc.integer({ min: 20, max: 9_000_000 }),
      end: fc.constantFrom<Request["end"]>("answered", "answered", "failed", "cancelled"),
    }),
    { minLength: 1, maxLength: 80 },
  )
  .map((all) =>
    all
      .map(({ sentMs, tookUs, end }) => ({ sentNs: msToNs(sentMs), endNs: msToNs(sentMs) + tookUs * 1000 + 1, end }))
      .toSorted((a, b) => a.endNs - b.endNs),
  );

/** What a time line says of an interval, in seconds after the start. */
interface Told {
  readonly startSec: number;
  readonly endSec: number;
  readonly completed?: number;
  readonly failed?: number;
  readonly cancelled?: number | undefined;
  readonly p50Us?: number | undefined;
  readonly p99Us?: number | undefined;
}

/** Returns the exact percentile. @param latencies ascending */
function percentileUs(latencies: readonly number[], ratio: number): number | undefined {
  const ns = latencies[Math.ceil(ratio * latencies.length) - 1];
  return ns === undefined ? undefined : ns / 1000;
}

function isNear(told: number | undefined, truth: number | undefined, tolerance = 0.006): boolean {
  if (told === undefined || truth === undefined) return told === truth;
  return Math.abs(told / truth - 1) <= tolerance;
}

/** Asserts that a time line tells the truth. The last interval has what ended exactly at its end. */
function checkTold(what: string, told: readonly Told[], all: readonly Request[]): void {
  for (const [index, one] of told.entries()) {
    const isLast = index === told.length - 1;
    // Bounds in seconds are rounded; requests end at odd nanoseconds.
    const within = all.filter(({ endNs }) => {
      const sec = nsToSec(endNs);
      return sec >= one.startSec - 1e-12 && (sec < one.endSec - 1e-12 || (isLast && sec <= one.endSec + 1e-9));
    });
    const count = (end: Request["end"]): number => within.filter((request) => request.end === end).length;
    const latencies = within
      .filter(({ end }) => end === "answered")
      .map(({ sentNs, endNs }) => endNs - sentNs)
      .toSorted((a, b) => a - b);
    const place = `${what}, ${one.startSec} s to ${one.endSec} s`;
    if (one.completed !== undefined) assert.equal(one.completed, count("answered"), place);
    if (one.failed !== undefined) assert.equal(one.failed, count("failed"), place);
    if (one.cancelled !== undefined) assert.equal(one.cancelled, count("cancelled"), place);
    if ("p50Us" in one) assert.ok(isNear(one.p50Us, percentileUs(latencies, 0.5)), `${place}: p50 ${one.p50Us}`);
    if ("p99Us" in one) assert.ok(isNear(one.p99Us, percentileUs(latencies, 0.99)), `${place}: p99 ${one.p99Us}`);
  }
}

function record(
  all: readonly Request[],
  add: (records: RecordColumns, count: number) => void,
  startNs = START_NS,
): void {
  const records = new RecordColumns(add);
  for (const { sentNs, endNs, end } of all)
    fill(records, { sendStartNs: startNs + sentNs, endNs: startNs + endNs, flags: FLAGS[end] });
  records.drain();
}

function toldByJson(rows: ReturnType<typeof toTimelineJson>): Told[] {
  return rows.map(({ latencyP99Us, ...row }) => ({ ...row, p99Us: latencyP99Us ?? undefined }));
}

function toldByPage(timeline: OverTimeJson["timeline"]): Told[] {
  return toRunTimes({ timeline, windows: [], spans: [], gpus: [] }).columns.map(({ latency, ...column }) => {
    const [p50Us, p99Us] = latency.quantiles([0.5, 0.99])?.map((ns) => ns / 1000) ?? [];
    return { ...column, p50Us, p99Us };
  });
}

/** Returns what the watch page's charts say. */
function toldByWatchPage(all: readonly Request[], endNs: number): Told[] {
  const timeline = new Timeline(START_NS, { mostColumns: 30, columnNs: 1e9 });
  record(all, (records, count) => timeline.add(records, count));
  const columns = timeline.columns(START_NS + endNs);
  return columns.map((column) => {
    const [startSec, endSec] = [nsToSec(column.startNs), nsToSec(column.endNs)];
    const point = toPagePoint(column);
    const failed = Math.round(point.failedPerSec * (endSec - startSec));
    assert.ok(point.elapsedSec > startSec && point.elapsedSec < endSec);
    const { p50: p50Us, p99: p99Us } = point.latencyUs ?? {};
    return { startSec, endSec, failed, p50Us, p99Us };
  });
}

/** Returns what the live view says at a time. */
function toldLive(all: readonly Request[], nowNs: number): Told & { readonly perSec: number } {
  let atNs = START_NS;
  const plan = makePlan();
  const state = new RunState(plan, () => atNs);
  const ended = all.filter(({ endNs }) => endNs <= nowNs);
  const counts = { sentCount: ended.length, completedCount: 0, failedCount: 0, cancelledCount: 0 };
  const progress: RunProgress = {
    counts: () => ({ ...counts, outstanding: 0, openResponses: 0 }),
    drainRecords: () => {},
  };
  state.onProgress(progress);
  state.onPrepared(makePrepared(plan));
  state.onLevelStart("concurrency", 1, false);
  record(ended, (records, count) => state.onBatch(records, count));
  // A reader every second.
  for (; atNs < START_NS + nowNs - 2e8; atNs += 1e9) state.snapshot();
  atNs = START_NS + nowNs;
  const { recent, levels } = state.snapshot() ?? assert.fail();
  const { latency } = levels[0] ?? assert.fail();
  assert.equal(latency.count, ended.filter(({ end }) => end === "answered").length);
  state.discard();
  // Since the last reader 5 s before or earlier, from the column of 250 ms on.
  const readerNs = Math.max(0, Math.floor((nowNs - 5e9) / 1e9) * 1e9);
  const [p50Us, , p99Us] = recent.latencyNs?.map((ns) => ns / 1000) ?? [];
  return { startSec: nsToSec(readerNs), endSec: nsToSec(nowNs), p50Us, p99Us, perSec: recent.requestsPerSec };
}

test("time lines in JSON, on the page and live have the counts and percentiles of random records", () => {
  fc.assert(
    fc.property(requests, (all) => {
      const endNs = all.at(-1)?.endNs ?? 0;
      const level = new Timeline(START_NS, { durationNs: endNs });
      const phases = new Timeline(START_NS);
      // It begins to follow before the load begins.
      const run = new RunFollower(1, START_NS - 33e6);
      record(all, (records, count) => {
        level.add(records, count);
        phases.add(records, count);
        run.addBatch(records, count);
      });
      const { timeline } = run.toJson(START_NS, START_NS + endNs);
      const lines: readonly (readonly [what: string, told: Told[]])[] = [
        ["level", toldByJson(toTimelineJson(toBuckets([level.finish()], START_NS + endNs)))],
        ["phases", toldByJson(toTimelineJson(toBuckets([phases.finish()], START_NS + endNs)))],
        ["page", toldByPage(timeline)],
        ["watch page", toldByWatchPage(all, endNs)],
      ];
      for (const [what, told] of lines) {
        checkTold(what, told, all);
        assert.deepEqual([told[0]?.startSec, nsToSec(endNs)], [0, told.at(-1)?.endSec], what);
        for (const [end, key] of [
          ["answered", "completed"],
          ["failed", "failed"],
          ["cancelled", "cancelled"],
        ] as const)
          if (told.every((one) => one[key] !== undefined))
            assert.equal(
              sum(told.map((one) => one[key] ?? 0)),
              all.filter((one) => one.end === end).length,
              `${what}: sum of ${end}`,
            );
      }
      for (const nowNs of [endNs, Math.floor(endNs / 2)]) {
        const { perSec, ...live } = toldLive(all, nowNs);
        checkTold("live", [live], all);
        const recent = all.filter((one) => one.endNs >= live.startSec * 1e9 && one.endNs <= nowNs);
        assert.ok(isNear(perSec, recent.length / (live.endSec - live.startSec), 1e-9) || recent.length === 0);
      }
      const inFlightSec = timeline.reduce((sum, one) => sum + one.inFlightMean * (one.endSec - one.startSec), 0);
      assert.ok(isNear(inFlightSec, sum(all.map((one) => nsToSec(one.endNs - one.sentNs))), 1e-9));
    }),
    { numRuns: 100 },
  );
});

/** Follows requests and returns the columns of the page. */
function followed(all: readonly Request[]): Told[] {
  const run = new RunFollower(1, START_NS);
  record(all, (records, count) => run.addBatch(records, count));
  return toldByPage(run.toJson(START_NS, START_NS + 1e9).timeline);
}

test("a run of a day has no more columns than one of a minute, few requests have wide ones, and none have none", () => {
  const day = followed([0, 86_400e9].map((sentNs) => ({ sentNs, endNs: sentNs + 5e6, end: "answered" })));
  assert.ok(day.length >= 20 && day.length <= 120, `${day.length}`);
  assert.deepEqual([day[0]?.completed, day.at(-1)?.completed], [1, 1]);
  const many = followed(
    Array.from({ length: 5000 }, (_, i) => ({ sentNs: i * 1e6, endNs: i * 1e6 + 5e5, end: "answered" as const })),
  );
  assert.ok(many.length > 60 && many.length <= 120, `${many.length}`);
  const few = followed(
    Array.from({ length: 200 }, (_, i) => ({ sentNs: i * 25e6, endNs: i * 25e6 + 5e6, end: "answered" as const })),
  );
  assert.ok(few.length >= 20 && few.length < 40, `${few.length}`);
  assert.deepEqual(followed([]), []);
});

test("a real run has one truth in the time lines of its level, its page and its live view", LIMIT, async () => {
  const scenario = {
    name: "x",
    target: embedded({ latency: "2 ms", errorRate: "40 %" }),
    load: hold(4, { for: "2 s" }),
  };
  const plan = toPlan(defineScenario(scenario), "/");
  const state = new RunState(plan);
  const over = followRuns(plan);
  const rows: { sentNs: number; endNs: number; end: Request["end"] }[] = [];
  const truth = {
    onBatch: ({ sendStartNs, endNs, flags }: RecordColumns, count: number) => {
      for (let row = 0; row < count; row++) {
        const flag = flags[row] as number;
        const end =
          (flag & RECORD_CANCELLED) !== 0 ? "cancelled" : (flag & RECORD_FAILED) !== 0 ? "failed" : "answered";
        rows.push({ sentNs: sendStartNs[row] as number, endNs: endNs[row] as number, end });
      }
    },
  };
  const { result } = startPlan(plan, {
    openObserver: async () => broadcast([truth, over.observer, state]),
    check: async () => checkPlan(plan),
  });
  const run = await result;
  state.finish();
  const json = toReportJson(plan, run, { overTime: over.toJson([run]) });
  const view = viewReport(plan, json);
  const level = run.levels[0] ?? assert.fail();
  const { window, timeline } = level;
  const after = (startNs: number): Request[] =>
    rows.map((row) => ({ ...row, sentNs: row.sentNs - startNs, endNs: row.endNs - startNs }));
  const inLevel = after(window.startNs).filter(({ endNs }) => endNs > 0 && endNs <= window.durationNs);
  checkTold("level", toldByJson(toTimelineJson(timeline)), inLevel);
  const sums = timeline.reduce(
    ([requests, failed], one) => [requests + one.requestCount, failed + one.failedCount] as [number, number],
    [0, 0] as [number, number],
  );
  assert.deepEqual(sums, [window.requestCount, window.failedCount]);
  assert.ok(window.requestCount > 0 && window.failedCount > 0);
  // The page and the live view have all requests of the run, also those before and after the level.
  const answered = rows.filter(({ end }) => end === "answered");
  const { columns } = timedRuns(view)[0]?.times ?? assert.fail();
  const sumOf = (pick: (column: (typeof columns)[number]) => number): number =>
    columns.reduce((sum, column) => sum + pick(column), 0);
  assert.deepEqual(
    [sumOf(({ completed }) => completed), sumOf(({ latency }) => latency.count), sumOf(({ failed }) => failed)],
    [answered.length, answered.length, rows.filter(({ end }) => end === "failed").length],
  );
  const live = state.snapshot() ?? assert.fail();
  assert.equal(sum(live.levels.map(({ latency }) => latency.count)), answered.length);
  const latencies = answered.map(({ sentNs, endNs }) => endNs - sentNs).toSorted((a, b) => a - b);
  const [p50Ns] = live.levels[0]?.latency.quantiles([0.5]) ?? [];
  if (live.levels.length === 1) assert.ok(isNear((p50Ns ?? 0) / 1000, percentileUs(latencies, 0.5)));
  checkCharts(view, answered.length);
});

/** Asserts that the charts draw the columns of their report. */
function checkCharts(view: ReportView, answeredCount: number): void {
  const { columns } = timedRuns(view)[0]?.times ?? assert.fail();
  const { panels } = timeLine(view)[0] as TimeLinePlot;
  const latency = panels.find(({ label }) => label.startsWith("Latency")) ?? assert.fail();
  const unitUs = { "Latency (s)": 1e6, "Latency (ms)": 1e3, "Latency (us)": 1 }[latency.label] ?? assert.fail();
  const drawn = latency.series.find(({ name }) => name === "p99")?.points.map(([, value]) => value * unitUs) ?? [];
  const expected = columns.flatMap((column) => column.latency.quantiles([0.99])?.map((ns) => ns / 1000) ?? []);
  assert.equal(drawn.length, expected.length);
  for (const [index, us] of drawn.entries()) assert.ok(isNear(us, expected[index], 1e-5));
  const [heat] = heatMap(view) as HeatMapPlot[];
  const cells = heat?.panels[0]?.cells ?? [];
  assert.equal(sum(cells.map(([, , count]) => count)), answeredCount);
  const byColumn = heat?.columns.map((_, at) => cells.reduce((sum, [x, , count]) => sum + (x === at ? count : 0), 0));
  assert.deepEqual(
    byColumn,
    columns.map(({ completed }) => completed),
  );
  const isIn = (index: number, names: readonly string[] = []): boolean => index >= 0 && index < names.length;
  for (const [x, y] of cells) assert.ok(isIn(x, heat?.columns) && isIn(y, heat?.rows), `cell ${x}, ${y}`);
}
