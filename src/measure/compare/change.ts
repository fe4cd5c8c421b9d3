import { type Interval, UNKNOWN } from "../intervals/certainty.ts";
import { regularizedBeta, studentQuantile } from "../intervals/distributions.ts";
import { INTERVAL_CONFIDENCE } from "../intervals/effective-count.ts";
import { leastAbove } from "../intervals/least-above.ts";
import { meanOfRuns, type RunsMean } from "../intervals/over-runs.ts";
import { ratioBounds as countBounds, type RatioInterval } from "../intervals/ratio-interval.ts";

/**
 * Estimates how much a metric differs between two sets of whole runs. Runs are the unit: each counts once, however many
 * requests it has (Kalibera and Jones, Rigorous benchmarking in reasonable time, 2013).
 */

/** One side of a comparison. */
export interface Side {
  /** The metric's value in each run; at least one. */
  readonly values: readonly number[];
  /**
   * The 95 % confidence interval within the run, for a side with one run. Absent: unknown, or not accepted as a replacement for
   * more runs.
   */
  readonly within?: { readonly low: number; readonly high: number };
  /**
   * For a ratio of requests: their number in all runs, and how many of them it counts. Runs without a failure do not vary, but
   * failures are still possible: the interval is at least the interval of the counts. Absent: unknown.
   */
  readonly counted?: { readonly count: number; readonly total: number };
}

/** Basis of an interval: the variation between runs, in part the variation within a run, or nothing. */
type ChangeBasis = "runs" | "within-runs" | "none";

/** The change from base to new: a ratio new/base, or a difference new - base. */
export interface Change extends Interval {
  readonly kind: "ratio" | "difference";
  /** Null if there is no ratio because the base is 0. */
  readonly value: number | null;
  readonly basis: ChangeBasis;
}

/** Estimates the ratio new/base of means. Values are 0 or more. */
export function estimateRatio(base: Side, next: Side): Change {
  const [b, n] = [meanOfRuns(base.values), meanOfRuns(next.values)];
  if (b.mean === 0 && n.mean === 0) return { kind: "ratio", value: 1, ...boundsOfZero(b, n) };
  if (b.mean <= 0) return { kind: "ratio", value: null, ...UNKNOWN, basis: "none" };
  const value = n.mean / b.mean;
  if (b.variance !== undefined && n.variance !== undefined) {
    return { kind: "ratio", value, ...ratioBounds(b, n), basis: "runs" };
  }
  const [from, to] = [boundsOf(base), boundsOf(next)];
  if (from === undefined || to === undefined || from.low <= 0 || to.low <= 0) {
    return { kind: "ratio", value, ...UNKNOWN, basis: "none" };
  }
  // Donner and Zou, Closed-form confidence intervals for functions of the normal mean and variance, 2012: on the scale of logarithms.
  const down = Math.hypot(Math.log(n.mean / to.low), Math.log(from.high / b.mean));
  const up = Math.hypot(Math.log(to.high / n.mean), Math.log(b.mean / from.low));
  return { kind: "ratio", value, low: value * Math.exp(-down), high: value * Math.exp(up), basis: "within-runs" };
}

/** Estimates the difference new - base of means. */
export function estimateDifference(base: Side, next: Side): Change {
  const [b, n] = [meanOfRuns(base.values), meanOfRuns(next.values)];
  const value = n.mean - b.mean;
  if (b.variance !== undefined && n.variance !== undefined) {
    const [vb, vn] = [b.variance / b.count, n.variance / n.count];
    const half = vb + vn === 0 ? 0 : quantileOf(welchFreedom(vb, b.count, vn, n.count)) * Math.sqrt(vb + vn);
    const counts = differenceBounds(b.mean, n.mean, countedBounds(base), countedBounds(next));
    const low = Math.min(value - half, counts?.low ?? value);
    return { kind: "difference", value, low, high: Math.max(value + half, counts?.high ?? value), basis: "runs" };
  }
  const bounds = differenceBounds(b.mean, n.mean, boundsOf(base), boundsOf(next));
  if (bounds === undefined) return { kind: "difference", value, ...UNKNOWN, basis: "none" };
  return { kind: "difference", value, ...bounds, basis: "within-runs" };
}

/**
 * Returns the bounds of a difference: Newcombe, Interval estimation for the difference between independent proportions, 1998,
 * method 10.
 */
function differenceBounds(
  base: number,
  next: number,
  from: RatioInterval | undefined,
  to: RatioInterval | undefined,
): RatioInterval | undefined {
  if (from === undefined || to === undefined) return undefined;
  const down = Math.hypot(next - to.low, from.high - base);
  const up = Math.hypot(to.high - next, base - from.low);
  return { low: next - base - down, high: next - base + up };
}

/** Returns the interval of a ratio from its counts, which always contains the mean over runs; undefined without counts. */
function countedBounds({ counted, values }: Side): RatioInterval | undefined {
  if (counted === undefined || counted.total === 0) return undefined;
  const { mean } = meanOfRuns(values);
  const { low, high } = countBounds(counted.count, counted.total);
  return { low: Math.min(low, mean), high: Math.max(high, mean) };
}

/** Returns the 95 % interval of a side's mean: over its runs, or within its only run; undefined if neither is known. */
export function boundsOf(side: Side): RatioInterval | undefined {
  const { count, mean, variance } = meanOfRuns(side.values);
  if (variance === undefined) return side.within;
  const half = quantileOf(count - 1) * Math.sqrt(variance / count);
  const counts = countedBounds(side);
  const low = Math.min(mean - half, counts?.low ?? mean);
  return { low: Math.max(Math.min(0, mean), low), high: Math.max(mean + half, counts?.high ?? mean) };
}

function boundsOfZero(b: RunsMean, n: RunsMean): Pick<Change, "low" | "high" | "basis"> {
  const isKnown = b.variance !== undefined && n.variance !== undefined;
  return isKnown ? { low: 1, high: 1, basis: "runs" } : { ...UNKNOWN, basis: "none" };
}

const MOST_STEPS = 80;
/** A bound further away than this factor counts as missing. */
const MOST_FACTOR = 1e6;

/**
 * Fieller's interval of a ratio of means, with Welch's degrees of freedom at each ratio, because the sides may vary
 * differently. A ratio is inside if a t test of mean(new) = ratio × mean(base) does not reject it, so the interval excludes 1
 * exactly if the means differ.
 */
function ratioBounds(b: RunsMean, n: RunsMean): Interval {
  const [vb, vn] = [(b.variance ?? 0) / b.count, (n.variance ?? 0) / n.count];
  const value = n.mean / b.mean;
  if (vb + vn === 0) return { low: value, high: value };
  const isInside = (ratio: number): boolean => {
    const [scaled, nextVariance] = [ratio * ratio * vb, vn];
    if (scaled + nextVariance === 0) return ratio === value;
    const freedom = welchFreedom(scaled, b.count, nextVariance, n.count);
    const squared = (n.mean - ratio * b.mean) ** 2 / (scaled + nextVariance);
    return !isOutside(squared, freedom);
  };
  return { low: isInside(0) ? 0 : findEdge(0, value, isInside), high: findHigh(value, isInside) };
}

/** Returns the upper bound; null if it is too far away to be useful. */
function findHigh(value: number, isInside: (ratio: number) => boolean): number | null {
  let inside = value;
  for (let outside = value === 0 ? 1e-9 : value * 1.25; ; outside *= 2) {
    if (!isInside(outside)) return findEdge(outside, inside, isInside);
    if (outside > Math.max(1, value) * MOST_FACTOR) return null;
    inside = outside;
  }
}

/** Returns the boundary between a ratio outside and a ratio inside. */
function findEdge(outside: number, inside: number, isInside: (ratio: number) => boolean): number {
  let [out, within] = [outside, inside];
  for (let step = 0; step < MOST_STEPS && Math.abs(out - within) > 1e-12 * within; step++) {
    const middle = (out + within) / 2;
    if (isInside(middle)) within = middle;
    else out = middle;
  }
  return within;
}

/** Returns the degrees of freedom of Welch's t test. @param vb, vn variances of the means, not both 0 */
export function welchFreedom(vb: number, baseCount: number, vn: number, newCount: number): number {
  return (vb + vn) ** 2 / (vb ** 2 / (baseCount - 1) + vn ** 2 / (newCount - 1));
}

/**
 * Reports whether a value of t is outside of the 95 % interval. Computes the probability of a larger value, which is much
 * cheaper than the quantile.
 * @param squared square of t
 */
function isOutside(squared: number, freedom: number): boolean {
  return regularizedBeta(freedom / (freedom + squared), freedom / 2, 0.5) < 1 - INTERVAL_CONFIDENCE;
}

const quantiles = new Map<number, number>();

/** Returns Student's t of a 95 % interval. All metrics of a comparison have the same few degrees of freedom. */
function quantileOf(freedom: number): number {
  const quantile = quantiles.get(freedom) ?? studentQuantile((1 + INTERVAL_CONFIDENCE) / 2, freedom);
  if (Number.isInteger(freedom)) quantiles.set(freedom, quantile);
  return quantile;
}

/** Largest number of runs for which planning is useful. */
export const MOST_RUNS = 1000;

/**
 * Returns the number of runs per side with which the interval of a change reaches at most `halfWidth` to each side, if the runs
 * continue to vary as they do. A side with one run is assumed to vary like the other side.
 * @param change estimated from these sides
 * @param halfWidth in the unit of the change, above 0
 * @returns undefined if neither side has two runs, the change has no value, or more than 1,000 runs are needed
 */
export function runsNeeded(base: Side, next: Side, change: Change, halfWidth: number): number | undefined {
  const variances = variancesOf(base, next, change);
  if (variances === undefined || !(halfWidth > 0)) return undefined;
  const [vb, vn] = variances;
  if (vb + vn === 0) return runsByWidth(base, next, change, halfWidth);
  const isEnough = (count: number): boolean => {
    const freedom = welchFreedom(vb, count, vn, count);
    return isOutside(halfWidth ** 2 / ((vb + vn) / count), freedom);
  };
  return isEnough(MOST_RUNS) ? leastAbove(1, MOST_RUNS, isEnough) : undefined;
}

/**
 * Returns the number of runs per side that would resolve an unresolved change: the result of {@link runsNeeded}, and at least
 * one more than the smaller side has. Intervals of ratios are wider on one side, so the estimate can be too low.
 */
export function moreRunsNeeded(base: Side, next: Side, change: Change, halfWidth: number): number | undefined {
  const needed = runsNeeded(base, next, change, halfWidth);
  return needed && Math.max(needed, Math.min(base.values.length, next.values.length) + 1);
}

/**
 * Returns the same number for runs that do not vary. Their interval has no width, or the width from their counts of requests,
 * which narrows as the root of these counts.
 */
function runsByWidth(base: Side, next: Side, { value, low, high }: Change, halfWidth: number): number | undefined {
  if (value === null || low === null || high === null) return 2;
  const runs = Math.min(base.values.length, next.values.length);
  const needed = Math.max(2, Math.ceil(runs * (Math.max(high - value, value - low) / halfWidth) ** 2));
  return needed > MOST_RUNS ? undefined : needed;
}

/** Returns the variance that one run of each side adds to the change. */
function variancesOf(base: Side, next: Side, { kind, value }: Change): [base: number, next: number] | undefined {
  const [b, n] = [meanOfRuns(base.values), meanOfRuns(next.values)];
  if (value === null) return undefined;
  if (kind === "difference") {
    const [vb, vn] = [b.variance ?? n.variance, n.variance ?? b.variance];
    return vb === undefined || vn === undefined ? undefined : [vb, vn];
  }
  const relative = ({ variance, mean }: typeof b): number | undefined =>
    variance === undefined || mean === 0 ? undefined : variance / mean ** 2;
  const [rb, rn] = [relative(b) ?? relative(n), relative(n) ?? relative(b)];
  return rb === undefined || rn === undefined ? undefined : [value ** 2 * rb, value ** 2 * rn];
}
