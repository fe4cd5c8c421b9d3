import { certainEnds } from "../../measure/intervals/certainty.ts";
import type { MeanEstimate } from "../../measure/intervals/mean-interval.ts";
import type { PercentileEstimate } from "../../measure/intervals/percentile-interval.ts";

/** Confidence intervals in Rampart's JSON files. Ends are null where the number is not certain. */

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
  /** Whether a verdict on it is certain. Default: false */
  readonly isDecided?: boolean;
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

/**
 * Converts the percentiles of a metric and all intervals.
 * @param scale to the unit of the file
 * @param decided percentiles with a certain verdict. Default: none
 */
export function toMetricConfidence<P extends number>(
  mean: MeanEstimate,
  percentiles: readonly P[],
  estimate: (percentile: number) => PercentileEstimate,
  scale: (value: number) => number = (value) => value,
  decided: readonly number[] = [],
): MetricConfidence<P> {
  const estimates = byPercentile(percentiles, estimate);
  return {
    percentiles: byPercentile(percentiles, (percentile) => scale(estimates[`p${percentile}`].value)),
    mean: toMeanConfidenceJson(mean, scale),
    intervals: byPercentile(percentiles, (percentile) => {
      const found = toConfidenceJson(estimates[`p${percentile}`], scale);
      return decided.includes(percentile) ? { ...found, isDecided: true } : found;
    }),
  };
}

/** Converts a percentile's interval; its ends are null when it is not certain. @param scale to the unit of the file */
export function toConfidenceJson(estimate: PercentileEstimate, scale: (value: number) => number): PercentileConfidence {
  const { effectiveCount, isReliable, neededCount } = estimate;
  const { low, high } = certainEnds(estimate);
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { low: end(low), high: end(high), effectiveCount, isReliable, neededCount };
}

/** Converts a mean's interval; its ends are null when it says nothing. @param scale to the unit of the file */
export function toMeanConfidenceJson(mean: MeanEstimate, scale: (value: number) => number): MeanConfidence {
  const { low, high } = certainEnds(mean);
  const { effectiveCount } = mean;
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { low: end(low), high: end(high), effectiveCount };
}
