import { percentileOf } from "../../measure/numpy-statistics.ts";
import type { XyPlot } from "../plot.ts";
import { type Bins, findBin, roundForPlot } from "../plot-points.ts";

/** Distributions of one or several samples over the same bins. */

const FEWEST_BINS = 8;
const MOST_BINS = 60;
/** Above this many values, clip the axis so that outliers do not flatten the rest. */
const ENOUGH_TO_CUT = 100;
const CUT_REACH = 3;
const MARKED_PERCENTILES = [50, 90, 99];

interface HistogramSample {
  readonly name: string;
  /** Not empty, without NaN. */
  readonly values: Float64Array;
}

/** Creates a histogram. A single sample has marks for its percentiles. @param label of the values, with unit */
export function toHistogram(
  frame: Pick<XyPlot, "title" | "group">,
  label: string,
  samples: readonly HistogramSample[],
): XyPlot {
  const all = Float64Array.from(samples.flatMap(({ values }) => Array.from(values))).sort();
  const end = endOf(all);
  const bins = binNumbers(all, end);
  const beyond = all.length - all.filter((value) => value <= end).length;
  const { values } = samples[0] as HistogramSample;
  const sorted = values.toSorted();
  return {
    kind: "xy",
    ...frame,
    xLabel: label,
    yLabel: "Requests",
    series: samples.map((sample) => ({ name: sample.name, style: "area", points: countInto(bins, sample, end) })),
    marks:
      samples.length > 1
        ? []
        : MARKED_PERCENTILES.map((percentile) => ({
            x: roundForPlot(percentileOf(sorted, percentile)),
            label: `p${percentile}`,
          })),
    notes:
      beyond === 0
        ? []
        : [
            `${beyond} of ${all.length} values are above ${roundForPlot(end)} and not drawn; the greatest is ${roundForPlot(all.at(-1) as number)}.`,
          ],
    isFromZero: true,
  };
}

/** Returns the last value to draw. */
function endOf(sorted: Float64Array): number {
  const greatest = sorted.at(-1) as number;
  if (sorted.length < ENOUGH_TO_CUT) return greatest;
  const [p50, p99] = [50, 99].map((percentile) => percentileOf(sorted, percentile)) as [number, number];
  return Math.min(greatest, p99 + CUT_REACH * (p99 - p50));
}

/** Uses the square root of the sample size as the number of bins. */
function binNumbers(sorted: Float64Array, end: number): Bins {
  const start = sorted[0] as number;
  const range = end - start;
  if (range === 0) return { start: start - 0.5, width: 1, count: 1 };
  const count = Math.min(MOST_BINS, Math.max(FEWEST_BINS, Math.ceil(Math.sqrt(sorted.length))));
  return { start, width: range / count, count };
}

/** Returns steps: each bin's count at its start, and 0 at both ends. */
function countInto(bins: Bins, { values }: HistogramSample, end: number): [number, number][] {
  const counts = new Array<number>(bins.count).fill(0);
  for (const value of values)
    if (value <= end) counts[findBin(bins, value)] = (counts[findBin(bins, value)] as number) + 1;
  const edge = (index: number): number => roundForPlot(bins.start + index * bins.width);
  return [[edge(0), 0], ...counts.map((count, i): [number, number] => [edge(i), count]), [edge(bins.count), 0]];
}
