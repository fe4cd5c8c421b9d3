import { informativeEnds } from "../../measure/intervals/certainty.ts";
import type { MeanEstimate } from "../../measure/intervals/mean-interval.ts";
import type { PercentileEstimate } from "../../measure/intervals/percentile-interval.ts";

/** Confidence intervals in Rampart's JSON files. An end is null where the sample has no bound. */

/** Ends of an interval, the number of independent samples behind it, and the verdict on the sample. */
export interface PercentileConfidence {
  readonly low: number | null;
  readonly high: number | null;
  readonly effectiveCount: number;
  /** False: too few samples. */
  readonly isReliable: boolean;
  /** Samples that would be enough. */
  readonly neededCount: number;
}

/** Converts a percentile's interval. @param scale to the unit of the file */
export function toConfidenceJson(
  { low, high, effectiveCount, isReliable, neededCount }: PercentileEstimate,
  scale: (value: number) => number,
): PercentileConfidence {
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { low: end(low), high: end(high), effectiveCount, isReliable, neededCount };
}

/** A metric's average and percentiles, each with its interval, in the units of the file. */
export interface MetricConfidence {
  /** By name: `p99`. */
  readonly percentiles: Readonly<Record<string, number>>;
  readonly confidence95: object;
}

/** Converts the percentiles of a metric and all intervals. @param meanName the name of the average in the file */
export function toMetricConfidence(
  meanName: string,
  mean: MeanEstimate,
  percentiles: readonly number[],
  estimate: (percentile: number) => PercentileEstimate,
  scale: (value: number) => number = (value) => value,
): MetricConfidence {
  const estimates = percentiles.map((percentile) => [`p${percentile}`, estimate(percentile)] as const);
  const intervals = estimates.map(([name, one]) => [name, toConfidenceJson(one, scale)]);
  return {
    percentiles: Object.fromEntries(estimates.map(([name, { value }]) => [name, scale(value)])),
    confidence95: {
      [meanName]: toMeanConfidenceJson(mean, scale),
      ...(Object.fromEntries(intervals) as object),
    },
  };
}

/** Converts a mean's interval; its ends are null when it says nothing. @param scale to the unit of the file */
function toMeanConfidenceJson(mean: MeanEstimate, scale: (value: number) => number): object {
  const { low, high } = informativeEnds(mean);
  const { effectiveCount } = mean;
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { low: end(low), high: end(high), effectiveCount };
}
