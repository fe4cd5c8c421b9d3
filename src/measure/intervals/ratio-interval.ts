import { sum } from "../../plan/units.ts";
import type { Measurement } from "../measurement.ts";
import { type Interval, UNKNOWN } from "./certainty.ts";
import { regularizedBeta } from "./distributions.ts";
import { effectiveCount, INTERVAL_CONFIDENCE } from "./effective-count.ts";
import { type CompletionCounts, FEWEST_STRETCHES, lengthen, SHORTEST_STRETCH_NS } from "./throughput.ts";
import { wholeBins } from "./time-bins.ts";

/** The interval of a ratio, 0 to 1. */
export interface RatioInterval {
  readonly low: number;
  readonly high: number;
}

const STEPS = 60;

/**
 * Returns the exact interval of a ratio by Clopper and Pearson (Biometrika 26, 1934).
 * @param hits 0 to `count`
 * @param count above 0; neither need be whole, so that it can be an effective sample size
 */
export function ratioInterval(hits: number, count: number, confidence: number = INTERVAL_CONFIDENCE): RatioInterval {
  const missed = (1 - confidence) / 2;
  return {
    low: hits <= 0 ? 0 : findRatio((ratio) => regularizedBeta(ratio, hits, count - hits + 1) < missed),
    high: hits >= count ? 1 : findRatio((ratio) => 1 - regularizedBeta(ratio, hits + 1, count - hits) > missed),
  };
}

/** Returns the largest ratio for which a condition holds. */
function findRatio(holds: (ratio: number) => boolean): number {
  let low = 0;
  let high = 1;
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** With fewer clusters of failures, there is no upper bound on their number. */
const FEWEST_CLUSTERS = 4;

/** The parts of a window that describe its failed requests. */
type FailureSource = Pick<Measurement, "requestCount" | "failedCount" | "completions">;

/**
 * Returns the interval of the ratio of failed requests. Failures often come in clusters: a server that restarts fails
 * everything for a second. The variation of their number between stretches gives the effective number of independent requests.
 * Without a failure, requests count as independent, because nothing is known about clusters then.
 * @returns null ends if there are failures at unknown times; no upper end with a few clusters of failures
 */
export function errorRatioInterval(
  { requestCount, failedCount, completions }: FailureSource,
  confidence: number = INTERVAL_CONFIDENCE,
): Interval {
  const total = requestCount + failedCount;
  if (failedCount === 0 || requestCount === 0) return ratioInterval(failedCount, total, confidence);
  const stretches = completions && wholeBins(completions, SHORTEST_STRETCH_NS);
  if (stretches?.failed === undefined || stretches.counts.length < FEWEST_STRETCHES) return UNKNOWN;
  const failed = sum(stretches.failed);
  const worths = lengthen(stretches, failed).map((one) => worthOf(one, confidence));
  const effective = Math.max(1, total * Math.min(1, ...worths));
  const { low, high } = ratioInterval((failedCount / total) * effective, effective, confidence);
  return { low, high: countClusters(stretches) < Math.min(FEWEST_CLUSTERS, failedCount / 2) ? null : high };
}

/** Returns how often the failures per stretch rise above their mean. */
function countClusters(stretches: CompletionCounts): number {
  const excess = excessOf(stretches);
  return excess.filter((value, at) => value > 0 && !((excess[at - 1] ?? 0) > 0)).length;
}

/** Returns the number of independent requests that a request is worth for the ratio of failures, at most 1. */
function worthOf(stretches: CompletionCounts, confidence: number): number {
  const { failedSum, total } = sumsOf(stretches);
  const ratio = failedSum / total;
  const excess = excessOf(stretches);
  const variance = excess.reduce((sum, value) => sum + value ** 2, 0) / (excess.length - 1);
  if (!(variance > 0)) return 1;
  const independent = effectiveCount(excess.length, variance, { means: excess, batchCount: 1 }, confidence);
  return (total * ratio * (1 - ratio) * independent) / (excess.length ** 2 * variance);
}

/** Returns the difference between the failures of each stretch and those expected at the overall ratio. */
function excessOf(stretches: CompletionCounts): number[] {
  const { counts, failed = [] } = stretches;
  const { failedSum, total } = sumsOf(stretches);
  return counts.map((count, at) => {
    const failures = failed[at] ?? 0;
    return failures - (failedSum / total) * (count + failures);
  });
}

function sumsOf({ counts, failed = [] }: CompletionCounts): { readonly failedSum: number; readonly total: number } {
  return { failedSum: sum(failed), total: sum(counts) + sum(failed) };
}

const NORMAL_95 = 1.959964;

/**
 * Returns Wilson's 95 % interval of a ratio of requests, such as the ratio of failed requests (Brown, Cai and DasGupta,
 * Interval estimation for a binomial proportion, 2001). @param total 1 or more
 */
export function ratioBounds(count: number, total: number): RatioInterval {
  const squared = NORMAL_95 ** 2;
  const ratio = count / total;
  const center = (ratio + squared / (2 * total)) / (1 + squared / total);
  const half =
    (NORMAL_95 / (1 + squared / total)) * Math.sqrt((ratio * (1 - ratio)) / total + squared / (4 * total ** 2));
  return { low: count === 0 ? 0 : Math.max(0, center - half), high: count === total ? 1 : Math.min(1, center + half) };
}
