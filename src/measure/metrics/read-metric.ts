import type { MetricPlan } from "../../plan/assertions.ts";
import { INTERVAL_CONFIDENCE } from "../intervals/effective-count.ts";
import { type RunValue, standardErrorOf } from "../intervals/over-runs.ts";
import { metricOf } from "./catalogue.ts";
import type { Asked, MeasuredPart } from "./metric.ts";
import type { Ends, Sample } from "./sample.ts";

/** Values of metrics in measured parts. */

/** A metric with its confidence interval, in its base unit. */
export interface MetricEstimate extends Ends {
  readonly value: number;
}

/** Returns the values of a metric with statistics; undefined for a metric with one value, and without any. */
export function sampleOf(metric: MetricPlan, part: MeasuredPart): Sample | undefined {
  const entry = metricOf(metric);
  if (entry.statistics === undefined) return undefined;
  const sample = entry.sample(part, metric);
  return sample === undefined || sample.count === 0 ? undefined : sample;
}

/** Returns a metric's value; undefined when the part has no data for it. @param batchSize inferences per request */
export function metricValue(metric: MetricPlan, part: MeasuredPart, batchSize: number): number | undefined {
  const entry = metricOf(metric);
  if (entry.statistics === undefined) return entry.value(part, metric, batchSize);
  const sample = sampleOf(metric, part);
  return sample && statisticOf(sample, metric);
}

function statisticOf(sample: Sample, { statistic = "average" }: MetricPlan): number | undefined {
  return typeof statistic === "number" ? sample.percentile?.(statistic) : sample[statistic];
}

/** Returns a run's value with its standard error, and with the requests behind it if it is a ratio of requests; undefined without one. */
export function runValue(metric: MetricPlan, part: MeasuredPart, batchSize: number): RunValue | undefined {
  const value = metricValue(metric, part, batchSize);
  if (value === undefined) return undefined;
  const { counts } = metricOf(metric);
  if (counts !== undefined) return { value, requests: counts(part) };
  const ends = endsOf(metric, part, { value, batchSize, confidence: INTERVAL_CONFIDENCE });
  return { value, standardError: ends && standardErrorOf(ends.low, ends.high) };
}

/**
 * Estimates a metric, with the interval that reports give it at the same confidence. A value without an interval counts as exact: maxima, minima
 * and what the server reports.
 * @param confidence of the interval. Default: 0.95
 * @returns undefined without a value
 */
export function estimateMetric(
  metric: MetricPlan,
  part: MeasuredPart,
  batchSize: number,
  confidence: number = INTERVAL_CONFIDENCE,
): MetricEstimate | undefined {
  const value = metricValue(metric, part, batchSize);
  if (value === undefined) return undefined;
  return { value, ...(endsOf(metric, part, { value, batchSize, confidence }) ?? { low: value, high: value }) };
}

function endsOf(metric: MetricPlan, part: MeasuredPart, asked: Asked): Ends | undefined {
  const entry = metricOf(metric);
  if (entry.statistics === undefined) return entry.ends?.(part, metric, asked);
  const sample = sampleOf(metric, part);
  const { statistic = "average" } = metric;
  if (typeof statistic === "number") {
    const found = sample?.estimatePercentile?.(statistic, asked.confidence);
    if (found === undefined) return undefined;
    const { low, high, effectiveCount, neededEffectiveCount } = found;
    return { low, high, effectiveCount, neededEffectiveCount };
  }
  const found = statistic === "average" ? sample?.estimateAverage?.({ confidence: asked.confidence }) : undefined;
  return found && { low: found.low, high: found.high };
}
