import { type Change, moreRunsNeeded } from "../../measure/compare/change.ts";
import type { LimitState } from "../../measure/limits/judge-limits.ts";
import type { NamedMetric } from "../../measure/metrics/metric-names.ts";
import { defined } from "../../plan/objects.ts";
import type { Comparison, LevelComparison, MetricComparison } from "./comparison.ts";

/** Limits of a comparison, which decide whether a change is a regression. */

/** A limit. It is broken if its comparison is true. */
export interface ChangeLimit {
  /** The limit as the user wrote it. */
  readonly text: string;
  readonly metric: NamedMetric;
  readonly comparison: ">" | ">=" | "<" | "<=";
  /** The limited value: the relative change, the change in ratios of requests, or the value of the new side. */
  readonly of: "relative" | "points" | "value";
  /** 0.05 for +5 %, 0.01 for +1 point, or a value in the unit of the metric. */
  readonly amount: number;
}

/**
 * State of a limit at a level.
 *
 * - `kept`, `broken`: the whole interval is on that side of the limit
 * - `unresolved`: the limit is inside the interval
 * - `undecidable`: there is no interval, so that no result could be kept or broken
 */
export type ChangeLimitState = LimitState | "undecidable";

/** Verdict on a limit at a level. */
export interface ChangeLimitVerdict {
  readonly limit: ChangeLimit;
  readonly level: string;
  readonly state: ChangeLimitState;
  /** The limited change with its interval; absent if a side has no value. */
  readonly change?: Change;
  readonly value?: MetricComparison["next"];
  /** With `unresolved`: number of runs per side that would decide; absent if unknown or more than 1,000. */
  readonly runsNeeded?: number;
  /** With `unresolved`: a lower percentile or the mean of the same metric, whose limit is decided. Absent: there is no such metric. */
  readonly decidedBy?: NamedMetric;
  /** With `undecidable`: the reason. */
  readonly reason?: string;
}

/** A comparison and its limits, as shown in reports. */
export interface ComparedSides {
  readonly comparison: Comparison;
  readonly limits: readonly ChangeLimitVerdict[];
  /** Whether tables contain all metrics. */
  readonly isAll: boolean;
}

/** Judges a limit at each level of both sides, and at levels that the new side lacks. */
export function judgeLimit(limit: ChangeLimit, comparison: Comparison): ChangeLimitVerdict[] {
  const { levels, onlyInBase, next } = comparison;
  const missing = onlyInBase.map((level): ChangeLimitVerdict => {
    return { limit, level, state: "undecidable", reason: `${next.name} does not have this level` };
  });
  const judged = levels.flatMap((level) => judgeAt(limit, level, comparison));
  if (judged.length > 0 || missing.length > 0) return [...judged, ...missing];
  return [{ limit, level: "all levels", state: "undecidable", reason: "no level has it on both sides" }];
}

function judgeAt(
  limit: ChangeLimit,
  level: LevelComparison,
  { next, acceptsWithinRuns }: Comparison,
): ChangeLimitVerdict[] {
  const { name } = limit.metric;
  const found = level.metrics.find(({ metric }) => metric.name === name);
  if (found !== undefined) {
    const verdict = judgeMetric(limit, level.label, found, acceptsWithinRuns);
    const decidedBy = verdict.state === "unresolved" ? findDecided(limit, level, acceptsWithinRuns) : undefined;
    return [decidedBy === undefined ? verdict : { ...verdict, decidedBy }];
  }
  if (!level.onlyInBase.includes(name)) return [];
  return [
    { limit, level: level.label, state: "undecidable", reason: `${next.name} has no ${limit.metric.label} here` },
  ];
}

/** Statistics that need fewer requests, closest first. */
const LOWER_STATISTICS = ["p99", "p95", "p90", "p75", "p50", "mean"];

/** Returns the highest lower percentile of the same metric whose limit is decided. Not for the limit of a value. */
function findDecided(
  limit: ChangeLimit,
  { label, metrics }: LevelComparison,
  acceptsWithinRuns: boolean,
): NamedMetric | undefined {
  const [, family, statistic] = /^(.+)\.p(\d.*)$/.exec(limit.metric.name) ?? [];
  if (family === undefined || statistic === undefined || limit.of === "value") return undefined;
  for (const lower of LOWER_STATISTICS) {
    if (lower.startsWith("p") && Number(lower.slice(1)) >= Number(statistic)) continue;
    const found = metrics.find(({ metric }) => metric.name === `${family}.${lower}`);
    if (found === undefined) continue;
    const { state } = judgeMetric({ ...limit, metric: found.metric }, label, found, acceptsWithinRuns);
    if (state === "kept" || state === "broken") return found.metric;
  }
  return undefined;
}

function judgeMetric(
  limit: ChangeLimit,
  level: string,
  { change, next, base }: MetricComparison,
  acceptsWithinRuns: boolean,
): ChangeLimitVerdict {
  const isValue = limit.of === "value";
  const { low, high } = isValue ? next : change;
  const measured = isValue ? { value: next } : { change };
  if (low === null && high === null) {
    const count = isValue ? next.values.length : Math.min(base.values.length, next.values.length);
    const ofOneRun = acceptsWithinRuns
      ? "a run has no interval for it: its requests are too few or too alike, or its file has none"
      : "one run says nothing about how runs differ";
    const reason = count < 2 ? ofOneRun : "the base is 0";
    return { limit, level, state: "undecidable", reason, ...measured };
  }
  const threshold = thresholdOf(limit);
  const state = stateOf(limit.comparison, threshold, low ?? Number.NEGATIVE_INFINITY, high ?? Number.POSITIVE_INFINITY);
  const away = Math.abs((change.value ?? threshold) - threshold);
  const needed = state === "unresolved" && !isValue ? moreRunsNeeded(base, next, change, away) : undefined;
  return { limit, level, state, ...measured, ...defined({ runsNeeded: needed }) };
}

/** Returns the limit in the unit of the change or the value. */
function thresholdOf({ of, amount }: ChangeLimit): number {
  return of === "relative" ? 1 + amount : amount;
}

function stateOf(
  comparison: ChangeLimit["comparison"],
  threshold: number,
  low: number,
  high: number,
): ChangeLimitState {
  const holds = (value: number): boolean => {
    switch (comparison) {
      case ">":
        return value > threshold;
      case ">=":
        return value >= threshold;
      case "<":
        return value < threshold;
      case "<=":
        return value <= threshold;
    }
  };
  const [lowHolds, highHolds] = [holds(low), holds(high)];
  if (lowHolds !== highHolds) return "unresolved";
  return lowHolds ? "broken" : "kept";
}
