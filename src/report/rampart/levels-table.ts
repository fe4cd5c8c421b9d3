import { LEVEL_UNITS } from "../../load/level-units.ts";
import { latencyOf } from "../../measure/measurement.ts";
import { errorRatio, inferPerSec, responsesPerSec, sentPerSec, sequencesPerSec } from "../../measure/metrics.ts";
import { percentileUs } from "../../measure/sketch.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct, nsToSec } from "../../plan/units.ts";
import { describeLevel } from "../../registry/load-modes.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { CONSOLE_PERCENTILES, formatMarked } from "./confidence-notes.ts";
import { formatTable, formatUs } from "./format.ts";
import { describeOutcome, formatGap, formatServer } from "./level-cells.ts";

/** Formats a row per level. @param unit of throughput @param hasGaps whether a request may have many responses, so that times between them exist */
export function formatLevels(plan: Plan, levels: readonly LevelResult[], unit: string, hasGaps: boolean): string {
  const hasPhases = levels.some(({ phase }) => phase !== undefined);
  const isScheduled = levels.some(({ window }) => window.isScheduled);
  const isDecoupled = levels.some(({ window }) => window.isDecoupled);
  const hasSequences = levels.some(({ window }) => window.sequenceCount > 0);
  const hasStatistics = targetKindOf(plan.target).hasNoStatistics !== true;
  const header = [
    hasPhases ? "phase" : LEVEL_UNITS[levels[0]?.unit ?? "concurrency"].column,
    ...(isScheduled ? ["req/s sent"] : []),
    unit,
    ...(isDecoupled ? ["responses/s", "p99 of the first", ...(hasGaps ? ["between them"] : [])] : []),
    ...(hasSequences ? ["sequences/s"] : []),
    "average",
    ...CONSOLE_PERCENTILES.map((percentile) => `p${percentile}`),
    ...(isScheduled ? ["p99 from due time"] : []),
    ...(hasStatistics ? ["server avg"] : []),
    "errors",
    "requests",
    "",
  ];
  const rows = levels.map((level) => {
    const { window } = level;
    const hasSamples = window.requestCount > 0;
    return [
      hasPhases ? describeLevel(plan.load, level.level, level.phase?.index) : formatCount(level.level),
      ...(isScheduled ? [formatCount(sentPerSec(window))] : []),
      formatCount(inferPerSec(window, plan.target.batchSize)),
      ...(isDecoupled
        ? [
            formatCount(responsesPerSec(window)),
            formatMarked(latencyOf(window, "firstResponse"), 99),
            ...(hasGaps ? [formatGap(window)] : []),
          ]
        : []),
      ...(hasSequences ? [formatCount(sequencesPerSec(window))] : []),
      hasSamples ? formatDurationNs(window.latency.mean) : "-",
      ...CONSOLE_PERCENTILES.map((percentile) => formatMarked(window.latency, percentile)),
      ...(isScheduled ? [hasSchedule(level) ? formatMarked(latencyOf(window, "scheduledLatency"), 99) : "-"] : []),
      ...(hasStatistics ? [formatServer(window)] : []),
      formatPct(errorRatio(window)),
      formatCount(window.requestCount),
      describeOutcome(level),
    ];
  });
  return formatTable(header, rows);
}

/** Formats the time line of a level. @param unit of throughput */
export function formatTimeline({ timeline }: LevelResult, batchSize: number, unit: string): string {
  const rows = timeline.map((bucket) => {
    const seconds = nsToSec(bucket.endNs - bucket.startNs);
    const hasSamples = bucket.requestCount > 0;
    return [
      `${nsToSec(bucket.startNs).toFixed(1)} s`,
      formatCount(bucket.meanOutstanding),
      formatCount((bucket.requestCount * batchSize) / seconds),
      hasSamples ? formatDurationNs(bucket.latency.mean) : "-",
      hasSamples ? formatUs(percentileUs(bucket.latency, 99)) : "-",
      formatCount(bucket.failedCount),
    ];
  });
  return formatTable(["time", "outstanding", unit, "average", "p99", "errors"], rows);
}

/** Whether requests of a level are due at times. Some phases of a load may be without a schedule. */
function hasSchedule({ phase, window }: LevelResult): boolean {
  return phase === undefined || window.isScheduled;
}
