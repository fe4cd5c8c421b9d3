import { percentileOf } from "../measure/numpy-statistics.ts";
import type { BoxSeries, PlotPoint } from "./plot.ts";

/** Prepares samples for plots: rounds, bins and thins them out. */

/** Significant digits: more than a screen can show, and few enough to keep files small. */
const DIGITS = 6;
const MOST_BOX_POINTS = 500;
const WHISKER_REACH = 1.5;

/** Rounds to six significant digits. */
export function roundForPlot(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

/** Returns a sample's box. @param values not empty, without NaN */
export function toBox(name: string, values: Float64Array): BoxSeries {
  const sorted = values.toSorted();
  const [q1, median, q3] = [25, 50, 75].map((percentile) => percentileOf(sorted, percentile)) as [
    number,
    number,
    number,
  ];
  const reach = WHISKER_REACH * (q3 - q1);
  const low = sorted.find((value) => value >= q1 - reach) ?? q1;
  const high = sorted.findLast((value) => value <= q3 + reach) ?? q3;
  return {
    name,
    whiskers: [roundForPlot(low), roundForPlot(high)],
    quartiles: [roundForPlot(q1), roundForPlot(median), roundForPlot(q3)],
    points: pickEvenly(sorted, MOST_BOX_POINTS).map(roundForPlot),
  };
}

/** Picks at most this number of evenly spaced items, including the first and the last. */
export function pickEvenly<T>(items: ArrayLike<T>, most: number): T[] {
  if (items.length <= most) return Array.from(items);
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => items[Math.round(i * step)] as T);
}

/** Intervals of equal width on an axis. */
export interface Bins {
  readonly start: number;
  readonly width: number;
  readonly count: number;
}

/** Returns at most `most` bins of integers whose width is 1, 2 or 5 times a power of ten. */
export function binWhole(least: number, greatest: number, most: number): Bins {
  const low = Math.floor(least);
  const high = Math.ceil(greatest);
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) {
      const width = power * factor;
      const start = Math.floor(low / width) * width;
      const count = Math.floor((high - start) / width) + 1;
      if (count <= most) return { start, width, count };
    }
}

/** Returns the label of a bin of integers: `47`, `40–49`. */
export function nameBin({ start, width }: Bins, index: number): string {
  const low = start + index * width;
  return width === 1 ? String(low) : `${low}–${low + width - 1}`;
}

/** Returns the bin of a value. Values outside all bins are in the outermost ones. */
export function findBin({ start, width, count }: Bins, value: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor((value - start) / width)));
}

/** Drops points that another one covers, on a grid as fine as a screen. Keeps the first point of each cell, and all extremes. */
export function dropCovered(points: readonly PlotPoint[], columns = 240, rows = 160): PlotPoint[] {
  if (points.length <= 2_000) return [...points];
  const toCell = [columns, rows].map((cells, axis) => {
    const values = points.map((point) => point[axis] as number);
    const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
    const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    return (value: number): number => (high > low ? Math.floor((cells * (value - low)) / (high - low)) : 0);
  }) as [(value: number) => number, (value: number) => number];
  const taken = new Set<number>();
  return points.filter(([x, y]) => {
    const cell = toCell[0](x) * (rows + 1) + toCell[1](y);
    if (taken.has(cell)) return false;
    taken.add(cell);
    return true;
  });
}
