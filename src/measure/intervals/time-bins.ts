import type { BatchMeans } from "./effective-count.ts";

/** Values in consecutive bins of time, on a grid that all measurements share, so that bins of several measurements can be added. */

/** Maximum number of bins of one measurement; above it, their length doubles. */
export const MOST_BINS = 128;
/** Length of the shortest bins. Other lengths are this times a power of two, and each bin begins at a multiple of its length. */
export const SHORTEST_BIN_NS = 31_250;

/** Consecutive bins; plain data. */
interface TimeBins {
  readonly binNs: number;
  /** Number of the first bin, counted from time 0. */
  readonly first: number;
  /** Number of values in each bin. */
  readonly counts: readonly number[];
}

/** Requests by the time at which they ended. */
export interface CompletionBins extends TimeBins {
  /** Failed requests, which `counts` does not include. Absent: none. */
  readonly failed?: readonly number[];
  /** Measured time of each bin. */
  readonly coveredNs: readonly number[];
}

/** Values by the time at which they were measured. */
export interface SampleBins extends TimeBins {
  readonly sums: readonly number[];
  /** Number of values in each bin, for each cell of values, which is at most 3 % wide. Cells without a value are absent. */
  readonly histogram: Readonly<Record<string, readonly number[]>>;
}

const CELL_BITS = 5;
/** Width of the widest cell, as a ratio of its values. */
export const CELL_RATIO = 2 ** -CELL_BITS;
const CELLS_PER_DOUBLING = 1 << CELL_BITS;
/** Number of mantissa bits in the upper word of a double. */
const UPPER_MANTISSA_BITS = 20;
const EXPONENT_BIAS = 1023;
const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const UPPER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0;

/** Returns the cell of a value above 0: its exponent and the first bits of its mantissa; 0 for other values. */
export function cellOf(value: number): number {
  if (!(value > 0)) return 0;
  double[0] = value;
  return (words[UPPER] as number) >>> (UPPER_MANTISSA_BITS - CELL_BITS);
}

/** Returns the part of a cell that is below a value, 0 to 1. */
function partOfCell(value: number, cell: number): number {
  const power = 2 ** (Math.floor(cell / CELLS_PER_DOUBLING) - EXPONENT_BIAS);
  const start = power * (1 + (cell % CELLS_PER_DOUBLING) / CELLS_PER_DOUBLING);
  return Math.max(0, Math.min(1, ((value - start) / power) * CELLS_PER_DOUBLING));
}

/** Returns the value at a position in a cell. @param part 0 to 1 */
function valueInCell(cell: number, part: number): number {
  const power = 2 ** (Math.floor(cell / CELLS_PER_DOUBLING) - EXPONENT_BIAS);
  return power * (1 + ((cell % CELLS_PER_DOUBLING) + part) / CELLS_PER_DOUBLING);
}

/** Returns the bin length at which a time span has at most 128 bins, including the two that it covers partly. */
export function binLengthFor(startNs: number, endNs: number, shortestNs: number = SHORTEST_BIN_NS): number {
  let binNs = shortestNs;
  while (Math.floor(endNs / binNs) - Math.floor(startNs / binNs) >= MOST_BINS) binNs *= 2;
  return binNs;
}

/** Returns the time of each of consecutive bins that a time span covers. @param first number of the first bin */
export function coverBins({ binNs, first, counts }: TimeBins, startNs: number, endNs: number): number[] {
  return counts.map((_, bin) =>
    Math.max(0, Math.min(endNs, (first + bin + 1) * binNs) - Math.max(startNs, (first + bin) * binNs)),
  );
}

/**
 * Adds bins of consecutive measurements, or of parallel parts of one.
 * @param covered measured time of a bin: the `sum` for consecutive measurements, or the `least` for parallel ones
 * @returns undefined without bins
 */
export function addBins<T extends TimeBins>(parts: readonly T[], covered: "sum" | "least"): T | undefined {
  const [one] = parts;
  if (one === undefined || parts.length === 1) return one;
  const startNs = Math.min(...parts.map(({ first, binNs }) => first * binNs));
  const lastNs = Math.max(...parts.map(({ first, binNs, counts }) => (first + Math.max(1, counts.length) - 1) * binNs));
  const binNs = binLengthFor(startNs, lastNs, Math.max(...parts.map((part) => part.binNs)));
  return covered === "sum" ? sumBins(parts, binNs, startNs, lastNs) : leastCovered(parts, binNs, startNs, lastNs);
}

function sumBins<T extends TimeBins>(parts: readonly T[], binNs: number, startNs: number, lastNs: number): T {
  const first = Math.floor(startNs / binNs);
  const length = Math.max(0, Math.floor(lastNs / binNs) - first + 1);
  const sums = new Map<string, number[]>();
  for (const part of parts) {
    const times = binNs / part.binNs;
    for (const [name, column] of columnsOf(part)) {
      const sum = sums.get(name) ?? new Array<number>(length).fill(0);
      sums.set(name, sum);
      for (let at = 0; at < column.length; at++) {
        const value = column[at] as number;
        if (value === 0) continue;
        const to = Math.floor((part.first + at) / times) - first;
        sum[to] = (sum[to] as number) + value;
      }
    }
  }
  return toBins(binNs, first, sums) as T;
}

/** Adds bins of parallel parts. Time of a bin counts as measured only if every part measured it. */
function leastCovered<T extends TimeBins>(parts: readonly T[], binNs: number, startNs: number, lastNs: number): T {
  const sum = sumBins(parts, binNs, startNs, lastNs);
  if (!("coveredNs" in sum)) return sum;
  const even = parts.map((part) => sumBins([part as T & CompletionBins], binNs, startNs, lastNs).coveredNs);
  return { ...sum, coveredNs: sum.counts.map((_, at) => Math.min(...even.map((column) => column[at] as number))) };
}

/** Converts bins to a longer length, which is the old one times a power of two. */
function lengthenTo<T extends TimeBins>(bins: T, binNs: number): T {
  if (binNs <= bins.binNs) return bins;
  return sumBins([bins], binNs, bins.first * bins.binNs, (bins.first + bins.counts.length - 1) * bins.binNs);
}

/** Returns all columns by name; those of the histogram by the number of their cell. */
function columnsOf({ binNs: _, first: __, ...rest }: TimeBins & Partial<SampleBins>): Map<string, readonly number[]> {
  const { histogram = {}, ...columns } = rest;
  return new Map([...Object.entries(columns), ...Object.entries(histogram)]);
}

function toBins(binNs: number, first: number, columns: ReadonlyMap<string, readonly number[]>): TimeBins {
  const isCell = ([name]: [string, unknown]): boolean => /^\d/.test(name);
  const all = [...columns];
  const rest = Object.fromEntries(all.filter((column) => !isCell(column)));
  const bins = { binNs, first, ...rest } as TimeBins;
  return "sums" in rest ? ({ ...bins, histogram: Object.fromEntries(all.filter(isCell)) } as SampleBins) : bins;
}

/** Mean of the values of a bin that is not empty. */
interface BinMean {
  /** Start of the bin, which may be before the start of the measurement. */
  readonly startNs: number;
  readonly count: number;
  readonly mean: number;
}

/** Returns the bins that have values, in order of time. */
export function binMeans({ binNs, first, counts, sums }: SampleBins): BinMean[] {
  return counts.flatMap((count, at) =>
    count === 0 ? [] : [{ startNs: (first + at) * binNs, count, mean: (sums[at] as number) / count }],
  );
}

/**
 * Returns the bins as batches of equal size. Bins without a value are omitted, so that a few values are a batch each. For the
 * mean of batches of unequal sizes, which is a ratio of two sums, each batch counts by the deviation of its sum from that of as
 * many mean values (Cochran, Sampling Techniques, 6.4: the linearised ratio estimator).
 */
export function batchesOf(bins: Pick<SampleBins, "counts" | "sums">): BatchMeans {
  const { counts, sums } = bins;
  let total = 0;
  let sum = 0;
  let used = 0;
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue;
    used++;
    total += count;
    sum += sums[at] as number;
  }
  const mean = total === 0 ? 0 : sum / total;
  const batchCount = used === 0 ? 1 : total / used;
  const means = new Float64Array(used);
  let next = 0;
  for (const [at, count] of counts.entries())
    if (count > 0) means[next++] = mean + ((sums[at] as number) - mean * count) / batchCount;
  return { means, batchCount };
}

/**
 * Returns for each batch the ratio of values below a value, 0 to 1, and the variance of that for a single value. Values count
 * as evenly spread within a cell, so that values in the cell of `value` count in part.
 */
export function batchRatiosBelow(bins: SampleBins, value: number): BatchMeans & { readonly variance: number } {
  const { counts, histogram } = bins;
  const cell = cellOf(value);
  const part = partOfCell(value, cell);
  const below = new Array<number>(counts.length).fill(0);
  let belowCount = 0;
  let partCount = 0;
  for (const [name, column] of Object.entries(histogram)) {
    const weight = Number(name) < cell ? 1 : Number(name) === cell ? part : 0;
    if (weight === 0) continue;
    let count = 0;
    for (let at = 0; at < column.length; at++) {
      below[at] = (below[at] as number) + weight * (column[at] as number);
      count += column[at] as number;
    }
    if (weight === 1) belowCount += count;
    else partCount += count;
  }
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  const mean = (belowCount + part * partCount) / total;
  const variance = (belowCount + part * part * partCount) / total - mean * mean;
  return { ...batchesOf({ counts, sums: below }), variance };
}

/** Number of parts of the time whose percentiles are compared. */
export const PART_COUNT = 8;

/**
 * Returns a percentile in each part of the time. Each part has about the same number of values. Values count as evenly spread
 * within a cell.
 * @returns fewer than {@link PART_COUNT} if there are fewer bins with a value
 */
export function percentilesOfParts({ counts, histogram }: SampleBins, percentile: number): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const cells = Object.keys(histogram).map(Number);
  const sorted = cells.toSorted((a, b) => a - b).map((cell) => [cell, histogram[cell] as readonly number[]] as const);
  let seen = 0;
  const parts = counts.map((count) => {
    seen += count;
    return Math.min(PART_COUNT - 1, Math.floor((PART_COUNT * (seen - count / 2)) / total));
  });
  const countIn = (part: number, column: readonly number[]): number =>
    column.reduce((sum, count, at) => (parts[at] === part ? sum + count : sum), 0);
  return Array.from({ length: PART_COUNT }, (_, part) => {
    let left = (percentile / 100) * countIn(part, counts);
    for (const [cell, column] of sorted) {
      const count = countIn(part, column);
      if (count > 0 && count >= left) return valueInCell(cell, left / count);
      left -= count;
    }
    return undefined;
  }).filter((value) => value !== undefined);
}

/** Tolerance for the measured time of a whole bin, because times are rounded. */
const ROUNDING_NS = 1;

/**
 * Returns the bins of requests that were measured completely, with a minimum length.
 * @param shortestNs minimum length of the bins
 */
export function wholeBins(bins: CompletionBins, shortestNs: number): Omit<CompletionBins, "first" | "coveredNs"> {
  const { binNs, counts, failed, coveredNs } = lengthenTo(bins, shortestNs);
  const isWhole = (_: number, at: number): boolean => (coveredNs[at] as number) >= binNs - ROUNDING_NS;
  return { binNs, counts: counts.filter(isWhole), ...(failed === undefined ? {} : { failed: failed.filter(isWhole) }) };
}
