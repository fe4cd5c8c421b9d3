/** Statistics exactly as numpy computes them, for GenAI-Perf's files. */

export const PERCENTILES = [1, 5, 10, 25, 50, 75, 90, 95, 99] as const;

/** Names of statistics in GenAI-Perf's order. */
export type StatisticName = "avg" | `p${(typeof PERCENTILES)[number]}` | "min" | "max" | "std";

type Summary = Readonly<Record<StatisticName, number>>;

/**
 * Computes statistics of a sample exactly like numpy, so that the text is the same as GenAI-Perf's: mean, percentiles by linear
 * interpolation, minimum, maximum and population standard deviation. Returns undefined for an empty sample. The sample must not
 * contain NaN. @param isOwn whether the values may be sorted in place, which saves a copy. Default: false
 */
export function summarize(values: Float64Array, isOwn = false): Summary | undefined {
  if (values.length === 0) return undefined;
  const avg = sumOf(values) / values.length;
  const std = Math.sqrt(sumPairwise(values, 0, values.length, avg) / values.length);
  const sorted = isOwn ? values.sort() : values.toSorted();
  const percentiles = PERCENTILES.map((percentile) => [`p${percentile}`, percentileOf(sorted, percentile)]);
  return {
    avg,
    ...Object.fromEntries(percentiles),
    min: sorted[0] as number,
    max: sorted.at(-1) as number,
    std,
  } as Summary;
}

/** Returns numpy's pairwise sum, whose rounding depends on its block size. */
export function sumOf(values: Float64Array): number {
  return sumPairwise(values, 0, values.length);
}

const BLOCK = 128;

/** @param center if given, sums the squared distances from it. Default: sums the values */
function sumPairwise(values: Float64Array, start: number, count: number, center?: number): number {
  if (count > BLOCK) {
    const half = Math.floor(count / 2);
    const left = half - (half % 8);
    return sumPairwise(values, start, left, center) + sumPairwise(values, start + left, count - left, center);
  }
  const at = (index: number): number => {
    const value = values[start + index] as number;
    return center === undefined ? value : (value - center) * (value - center);
  };
  let sum = 0;
  let next = 0;
  if (count >= 8) {
    const lanes = [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)];
    for (next = 8; next < count - (count % 8); next += 8) {
      for (let lane = 0; lane < 8; lane++) lanes[lane] = (lanes[lane] as number) + at(next + lane);
    }
    const [a, b, c, d, e, f, g, h] = lanes as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    sum = a + b + (c + d) + (e + f + (g + h));
  }
  for (; next < count; next++) sum += at(next);
  return sum;
}

/** Returns a percentile by linear interpolation. @param sorted ascending, not empty @param percentile 0 to 100 */
export function percentileOf(sorted: Float64Array, percentile: number): number {
  const rank = (sorted.length - 1) * (percentile / 100);
  const below = Math.floor(rank);
  const part = rank - below;
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  // Interpolate from the nearer end like numpy, so that the result is within the interval.
  return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

/** Rounds to the nearest integer, half to even, like Python. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
