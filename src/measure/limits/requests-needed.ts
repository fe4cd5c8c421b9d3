import type { AssertionPlan } from "../../plan/assertions.ts";
import { leastAbove } from "../intervals/least-above.ts";
import type { MeasuredPart } from "../metrics/metric.ts";
import { sampleOf } from "../metrics/read-metric.ts";
import { judgeInterval, judgePercentile, LEAST_JUDGED_COUNT, requestsToShow } from "../verdict-state.ts";

/** Estimates how many requests would decide an open assertion. Checks and notes both use it, so that they ask for the same number. */

/** Maximum multiple of the present requests that is worth asking for: above it, the value is at its limit. */
const MOST_TIMES = 100;

/** The number of requests that an open assertion needs, and the number that it has. */
export interface RequestsNeeded {
  readonly count: number;
  readonly needed: number;
  /** Whether no sample of this size can decide it. Otherwise the value is close to the limit, and `needed` is an estimate. */
  readonly isFew: boolean;
}

/**
 * Returns how many requests would decide an assertion if they are like the present ones: the same share of them above the
 * limit, or a mean that varies as much. Undefined without a sample, if the assertion is decided, and if the value is too close
 * to the limit.
 */
export function requestsNeeded(assertion: AssertionPlan, part: MeasuredPart): RequestsNeeded | undefined {
  const { metric, comparison } = assertion;
  const { statistic } = metric;
  if (comparison === "is") return undefined;
  const count = sampleOf(metric, part)?.count ?? 0;
  if (statistic === "mean") return neededForMean(assertion, part, count);
  if (typeof statistic !== "number") return undefined;
  const least = requestsToShow(comparison, statistic);
  const needed = neededForPercentile(assertion, part, statistic) ?? least;
  if (needed <= count) return undefined;
  return { count, needed: needed > least ? roundUp(needed) : needed, isFew: count < least };
}

/** Returns the smallest sample size, above the present one, that decides; undefined if it is far larger, or if values themselves decide. */
function neededForPercentile(
  { metric, comparison, limit }: AssertionPlan,
  part: MeasuredPart,
  percentile: number,
): number | undefined {
  const found = sampleOf(metric, part)?.above?.(limit, comparison === "below" || comparison === "at-least");
  if (found === undefined) return undefined;
  const ratio = found.aboveCount / found.count;
  const isDecided = (count: number): boolean =>
    judgePercentile(comparison, percentile, { count, aboveCount: Math.round(ratio * count) }) !== "unresolved";
  // Only undecided samples get here, so the present size is below the result.
  let low = found.count;
  let high = Math.max(found.count + 1, requestsToShow(comparison, percentile));
  const most = MOST_TIMES * high;
  for (; !isDecided(high); high *= 2) {
    if (high > most) return undefined;
    low = high;
  }
  return leastAbove(low, high, isDecided);
}

/** An interval narrows as the root of the number of requests. */
function neededForMean(assertion: AssertionPlan, part: MeasuredPart, count: number): RequestsNeeded | undefined {
  const sample = sampleOf(assertion.metric, part);
  const ends = sample?.estimateMean?.({ leastCount: LEAST_JUDGED_COUNT });
  if (sample === undefined || ends === undefined || ends.low === null || ends.high === null) return undefined;
  const { mean: value } = sample;
  if (judgeInterval(assertion, { value, low: ends.low, high: ends.high }) !== "unresolved") return undefined;
  const times = timesToDecide({ value, low: ends.low, high: ends.high }, assertion.limit);
  return times > MOST_TIMES ? undefined : { count, needed: roundUp(Math.max(count + 1, count * times)), isFew: false };
}

/**
 * Returns the factor by which the measurement must be longer so that an interval no longer contains a limit: it narrows as the
 * root of the time.
 */
export function timesToDecide(
  { value, low, high }: Readonly<Record<"value" | "low" | "high", number>>,
  limit: number,
): number {
  return ((value < limit ? high - value : value - low) / Math.abs(limit - value)) ** 2;
}

const NICE_SECONDS = [1, 2, 5, 10, 15, 20, 30, 45, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600];
const SEC_PER_MIN = 60;
export const SEC_PER_HOUR = 3600;

/** Formats a measurement time, rounded up to a usual value: `45 s`, `5 min`, `3 h`. */
export function formatNiceTime(seconds: number): string {
  const nice = NICE_SECONDS.find((one) => one >= seconds);
  if (nice === undefined) return `${Math.ceil(seconds / SEC_PER_HOUR)} h`;
  return nice > SEC_PER_MIN ? `${nice / SEC_PER_MIN} min` : `${nice} s`;
}

/** Rounds a number up to two significant digits. */
function roundUp(count: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1);
  return Math.ceil(count / step) * step;
}
