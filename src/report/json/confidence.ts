import { informativeEnds } from "../../measure/intervals/certainty.ts";
import type { MeanEstimate } from "../../measure/intervals/mean-interval.ts";
import type { PercentileEstimate } from "../../measure/intervals/percentile-interval.ts";

/** Confidence intervals in Rampart's JSON files. An end is null where the sample has no bound. */

/** The interval of a mean, and the number of independent samples that it rests on. */
export interface MeanConfidence {
  readonly low: number | null;
  readonly high: number | null;
  readonly effectiveCount: number;
}

/** The interval of a percentile, and whether the sample is large enough. */
export interface PercentileConfidence extends MeanConfidence {
  /** False: too few samples. */
  readonly isReliable: boolean;
  /** Samples that would be enough. */
  readonly neededCount: number;
}

/** Returns an object with a value for each percentile: `{ p50, p99 }`. */
export function byPercentile<P extends number, V>(
  percentiles: readonly P[],
  ofPercentile: (percentile: P) => V,
): Record<`p${P}`, V> {
  const entries = percentiles.map((percentile) => [`p${percentile}`, ofPercentile(percentile)]);
  return Object.fromEntries(entries) as Record<`p${P}`, V>;
}

/** A metric's percentiles, and the intervals of its average and percentiles, in the units of the file. */
export interface MetricConfidence<P extends number> {
  readonly percentiles: Record<`p${P}`, number>;
  readonly mean: MeanConfidence;
  readonly intervals: Record<`p${P}`, PercentileConfidence>;
}

/** Converts the percentiles of a metric and all intervals. @param scale to the unit of the file */
export function toMetricConfidence<P extends number>(
  mean: MeanEstimate,
  percentiles: readonly P[],
  estimate: (percentile: number) => PercentileEstimate,
  scale: (value: number) => number = (value) => value,
): MetricConfidence<P> {
  const estimates = byPercentile(percentiles, estimate);
  return {
    percentiles: byPercentile(percentiles, (percentile) => scale(estimates[`p${percentile}`].value)),
    mean: toMeanConfidenceJson(mean, scale),
    intervals: byPercentile(percentiles, (percentile) => toConfidenceJson(estimates[`p${percentile}`], scale)),
  };
}

/** Converts a percentile's interval. @param scale to the unit of the file */
export function toConfidenceJson(
  { low, high, effectiveCount, isReliable, neededCount }: PercentileEstimate,
  scale: (value: number) => number,
): PercentileConfidence {
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { low: end(low), high: end(high), effectiveCount, isReliable, neededCount };
}

/** Converts a mean's interval; its ends are null when it says nothing. @param scale to the unit of the file */
export function toMeanConfidenceJson(mean: MeanEstimate, scale: (value: number) => number): MeanConfidence {
  const { low, high } = informativeEnds(mean);
  const { effectiveCount } = mean;
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { low: end(low), high: end(high), effectiveCount };
}
