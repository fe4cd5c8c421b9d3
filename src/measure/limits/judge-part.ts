import type { AssertionPlan, MetricPlan } from "../../plan/assertions.ts";
import { type Extracted, extractedPercentile, findExtracted } from "../extracted-tally.ts";
import { estimateMeanNs } from "../intervals/mean-interval.ts";
import type { OverRuns } from "../intervals/over-runs.ts";
import { latencyOf, type Measurement } from "../measurement.ts";
import { errorRatio, inferPerSec } from "../metrics.ts";
import { countAbove, percentileAt } from "../sketch.ts";
import type { TokenColumns } from "../tokens/token-columns.ts";
import {
  explainNoValue,
  isTokenMetric,
  judgeTokenMetric,
  tokenMetricValue,
  tokenSampleOf,
} from "../tokens/token-verdicts.ts";
import {
  isUpperLimit,
  judgeInterval,
  judgePercentile,
  judgeValue,
  LEAST_JUDGED_COUNT,
  requestsToShow,
  type VerdictState,
} from "./verdict-state.ts";

/** Judges an assertion for some requests: a level, or those of it with certain tags. */

/** What an assertion is on: a level, or a part of its requests. */
export interface MeasuredPart {
  readonly window: Measurement;
  /** Token metrics of its responses, when measured. */
  readonly tokens?: TokenColumns | undefined;
  /** Share of the time in gaps, in which nothing ended for much longer than usual, 0 to 1. Default: 0 */
  readonly gapRatio?: number;
}

/** The result of an assertion for some requests. */
export interface PartVerdict {
  readonly state: VerdictState;
  /** Undefined without a measurement. */
  readonly value: number | undefined;
  readonly reason?: string | undefined;
}

const TOO_CLOSE = "too close to the limit; measure longer";

/**
 * Judges an assertion for some requests. Percentiles and averages of times are estimates: they pass or fail when that is certain at 95 %.
 * Counts, rates and ratios are what happened: their value decides.
 * @param part undefined when no request has the assertion's tags
 */
export function judgePart(assertion: AssertionPlan, part: MeasuredPart | undefined, batchSize: number): PartVerdict {
  const { metric } = assertion;
  const value = part && metricValue(metric, part, batchSize);
  if (part === undefined || value === undefined)
    return { state: "unresolved", value: undefined, reason: explainMissing(assertion, part) };
  const few = explainFew(assertion, sampleCountOf(metric, part));
  const state = judgeMetric(assertion, part, value);
  if (state === "pass" && hidesGaps(assertion, part))
    return { state: "unresolved", value, reason: "nothing completed for a time" };
  if (state !== "unresolved" && !(few !== undefined && metric.kind === "extracted")) return { state, value };
  return { state: "unresolved", value, reason: few ?? TOO_CLOSE };
}

/**
 * Reports whether a percentile leaves out that nothing completed for a time: a closed loop does not send then, so the requests that would have
 * waited are missing. It does so when the percentile's share of the time was in gaps.
 */
function hidesGaps({ metric, comparison }: AssertionPlan, { window, gapRatio = 0 }: MeasuredPart): boolean {
  if (metric.kind !== "latency-percentile" || !isUpperLimit(comparison)) return false;
  return !window.isScheduled && gapRatio >= 1 - metric.percentile / 100;
}

function judgeMetric(assertion: AssertionPlan, { window, tokens }: MeasuredPart, value: number): VerdictState {
  const { metric, comparison, limit } = assertion;
  if (isTokenMetric(metric) && tokens !== undefined) return judgeTokenMetric(assertion, metric, tokens, value);
  if (metric.kind === "latency-average")
    return judgeInterval(assertion, estimateMeanNs(latencyOf(window, metric.of), { leastCount: LEAST_JUDGED_COUNT }));
  if (metric.kind !== "latency-percentile" || comparison === "is") return judgeValue(assertion, value);
  const isAtLeast = comparison === "below" || comparison === "at-least";
  return judgePercentile(comparison, metric.percentile, countAbove(latencyOf(window, metric.of), limit, isAtLeast));
}

/**
 * Judges an assertion over several runs. Times pass or fail when the interval of the mean over the runs does, or when each run does on its own;
 * everything else by the mean.
 * @param over undefined when a run has no value
 */
export function judgeOver(
  assertion: AssertionPlan,
  over: OverRuns | undefined,
  parts: readonly (MeasuredPart | undefined)[],
  batchSize: number,
): Omit<PartVerdict, "value"> {
  const each = parts.map((part) => judgePart(assertion, part, batchSize));
  if (over === undefined) return { state: "unresolved", reason: each.find(({ value }) => value === undefined)?.reason };
  const [own, ...others] = new Set(each.map(({ state }) => state));
  if (others.length === 0 && own !== undefined && own !== "unresolved") return { state: own };
  const counts = parts.flatMap((part) => (part && sampleCountOf(assertion.metric, part)) ?? []);
  if (counts.length === 0) return { state: judgeValue(assertion, over.mean) };
  const few = explainFew(
    assertion,
    counts.reduce((sum, count) => sum + count, 0),
  );
  const state = judgeInterval(assertion, { ...over, value: over.mean });
  if (state === "fail" || (state === "pass" && few === undefined)) return { state };
  return { state: "unresolved", reason: few ?? "too close to the limit; add runs" };
}

/** Returns how many values a percentile or average of times is taken of; undefined for other metrics. */
function sampleCountOf(metric: MetricPlan, { window, tokens }: MeasuredPart): number | undefined {
  switch (metric.kind) {
    case "latency-percentile":
    case "latency-average":
      return latencyOf(window, metric.of).count;
    case "token-percentile":
    case "token-average":
      return tokens === undefined ? 0 : tokenSampleOf(metric.of, tokens).length;
    case "extracted":
      return metric.statistic === "percentile"
        ? (findExtracted(window.extracted, metric.name)?.numbers.count ?? 0)
        : undefined;
    default:
      return undefined;
  }
}

/** Explains that a sample is too small to show a percentile; undefined when it is not. */
function explainFew({ metric, comparison }: AssertionPlan, count: number | undefined): string | undefined {
  if (count === undefined || comparison === "is" || !("percentile" in metric)) return undefined;
  const { percentile } = metric;
  if (percentile === undefined) return undefined;
  const needed = requestsToShow(comparison, percentile);
  return count >= needed ? undefined : `p${percentile} needs ${needed} requests, has ${count}`;
}

/** Explains why there is no value, when known. @param part undefined when no request has the assertion's tags, or a run lacks the level */
function explainMissing({ metric, where }: AssertionPlan, part: MeasuredPart | undefined): string | undefined {
  if (part === undefined) return where === undefined ? undefined : "no request had these tags";
  if (metric.kind === "extracted") return "no answer had a number there";
  return isTokenMetric(metric) ? part.tokens && explainNoValue(metric, part.tokens, part.window) : undefined;
}

/** Returns a metric's value; undefined when the window has no data for it. */
export function metricValue(
  metric: MetricPlan,
  { window, tokens }: MeasuredPart,
  batchSize: number,
): number | undefined {
  if (isTokenMetric(metric)) return tokens === undefined ? undefined : tokenMetricValue(metric, tokens, window);
  if (metric.kind === "error-ratio")
    return window.requestCount + window.failedCount === 0 ? undefined : errorRatio(window);
  if (metric.kind === "throughput") return inferPerSec(window, batchSize);
  if (metric.kind === "extracted") return extractedValue(metric, findExtracted(window.extracted, metric.name));
  if (window.requestCount === 0) return undefined;
  const latency = latencyOf(window, metric.of);
  return metric.kind === "latency-average" ? latency.mean : percentileAt(latency, metric.percentile);
}

function extractedValue(
  { statistic, percentile }: Extract<MetricPlan, { kind: "extracted" }>,
  column: Extracted | undefined,
): number | undefined {
  if (column === undefined || column.numbers.count === 0) return undefined;
  if (statistic === "percentile") return extractedPercentile(column, percentile ?? 50);
  return statistic === "average" ? column.numbers.mean : column.numbers[statistic];
}
