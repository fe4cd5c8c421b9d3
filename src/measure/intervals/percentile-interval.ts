import { effectiveCountAt, percentileOfSketch, roundingRatio, type Sketch, valueAtRank } from "../sketch.ts";
import { certaintyOf, isInformative } from "./certainty.ts";
import { binomialAtMost } from "./distributions.ts";
import { INTERVAL_CONFIDENCE, type IntervalOptions } from "./effective-count.ts";
import { leastAbove } from "./least-above.ts";
import { fromLeast, leastOf, type MeanEstimate } from "./mean-interval.ts";
import { CELL_RATIO, PART_COUNT, percentilesOfParts } from "./time-bins.ts";

/** Required confidence of a percentile's sample: 99 %. */
const FLOOR_CONFIDENCE = 0.99;

/** The percentiles of Rampart's native reports. */
export const REPORTED_PERCENTILES = [1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99] as const;

/**
 * The confidence interval of a percentile, as ranks of the sorted sample, from 0. Absent: the sample has no bound on that side,
 * because not even its smallest or largest value is beyond the percentile with enough certainty.
 */
interface PercentileRanks {
  readonly low?: number;
  readonly high?: number;
}

/**
 * Returns the distribution-free confidence interval of a percentile from order statistics: exact binomial ranks, for any sample
 * size (Hahn and Meeker, Statistical Intervals, section 5.2). The probability of missing each side is at most half of 1 -
 * `confidence`. A value is outside of the interval if the share of samples beyond it shows that the percentile is elsewhere. If
 * the effective size is smaller than the sample, the ranks are those of a sample of the effective size, moved outwards to the
 * next rank of this sample.
 * @param count 1 or more
 * @param percentile above 0 and below 100
 * @param effective effective sample size, 1 to `count`
 */
export function percentileRanks(
  count: number,
  percentile: number,
  effective: number = count,
  confidence: number = INTERVAL_CONFIDENCE,
): PercentileRanks {
  const size = Math.max(1, Math.floor(effective));
  const ratio = percentile / 100;
  const missed = (1 - confidence) / 2;
  // Ranks from 1: the last sample below the percentile, and the first above it, with enough certainty.
  const low = leastAbove(0, size + 1, (rank) => binomialAtMost(rank - 1, size, ratio) > missed) - 1;
  const high = leastAbove(0, size + 1, (rank) => 1 - binomialAtMost(rank - 1, size, ratio) <= missed);
  const stretch = (count + 1) / (size + 1);
  return {
    ...(low === 0 ? {} : { low: Math.max(1, Math.floor(low * stretch)) - 1 }),
    ...(high > size ? {} : { high: Math.min(count, Math.ceil(high * stretch)) - 1 }),
  };
}

const needed = new Map<number, number>();

/**
 * Returns the size of the smallest sample that can certify a percentile: with 99 % confidence at least two samples are beyond
 * it, so that one outlier does not decide. That is 64 for p90, 662 for p99, 6,636 for p99.9 and 66,381 for p99.99, the minimums
 * of MLPerf's early stopping. Percentiles below p50 need as many samples on their other side. @param percentile above 0 and
 * below 100
 */
export function samplesNeeded(percentile: number): number {
  const known = needed.get(percentile);
  if (known !== undefined) return known;
  // The first factor avoids 0.1 + 2e-17 for p99.9.
  const beyond = Number((Math.min(percentile, 100 - percentile) / 100).toPrecision(12));
  const isEnough = (count: number): boolean => binomialAtMost(1, count, beyond) <= 1 - FLOOR_CONFIDENCE;
  const found = leastAbove(0, Math.ceil(10 / beyond) + 1, isEnough);
  needed.set(percentile, found);
  return found;
}

/** A percentile with its confidence interval, in the unit of the sample. */
export interface PercentileEstimate extends MeanEstimate {
  /** Number of independent samples that certify the percentile: {@link samplesNeeded}, or the present number if its parts certify it. */
  readonly neededEffectiveCount: number;
  /** Number of samples needed if they correlate as the present ones do. */
  readonly neededCount: number;
  /** Whether the estimate is certain: see {@link certaintyOf}. */
  readonly isReliable: boolean;
  /** See {@link Uncertain}. */
  readonly isBlind?: boolean;
}

/**
 * Estimates a percentile of a sample, in its unit. The sketch's resolution is part of the interval: it rounds down to its step,
 * and to the nearest number with its digits. @param percentile above 0 and below 100
 */
export function estimatePercentile(
  sketch: Sketch,
  percentile: number,
  { confidence = INTERVAL_CONFIDENCE }: IntervalOptions = {},
): PercentileEstimate {
  const value = percentileOfSketch(sketch, percentile);
  const effective = effectiveCountAt(sketch, percentile, confidence);
  const { low, high } = percentileRanks(sketch.count, percentile, effective, confidence);
  const end = (rank: number, sign: -1 | 1): number => {
    const number = valueAtRank(sketch, rank);
    return number + sign * Math.abs(number) * roundingRatio(sketch);
  };
  const estimate = withFloor(sketch.count, percentile, effective, {
    value,
    low: low === undefined ? null : Math.min(value, end(low, -1)),
    high: high === undefined ? null : Math.max(value, Math.min(end(high, 1) + sketch.step, sketch.max)),
  });
  return fromLeast(withParts(sketch, percentile, confidence, estimate), leastOf(sketch, effective, percentile));
}

const LEAST_BEYOND = 2;
/** Half-width of the interval, as a multiple of the distance between the percentiles of the parts. */
const PARTS_REACH = 2;

/**
 * Uses the interval of the parts for a percentile with too few independent samples. The effective sample size of a percentile
 * considers only which values are below it. If all latencies drift by a few percent, and each varies by less, whole seconds are
 * above the percentile and others below it: the sample is worth one or two values, although all values are close to the
 * percentile. So the percentiles of eight parts of the time show how far it drifts. The interval reaches twice as far as their
 * distance, because a change as long as the measurement is seen only once; simulations determined that factor. The interval is
 * used if it is informative, and only at 95 %.
 */
function withParts(
  { count, bins }: Sketch,
  percentile: number,
  confidence: number,
  estimate: PercentileEstimate,
): PercentileEstimate {
  const { value, effectiveCount: effective, neededEffectiveCount } = estimate;
  const beyond = (Math.min(percentile, 100 - percentile) / 100) * count;
  const isEnough = count >= neededEffectiveCount && beyond >= PART_COUNT * LEAST_BEYOND;
  if (effective >= neededEffectiveCount || !isEnough || bins === undefined || confidence > INTERVAL_CONFIDENCE)
    return estimate;
  const parts = percentilesOfParts(bins, percentile);
  if (parts.length < PART_COUNT) return estimate;
  const [least, most] = [Math.min(...parts), Math.max(...parts)];
  // A cell hides smaller drifts.
  const half = value * ((PARTS_REACH * (most - least)) / most + CELL_RATIO);
  const found = { value, low: value - half, high: value + half };
  if (!isInformative(found)) return estimate;
  return { ...estimate, ...found, neededEffectiveCount: effective, neededCount: count, isReliable: true };
}

/** Adds the verdict on the sample to a percentile and its interval. @param effective effective sample size, 1 to `count` */
function withFloor(
  count: number,
  percentile: number,
  effective: number,
  found: Pick<PercentileEstimate, "value" | "low" | "high">,
): PercentileEstimate {
  const floor = samplesNeeded(percentile);
  const estimate = { ...found, effectiveCount: effective, neededEffectiveCount: floor };
  return {
    ...estimate,
    isReliable: certaintyOf(estimate).isCertain,
    neededCount: Math.ceil((floor * count) / effective),
  };
}
