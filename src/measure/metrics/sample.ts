import { type Extracted, estimateExtractedMean } from "../extracted-tally.ts";
import type { Uncertain } from "../intervals/certainty.ts";
import type { IntervalOptions } from "../intervals/effective-count.ts";
import { estimateMeanNs, type MeanEstimate, type MeanOptions } from "../intervals/mean-interval.ts";
import { estimatePercentile, type PercentileEstimate } from "../intervals/percentile-interval.ts";
import { countAbove, lowestMeanOf, percentileOfSketch, type Sketch } from "../sketch.ts";
import type { SampleAbove } from "../verdict-state.ts";

/** Values of a distribution, however they are stored. Only this file knows how to read each kind of tally. */

/** An interval, and the number of samples that it is based on. */
export type Ends = Omit<Uncertain, "value" | "isRatio">;

/** Values in the metric's base unit. */
export interface Sample {
  /** Number of values; 0 if there are none. */
  readonly count: number;
  readonly mean: number;
  readonly min?: number;
  readonly max?: number;
  /** The smallest mean over a part of the time, if known. */
  readonly lowestMean?: number | undefined;
  /** @param percentile above 0 and below 100 */
  percentile?(percentile: number): number;
  /** Returns the mean with its interval. Absent: the mean counts as exact. */
  estimateMean?(options: MeanOptions): MeanEstimate;
  estimatePercentile?(percentile: number, confidence?: number): PercentileEstimate;
  /** The values, if they are stored as a sketch. */
  readonly sketch?: Sketch;
  /** Whether reports keep the sketch as a histogram, so that several can be merged. */
  readonly hasHistogram?: boolean;
  /** Counts the values above a limit. Absent: the values themselves decide, not their certainty. */
  above?(limit: number, isAtLeast: boolean, confidence?: number): SampleAbove;
}

function optionsOf(confidence: number | undefined): IntervalOptions {
  return confidence === undefined ? {} : { confidence };
}

/** Returns a sample of times in nanoseconds, or of other numbers that are exact. */
export function sampleOfSketch(sketch: Sketch): Sample {
  return {
    count: sketch.count,
    mean: sketch.mean,
    min: sketch.min,
    max: sketch.max,
    get lowestMean() {
      return lowestMeanOf(sketch);
    },
    percentile: (percentile) => percentileOfSketch(sketch, percentile),
    estimateMean: (options) => estimateMeanNs(sketch, options),
    estimatePercentile: (percentile, confidence) => estimatePercentile(sketch, percentile, optionsOf(confidence)),
    sketch,
    hasHistogram: true,
    above: (limit, isAtLeast, confidence) => countAbove(sketch, limit, isAtLeast, confidence),
  };
}

export function sampleOfExtracted(extracted: Extracted): Sample {
  const { count, mean, min, max } = extracted.numbers;
  return {
    count,
    mean,
    min,
    max,
    percentile: (percentile) => percentileOfSketch(extracted.numbers, percentile),
    estimateMean: ({ confidence }) => estimateExtractedMean(extracted, optionsOf(confidence)),
    estimatePercentile: (percentile, confidence) =>
      estimatePercentile(extracted.numbers, percentile, optionsOf(confidence)),
    sketch: extracted.numbers,
  };
}

/** Returns a sample from a sum and a count, as servers report their times. */
export function sampleOfSum(sum: number, count: number): Sample {
  return { count, mean: sum / count };
}
