import type { AssertionPlan } from "../../plan/assertions.ts";
import { formatCount, sum } from "../../plan/units.ts";
import { gapRatio, isHiddenByGaps } from "../completion-gaps.ts";
import { isInformative } from "../intervals/certainty.ts";
import type { OverRuns } from "../intervals/over-runs.ts";
import { metricOf } from "../metrics/catalogue.ts";
import type { MeasuredPart } from "../metrics/metric.ts";
import { explainMissing, metricValue, sampleOf } from "../metrics/read-metric.ts";
import {
  isUpperLimit,
  judgeInterval,
  judgePercentile,
  judgeValue,
  LEAST_JUDGED_COUNT,
  requestsToShow,
  type VerdictState,
} from "../verdict-state.ts";
import { type RequestsNeeded, requestsNeeded } from "./requests-needed.ts";

/** Judges an assertion for a set of requests: a level, or its requests with certain tags. */

/** Result of an assertion for a set of requests. */
export interface PartVerdict {
  readonly state: VerdictState;
  /** Undefined without a measurement. */
  readonly value: number | undefined;
  readonly reason?: string | undefined;
  /** The number of requests that would decide it. Absent: it is decided, requests do not help, or far too many are needed. */
  readonly needed?: RequestsNeeded | undefined;
}

/** Reason why a result is open because of a gap. A note describes the gap, and what to do. */
export const NOTHING_COMPLETED = "nothing completed for a time";
const TOO_CLOSE = "too close to the limit for a longer run to decide; choose another limit";

/**
 * Judges an assertion for a set of requests. Percentiles and means of samples are estimates: they pass or fail if that is
 * certain at 95 %. Everything else is exact: its value decides.
 * @param part undefined if no request has the assertion's tags
 */
export function judgePart(assertion: AssertionPlan, part: MeasuredPart | undefined, batchSize: number): PartVerdict {
  const { metric, where } = assertion;
  if (part === undefined) return unresolved(undefined, where === undefined ? undefined : "no request had these tags");
  const value = metricValue(metric, part, batchSize);
  if (value === undefined) return unresolved(undefined, explainMissing(metric, part, batchSize));
  const state = judgeMetric(assertion, part, value);
  if (state === "pass" && hidesGaps(assertion, part, value)) return unresolved(value, NOTHING_COMPLETED);
  // Where values decide, a percentile of too few values is not decided.
  const isFew = !isEstimate(assertion, part) && findFew(assertion, sampleCountOf(assertion, part)) !== undefined;
  if (state !== "unresolved" && !isFew) return { state, value };
  const needed = requestsNeeded(assertion, part);
  return { ...unresolved(value, needed === undefined ? TOO_CLOSE : explainNeeded(assertion, needed)), needed };
}

/** Describes how many requests would decide: `p99 needs 299 requests, has 40`. */
function explainNeeded({ metric: { statistic } }: AssertionPlan, { count, needed, isFew }: RequestsNeeded): string {
  const has = `has ${formatCount(count)}`;
  if (isFew) return `p${statistic} needs ${formatCount(needed)} requests, ${has}`;
  return `too close to the limit; needs about ${formatCount(needed)} requests, ${has}`;
}

function unresolved(value: number | undefined, reason: string | undefined): PartVerdict {
  return { state: "unresolved", value, reason };
}

/**
 * Reports whether a percentile ignores a time in which nothing completed: a closed loop does not send then, so the requests
 * that would have waited are missing. True if the requests that were due in the percentile's share of the time would have
 * waited past the limit, until the end of the gap plus the time of the percentile.
 */
function hidesGaps({ metric, comparison, limit }: AssertionPlan, { window }: MeasuredPart, value: number): boolean {
  const { statistic } = metric;
  if (typeof statistic !== "number" || metricOf(metric).isBlindToGaps !== true || !isUpperLimit(comparison))
    return false;
  return !window.isScheduled && isHiddenByGaps(gapRatio(window, limit - value), statistic);
}

function judgeMetric(assertion: AssertionPlan, part: MeasuredPart, value: number): VerdictState {
  const { metric, comparison, limit } = assertion;
  const { statistic } = metric;
  const sample = sampleOf(metric, part);
  if (sample?.above === undefined || comparison === "is") return judgeValue(assertion, value);
  if (typeof statistic === "number") {
    const isAtLeast = comparison === "below" || comparison === "at-least";
    return judgePercentile(comparison, statistic, sample.above(limit, isAtLeast));
  }
  const ends = statistic === "mean" ? sample.estimateMean?.({ leastCount: LEAST_JUDGED_COUNT }) : undefined;
  return ends === undefined ? judgeValue(assertion, value) : judgeInterval(assertion, { ...ends, value });
}

/** Reports whether an assertion is judged by the certainty of its value. */
function isEstimate({ metric }: AssertionPlan, part: MeasuredPart): boolean {
  return sampleOf(metric, part)?.above !== undefined;
}

/**
 * Judges an assertion over several runs. Times pass or fail if the interval of the mean over the runs does, or if each run does
 * by itself; everything else by the mean.
 * @param over undefined if a run has no value
 */
export function judgeOver(
  assertion: AssertionPlan,
  over: OverRuns | undefined,
  parts: readonly (MeasuredPart | undefined)[],
  batchSize: number,
): Omit<PartVerdict, "value"> {
  const each = parts.map((part) => judgePart(assertion, part, batchSize));
  if (over === undefined) return { state: "unresolved", reason: each.find(({ value }) => value === undefined)?.reason };
  const [common, ...others] = new Set(each.map(({ state }) => state));
  if (others.length === 0 && common !== undefined && common !== "unresolved") return { state: common };
  const counts = parts.flatMap((part) => (part && sampleCountOf(assertion, part)) ?? []);
  if (counts.length === 0) return { state: judgeValue(assertion, over.mean) };
  const total = sum(counts);
  const few = findFew(assertion, total);
  const state = judgeInterval(assertion, { ...over, value: over.mean });
  if (state === "fail" || (state === "pass" && few === undefined)) return { state };
  const isRatio = metricOf(assertion.metric).quantity === "ratio";
  const why = isInformative({ ...over, value: over.mean, isRatio }) ? "too close to the limit" : "too uncertain";
  if (few === undefined) return { state: "unresolved", reason: `${why}; add runs` };
  return { state: "unresolved", reason: explainNeeded(assertion, few), needed: few };
}

/** Returns the number of values of a percentile, or of a mean that is an estimate; undefined for exact metrics. */
function sampleCountOf(assertion: AssertionPlan, part: MeasuredPart): number | undefined {
  const { metric } = assertion;
  const { statistic } = metric;
  if (typeof statistic === "number") return sampleOf(metric, part)?.count ?? 0;
  return statistic === "mean" && isEstimate(assertion, part) ? sampleOf(metric, part)?.count : undefined;
}

/** Returns the missing requests of a sample that is too small to show a percentile; undefined if it is large enough. */
function findFew({ metric, comparison }: AssertionPlan, count: number | undefined): RequestsNeeded | undefined {
  const { statistic } = metric;
  if (count === undefined || comparison === "is" || typeof statistic !== "number") return undefined;
  const needed = requestsToShow(comparison, statistic);
  return count >= needed ? undefined : { count, needed, isFew: true };
}
