import { defined } from "../plan/objects.ts";
import { nsToUs } from "../plan/units.ts";
import { effectiveCount, INTERVAL_CONFIDENCE } from "./intervals/effective-count.ts";
import { type SeriesShape, shapeOf } from "./intervals/series-shape.ts";
import { addBins, batchesOf, batchRatiosBelow, binMeans, type SampleBins } from "./intervals/time-bins.ts";
import type { SampleAbove } from "./verdict-state.ts";

/**
 * A sample of numbers in bounded memory, as plain data: it can be cloned, stored and sent, and sketches of parts can be joined
 * to one of the whole.
 */

/** Number, mean and spread of a sample. */
export interface Moments {
  readonly count: number;
  /** Arithmetic mean; 0 if empty. */
  readonly mean: number;
  /** Sum of the squared deviations from the mean. */
  readonly squaredDeviation: number;
}

/** A sample, in the unit of its values. */
export interface Sketch extends Moments {
  /** Smallest value; 0 if empty. */
  readonly min: number;
  /** Largest value; 0 if empty. */
  readonly max: number;
  /** `values` are rounded down to multiples of this. 0: not rounded. */
  readonly step: number;
  /** `values` are rounded to this number of significant digits, because there are too many different ones. Absent: not rounded. */
  readonly digits?: number;
  /** The different values, in ascending order. */
  readonly values: readonly number[];
  /** For each of `values`, the number of samples up to and including it. */
  readonly upTo: readonly number[];
  /** Bins of the times at which the values were measured. Absent: not kept, or empty. */
  readonly bins?: SampleBins;
  /** Whether percentiles are interpolated, like GenAI-Perf's. Absent: they follow perf_analyzer's rule. */
  readonly isInterpolated?: true;
}

/** A sample without values. */
export const EMPTY_SKETCH: Sketch = {
  count: 0,
  mean: 0,
  squaredDeviation: 0,
  min: 0,
  max: 0,
  step: 0,
  values: [],
  upTo: [],
};

/** Above this number of different numbers, they are rounded to {@link ROUNDED_DIGITS} significant digits. */
export const MOST_NUMBERS = 16_384;
/** The same limit for joined durations with a step: twice the number that one thread keeps. */
const MOST_STEPS = 1 << 21;
export const ROUNDED_DIGITS = 4;

/** Rounds a number to {@link ROUNDED_DIGITS} significant digits. */
export function roundNumber(value: number): number {
  return Number(value.toPrecision(ROUNDED_DIGITS));
}

/** Returns the largest error of a sketch's rounded values, as a ratio; 0 if they are not rounded. */
export function roundingRatio({ digits }: Sketch): number {
  return digits === undefined ? 0 : 0.5 * 10 ** (1 - digits);
}

/** Combines counts, means and squared deviations (Chan et al.), without loss of precision in large sums. */
export function addMoments(before: Moments, added: Moments): Moments {
  const count = before.count + added.count;
  if (count === 0) return before;
  const delta = added.mean - before.mean;
  return {
    count,
    mean: before.mean + (delta * added.count) / count,
    squaredDeviation:
      before.squaredDeviation + (added.squaredDeviation + (delta * delta * before.count * added.count) / count),
  };
}

/** Joins samples of consecutive or parallel measurements. */
export function joinSketches(parts: readonly Sketch[]): Sketch {
  const known = parts.filter(({ count }) => count > 0);
  const all = parts.flatMap((part) => part.bins ?? []);
  const bins = known.every((part) => part.bins !== undefined) ? addBins(all, "sum") : undefined;
  const step = Math.max(0, ...parts.map((part) => part.step));
  const ranks = joinRanks(known, step);
  const isRounded =
    parts.some(({ digits }) => digits !== undefined) || ranks.values.length > (step === 0 ? MOST_NUMBERS : MOST_STEPS);
  return {
    ...known.reduce<Moments>(addMoments, { count: 0, mean: 0, squaredDeviation: 0 }),
    min: known.length === 0 ? 0 : Math.min(...known.map(({ min }) => min)),
    max: known.length === 0 ? 0 : Math.max(...known.map(({ max }) => max)),
    step,
    ...(isRounded ? { digits: ROUNDED_DIGITS, ...countAgain([ranks], roundNumber) } : ranks),
    ...defined({ bins }),
  };
}

type Ranks = Pick<Sketch, "values" | "upTo">;

/** Values at most this many times sparser than the multiples of the step are counted in an array. */
const MOST_SPARSE = 8;

/** Merges ascending lists of values. @param step all values are multiples of it; 0: not rounded */
function joinRanks(parts: readonly Ranks[], step: number): Ranks {
  const [one = { values: [], upTo: [] }] = parts;
  if (parts.length <= 1) return { values: one.values, upTo: one.upTo };
  const least = Math.min(...parts.map(({ values }) => values[0] as number));
  const most = Math.max(...parts.map(({ values }) => values.at(-1) as number));
  const valueCount = parts.reduce((sum, { values }) => sum + values.length, 0);
  const cellCount = (most - least) / step + 1;
  return cellCount <= MOST_SPARSE * valueCount ? joinDense(parts, least, step, cellCount) : countAgain(parts);
}

function joinDense(parts: readonly Ranks[], least: number, step: number, cellCount: number): Ranks {
  const cells = new Float64Array(cellCount);
  for (const { values, upTo } of parts)
    for (let at = 0, before = 0; at < values.length; at++) {
      const cell = ((values[at] as number) - least) / step;
      cells[cell] = (cells[cell] as number) + (upTo[at] as number) - before;
      before = upTo[at] as number;
    }
  const [values, upTo]: [number[], number[]] = [[], []];
  for (let cell = 0, seen = 0; cell < cellCount; cell++) {
    const count = cells[cell] as number;
    if (count === 0) continue;
    seen += count;
    values.push(least + cell * step);
    upTo.push(seen);
  }
  return { values, upTo };
}

/** @param change converts each value before it is counted */
function countAgain(parts: readonly Ranks[], change = (value: number): number => value): Ranks {
  const counts = new Map<number, number>();
  for (const part of parts) forEachValue(part, (value, count) => addCount(counts, change(value), count));
  return rankCounts(counts);
}

export function addCount(counts: Map<number, number>, value: number, count: number): void {
  counts.set(value, (counts.get(value) ?? 0) + count);
}

/** Returns values with their cumulative counts, as in a sketch. @param counts by value */
export function rankCounts(counts: ReadonlyMap<number, number>): Ranks {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  let seen = 0;
  return { values: sorted.map(([value]) => value), upTo: sorted.map(([, count]) => (seen += count)) };
}

/** Returns the value at a rank in ascending order. @param rank 0 to count-1 */
export function valueAtRank({ count, values, upTo }: Sketch, rank: number): number {
  const found = values[firstAbove(upTo, rank)];
  if (found === undefined) throw new RangeError(`rank ${rank} of ${count} values`);
  return found;
}

/** Returns the index of the first number above another; the length of the list if there is none. @param ascending sorted */
function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns a percentile by perf_analyzer's rule: the value nearest to p of the way from first to last. */
export function percentileAt(sketch: Sketch, percentile: number): number {
  return valueAtRank(sketch, Math.floor((percentile / 100) * (sketch.count - 1) + 0.5));
}

/** Returns a percentile by linear interpolation between the values next to it, as numpy and GenAI-Perf do. */
export function interpolatedPercentile(sketch: Sketch, percentile: number): number {
  const at = (percentile / 100) * (sketch.count - 1);
  const below = valueAtRank(sketch, Math.floor(at));
  const above = valueAtRank(sketch, Math.ceil(at));
  return below + (above - below) * (at - Math.floor(at));
}

/** Returns a percentile by the sample's rule. */
export function percentileOfSketch(sketch: Sketch, percentile: number): number {
  return (sketch.isInterpolated === true ? interpolatedPercentile : percentileAt)(sketch, percentile);
}

/** Returns {@link percentileAt} of durations in nanoseconds, converted to microseconds. */
export function percentileUs(sketch: Sketch, percentile: number): number {
  return nsToUs(percentileAt(sketch, percentile));
}

/** Calls back with each value and its count, ascending. */
export function forEachValue({ values, upTo }: Ranks, visit: (value: number, count: number) => void): void {
  for (const [at, value] of values.entries()) visit(value, (upTo[at] as number) - (upTo[at - 1] ?? 0));
}

export function sumOfValues({ mean, count }: Moments): number {
  return mean * count;
}

/** Returns the sample standard deviation (n - 1); undefined for fewer than two values. */
export function deviationOf({ count, squaredDeviation }: Moments): number | undefined {
  return count < 2 ? undefined : Math.sqrt(squaredDeviation / (count - 1));
}

/** Returns the skewness of the rounded values; 0 without variation. */
export function skewnessOf(sketch: Sketch): number {
  const { count, mean, squaredDeviation, step } = sketch;
  let cubes = 0;
  forEachValue(sketch, (value, times) => {
    cubes += times * (value + step / 2 - mean) ** 3;
  });
  return squaredDeviation === 0 ? 0 : (cubes * Math.sqrt(count)) / squaredDeviation ** 1.5;
}

/**
 * Returns the number of independent values that these are worth for the mean: 1 to their number; 0 if empty. @param confidence of
 * the interval of the mean
 */
export function effectiveCountOf(sketch: Sketch, confidence: number = INTERVAL_CONFIDENCE): number {
  const { count, bins } = sketch;
  const variance = (deviationOf(sketch) ?? 0) ** 2;
  return bins === undefined ? count : effectiveCount(count, variance, batchesOf(bins), confidence);
}

/**
 * Returns the effective sample size for a percentile: the number of independent values whose ratio below the percentile would vary
 * as much. If too many values are close to the percentile to compute it, returns the effective sample size for the mean.
 */
export function effectiveCountAt(sketch: Sketch, percentile: number, confidence: number = INTERVAL_CONFIDENCE): number {
  const { count, bins, step } = sketch;
  if (bins === undefined || count < 2) return count;
  const ratio = percentile / 100;
  const below = batchRatiosBelow(bins, percentileAt(sketch, percentile) + step / 2);
  if (below.variance < (ratio * (1 - ratio)) / 2) return effectiveCountOf(sketch, confidence);
  return effectiveCount(count, below.variance, below, confidence);
}

/**
 * Returns the number of values above a limit.
 * @param isAtLeast whether values equal to it count too
 * @param confidence of the decision, for which the effective sample size is computed
 */
export function countAbove(
  { count, values, upTo, bins }: Sketch,
  limit: number,
  isAtLeast: boolean,
  confidence: number = INTERVAL_CONFIDENCE,
): SampleAbove {
  const at = firstAbove(values, limit);
  const last = isAtLeast && values[at - 1] === limit ? at - 2 : at - 1;
  const aboveCount = count - (upTo[last] ?? 0);
  if (bins === undefined || aboveCount === 0 || aboveCount === count)
    return { count, aboveCount, effectiveCount: count };
  const below = batchRatiosBelow(bins, limit);
  const ratio = aboveCount / count;
  const variance = Math.min(below.variance, ratio * (1 - ratio));
  return { count, aboveCount, effectiveCount: effectiveCount(count, variance, below, confidence) };
}

/** Returns the shape of the values over time; steady if there are few, or if the times are not kept. */
export function shapeOfSketch({ bins }: Sketch): SeriesShape {
  return shapeOf(bins === undefined ? [] : binMeans(bins));
}

/** Minimum number of bins that show how the values change over time. */
const FEWEST_BINS = 5;

/** Returns the smallest mean of a bin of time; undefined for few bins, or if the times are not kept. */
export function lowestMeanOf({ bins }: Sketch): number | undefined {
  const filled = bins === undefined ? [] : binMeans(bins);
  if (filled.length < FEWEST_BINS) return undefined;
  const usualCount = filled.reduce((sum, { count }) => sum + count, 0) / filled.length;
  // Bins at the ends may have been cut off after a few samples.
  return Math.min(...filled.filter(({ count }) => count >= usualCount / 2).map(({ mean }) => mean));
}
