import { LEVEL_UNITS } from "../../load/level-units.ts";
import { measureRows } from "../../measure/tokens/row-measurement.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import type { TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import { countRequests } from "./run-summary.ts";

/** Runs as shown in Rampart's report: their level contains the requests that GenAI-Perf measures, by its rules. */

/** The load of merged exports. */
export interface MergedLoad extends Pick<LevelResult, "unit" | "level"> {
  /** Time at which the first request was sent. */
  readonly startEpochNs: bigint;
}

/**
 * Returns a run with the requests of its rows, which are those of all windows. A request whose error was found when the response
 * was read counts as failed. @param tokens of the same rows
 */
export function toReportedRun(run: RunResult, columns: TokenColumns, tokens: TokenMeasurement): RunResult {
  const { failedCount, failureExample: example = "" } = columns;
  const judged: RunResult = {
    ...run,
    completedCount: run.completedCount - failedCount,
    failedCount: run.failedCount + failedCount,
    failures: [
      ...run.failures,
      ...(failedCount === 0 ? [] : [{ kind: "model", count: failedCount, example, status: undefined } as const]),
    ],
  };
  const [level] = run.levels;
  if (level === undefined || columns.count === 0) return judged;
  const { failed, cancelled } = countRequests(run, columns);
  const { numbers, windowCount, resentCount, delayedCount, gaps, health, server, gauges, ...window } = level.window;
  const { isScheduled, isStreamed, sendMeanNs, receiveMeanNs, laneNs, overheadPct } = window;
  const measured = measureRows(
    columns,
    tokens,
    defined({
      ...{ isScheduled, isStreamed, failedCount: failed, cancelledCount: cancelled, resentCount, delayedCount },
      ...{ windowCount, gaps, health, server, gauges, sendMeanNs, receiveMeanNs, laneNs, overheadPct },
      numbers: numbers && { ...numbers, first: 1 },
    }),
  );
  return { ...judged, levels: [{ ...level, window: measured }] };
}

/** Returns merged exports as a run. Failed requests and the clients are unknown. */
export function toMergedRun(
  plan: Plan,
  columns: TokenColumns,
  tokens: TokenMeasurement,
  { unit, level, startEpochNs }: MergedLoad,
): RunResult {
  // Exports do not contain the due times of requests.
  const {
    scheduledLatency: _s,
    sendDelay: _d,
    ...measured
  } = measureRows(columns, tokens, {
    isScheduled: LEVEL_UNITS[unit].isScheduled,
    isStreamed: plan.measurement.tokens?.isStreamed === true,
    failedCount: 0,
    cancelledCount: 0,
  });
  const window = { ...measured, isScheduled: false };
  const name = plan.requests?.layout.models.join(", ") ?? "";
  return {
    prepared: {
      plan,
      service: {
        model: { name, version: "", maxBatchSize: 0, inputs: [], outputs: [] },
        ...{ wire: "http", batchSize: 1, isSequence: false, isDecoupled: false, warnings: [] },
      },
      dataset: { streams: [], isFromJson: true, warnings: [] },
      levelUnit: unit,
      requestCount: undefined,
      callMode: "async",
      laneCount: 0,
      warnings: [],
    },
    levels: [
      {
        ...{ unit, level, outcome: "measured", window, trials: 1, isOfOthers: true, timeline: [] },
        ...{ instability: undefined, isLatencyUnstable: false, hasServerCounters: false },
      },
    ],
    ...{ sentCount: window.sentCount, completedCount: window.requestCount, failedCount: 0, cancelledCount: 0 },
    ...{
      failures: [],
      connectionCount: 0,
      slotCount: 0,
      resendCount: 0,
      server: undefined,
      isInterrupted: false,
      error: undefined,
    },
    ...{ laneErrors: [], startEpochNs, durationNs: window.durationNs },
  };
}
