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

/** Converts a mean's interval. @param scale to the unit of the file */
export function toMeanConfidenceJson(
  { low, high, effectiveCount }: MeanEstimate,
  scale: (value: number) => number,
): object {
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return { low: end(low), high: end(high), effectiveCount };
}
