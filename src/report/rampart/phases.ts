import { LEVEL_UNITS } from "../../load/level-units.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, nsToSec } from "../../plan/units.ts";
import type { LevelResult, PhasesResult } from "../../result/run-result.ts";
import { loadDelivery } from "../notes/load-delivery.ts";
import { formatTable } from "./format.ts";

/** Phases of a run in Rampart's reports: what each counted, the whole run as a time line. */

/** Returns the measured levels of a phase of a run. */
export function levelsOf(levels: readonly LevelResult[], index: number): LevelResult[] {
  return levels.filter(({ phase, window }) => phase?.index === index && window.durationNs > 0);
}

/** Formats the load delivered and asked for in a phase: `64 of 64 in flight`, for each of its levels. */
function formatDelivery(plan: Plan, levels: readonly LevelResult[]): string {
  const [first] = levels;
  if (first === undefined) return "";
  const pairs = levels.map((level) => {
    const { asked, delivered } = loadDelivery(plan, level);
    return asked === undefined ? formatCount(delivered) : `${formatCount(delivered)} of ${formatCount(asked)}`;
  });
  return `${pairs.join(", ")} ${LEVEL_UNITS[first.unit].isScheduled ? "requests/s" : "in flight"}`;
}

/** Formats a table of all phases, also those that are not measured. @param levels all of the run */
export function formatPhases(plan: Plan, { phases, after }: PhasesResult, levels: readonly LevelResult[]): string {
  const rows = phases.map(({ index, label, isWarmup, startNs, endNs, tally, openBeforeCount }) => [
    `${numberOf(index)} ${isWarmup && label !== "warm-up" ? `${label} (warm-up)` : label}`,
    formatDurationNs(startNs),
    formatDurationNs(endNs - startNs),
    formatCount(openBeforeCount),
    formatCount(tally.sentCount),
    formatCount(tally.completedCount),
    formatCount(tally.failedCount),
    tally.cancelledCount === 0 ? "" : formatCount(tally.cancelledCount),
    isWarmup ? "not measured" : formatDelivery(plan, levelsOf(levels, index)),
  ]);
  const header = [
    "phase",
    "begins at",
    "lasts",
    "in flight",
    "sent",
    "completed",
    "failed",
    "cancelled",
    "load, of that asked for",
  ];
  const late = after.completedCount + after.failedCount + after.cancelledCount;
  const note = late === 0 ? "" : `\n${formatCount(late)} of the requests ended after the last phase`;
  return `${formatTable(header, rows)}${note}`;
}

/** Formats the time line of a run. @param unit of throughput */
export function formatRunTimeline({ phases, timeline }: PhasesResult, batchSize: number, unit: string): string {
  const rows = timeline.map((bucket) => {
    const seconds = nsToSec(bucket.endNs - bucket.startNs);
    const within = phases.filter(({ startNs, endNs }) => startNs < bucket.endNs && endNs > bucket.startNs);
    return [
      `${nsToSec(bucket.startNs).toFixed(1)} s`,
      formatCount(bucket.meanOutstanding),
      formatCount((bucket.requestCount * batchSize) / seconds),
      bucket.latency === undefined ? "-" : formatDurationNs(bucket.latency.meanNs),
      bucket.latency === undefined ? "-" : formatDurationNs(bucket.latency.p99Ns),
      formatCount(bucket.failedCount),
      within.map(({ index }) => numberOf(index)).join(", "),
    ];
  });
  return formatTable(["time", "outstanding", unit, "average", "p99", "errors", "phase"], rows);
}

function numberOf(index: number): string {
  return `#${index + 1}`;
}
