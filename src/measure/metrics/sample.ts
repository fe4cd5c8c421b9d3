import { usToNs } from "../../plan/units.ts";
import {
  type Extracted,
  estimateExtractedMean,
  estimateExtractedPercentile,
  extractedPercentile,
} from "../extracted-tally.ts";
import { type GpuMetric, type GpuTally, gpuSeriesOf } from "../gpu-tally.ts";
import { estimateMeanNs, type MeanOptions } from "../intervals/mean-interval.ts";
import { estimateInterpolated, estimatePercentile, type PercentileEstimate } from "../intervals/percentile-interval.ts";
import type { SampleAbove } from "../limits/verdict-state.ts";
import { countAbove, interpolatedPercentile, lowestMeanOf, percentileAt, type Sketch } from "../sketch.ts";

/** The values of a distribution, wherever they are kept. This is the only place that knows how each kind of tally is read. */

/** Ends of a confidence interval; null where the sample has no bound on that side. */
export interface Ends {
  readonly low: number | null;
  readonly high: number | null;
  /** Of a percentile: the number of independent samples behind it, and how many certify it. */
  readonly effectiveCount?: number;
  readonly neededEffectiveCount?: number;
}

/** Values in the metric's base unit. */
export interface Sample {
  /** Number of values; 0 without any. */
  readonly count: number;
  readonly average: number;
  readonly min?: number;
  readonly max?: number;
  /** The smallest average over a part of the time, when known. */
  readonly lowestMean?: number | undefined;
  /** @param percentile above 0 and below 100 */
  percentile?(percentile: number): number;
  /** Interval of the average. Absent: it counts as exact. */
  averageEnds?(options: MeanOptions): Ends;
  percentileEnds?(percentile: number, confidence: number): Ends;
  /** Counts the values above a limit. Absent: the values themselves decide, not how certain they are. */
  above?(limit: number, isAtLeast: boolean, confidence?: number): SampleAbove;
}

function boundsOf({ low, high }: Ends): Ends {
  return { low, high };
}

function endsOf({ low, high, effectiveCount, neededEffectiveCount }: PercentileEstimate): Ends {
  return { low, high, effectiveCount, neededEffectiveCount };
}

/** Latencies in nanoseconds. */
export function sampleOfSketch(sketch: Sketch): Sample {
  return {
    count: sketch.count,
    average: sketch.mean,
    min: sketch.min,
    max: sketch.max,
    get lowestMean() {
      return lowestMeanOf(sketch);
    },
    percentile: (percentile) => percentileAt(sketch, percentile),
    averageEnds: (options) => boundsOf(estimateMeanNs(sketch, options)),
    percentileEnds: (percentile, confidence) => {
      const { low, high, ...samples } = endsOf(estimatePercentile(sketch, percentile, { confidence }));
      return { low: low === null ? null : usToNs(low), high: high === null ? null : usToNs(high), ...samples };
    },
    above: (limit, isAtLeast, confidence) => countAbove(sketch, limit, isAtLeast, confidence),
  };
}

/** Numbers extracted from answers. */
export function sampleOfExtracted(extracted: Extracted): Sample {
  const { count, mean, min, max } = extracted.numbers;
  return {
    count,
    average: mean,
    min,
    max,
    percentile: (percentile) => extractedPercentile(extracted, percentile),
    averageEnds: ({ confidence }) =>
      boundsOf(estimateExtractedMean(extracted, confidence === undefined ? {} : { confidence })),
    percentileEnds: (percentile, confidence) =>
      endsOf(estimateExtractedPercentile(extracted, percentile, { confidence })),
  };
}

/** Numbers in any unit, such as those of tokens. */
export function sampleOfNumbers(sketch: Sketch): Sample {
  return {
    ...sampleOfSketch(sketch),
    percentile: (percentile) => interpolatedPercentile(sketch, percentile),
    percentileEnds: (percentile, confidence) => endsOf(estimateInterpolated(sketch, percentile, { confidence })),
  };
}

/** A sum and how many it is of, as servers count their own times. */
export function sampleOfSum(sum: number, count: number): Sample {
  return { count, average: sum / count };
}

/** Readings of all GPUs together: the average over GPUs, and the largest reading of one. @param scale factor of each value */
export function sampleOfGpus(gpu: GpuTally | undefined, metric: GpuMetric, scale = 1): Sample | undefined {
  const series = gpu === undefined ? [] : gpuSeriesOf(gpu, metric).map(([, one]) => one);
  const count = series.reduce((sum, one) => sum + one.count, 0);
  return {
    count,
    average: (scale * series.reduce((sum, one) => sum + one.mean, 0)) / series.length,
    max: scale * Math.max(...series.map(({ max }) => max)),
  };
}
