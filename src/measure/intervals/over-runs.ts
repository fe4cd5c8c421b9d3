import type { Interval } from "./certainty.ts";
import { fromZero, meanInterval } from "./mean-interval.ts";
import { ratioBounds } from "./ratio-interval.ts";

/** A value over whole runs. Runs are the unit: each counts once, however many requests it has. */
export interface OverRuns extends Interval {
  /** Number of runs with a value. The interval is Student's t of the mean; `low` is at least 0 if all values are. */
  readonly count: number;
  readonly mean: number;
  /** Sample standard deviation between runs; null for fewer than two runs. */
  readonly deviation: number | null;
  /** Root mean square of the standard errors within the runs; null if a run has none. */
  readonly withinDeviation: number | null;
  /**
   * Deviation between runs divided by that within runs. About 1: the interval within one run is honest. Above 2: runs differ by
   * more than one run can show, for example because of memory layout, caches or other load, and only several runs together can
   * be trusted.
   */
  readonly betweenToWithinRatio: number | null;
}

/** Mean of runs, and the sample variance between them; no variance for one run. */
export interface RunsMean {
  readonly count: number;
  readonly mean: number;
  readonly variance: number | undefined;
}

/** Summarizes the values of runs. @param values at least one */
export function meanOfRuns(values: readonly number[]): RunsMean {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { count, mean, variance: count < 2 ? undefined : squares / (count - 1) };
}

export interface RunValue {
  readonly value: number;
  /** Standard error of the value, from the samples of the run; undefined if unknown. */
  readonly standardError?: number | undefined;
  /** The requests counted by a ratio, such as the ratio of failed requests. */
  readonly requests?: { readonly count: number; readonly total: number } | undefined;
}

/**
 * Combines the values of runs (Kalibera and Jones, Rigorous benchmarking in reasonable time, 2013). The interval of a ratio of
 * requests is at least Wilson's of all requests of the runs together: runs without a failure do not prove that none can occur.
 * @param values at least one
 */
export function combineRuns(values: readonly RunValue[]): OverRuns {
  const { count, mean, variance } = meanOfRuns(values.map(({ value }) => value));
  const deviation = variance === undefined ? undefined : Math.sqrt(variance);
  const errors = values.map(({ standardError }) => standardError).filter((error) => error !== undefined);
  const within =
    errors.length < count ? null : Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / count);
  const interval = meanInterval(mean, deviation, count);
  const { low, high } = widenToRequests(
    values.every(({ value }) => value >= 0) ? fromZero(interval) : interval,
    values,
  );
  return {
    count,
    mean,
    low,
    high,
    deviation: deviation ?? null,
    withinDeviation: within,
    betweenToWithinRatio: deviation === undefined || within === null || within === 0 ? null : deviation / within,
  };
}

function widenToRequests({ low, high }: Interval, values: readonly RunValue[]): Interval {
  const parts = values.map(({ requests }) => requests).filter((part) => part !== undefined);
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  if (low === null || high === null || total === 0) return { low, high };
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const bounds = ratioBounds(count, total);
  return { low: Math.min(low, bounds.low), high: Math.max(high, bounds.high) };
}

const NORMAL_95 = 1.959964;

/** Returns the standard error for a 95 % interval; undefined without both ends. */
export function standardErrorOf(low: number | null, high: number | null): number | undefined {
  return low === null || high === null ? undefined : (high - low) / (2 * NORMAL_95);
}

/** Returns the half-width of the interval of a mean, as a ratio of the mean; undefined without an interval. */
export function precisionOf({ mean, high, deviation }: OverRuns): number | undefined {
  if (high === null) return undefined;
  return deviation === 0 ? 0 : (high - mean) / Math.abs(mean);
}
