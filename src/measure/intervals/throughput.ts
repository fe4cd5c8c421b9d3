import { nsToSec, sum } from "../../plan/units.ts";
import { effectiveCountOf, type Sketch } from "../sketch.ts";
import { type Interval, UNKNOWN } from "./certainty.ts";
import { effectiveCount, INTERVAL_CONFIDENCE } from "./effective-count.ts";
import { fromZero, meanInterval } from "./mean-interval.ts";
import { type CompletionBins, wholeBins } from "./time-bins.ts";

/** Numbers of requests that ended in consecutive stretches of equal length. */
export interface CompletionCounts {
  readonly binNs: number;
  /** Successful requests in order of time. */
  readonly counts: readonly number[];
  /** Failed requests in the same stretches. Absent: none, or unknown. */
  readonly failed?: readonly number[] | undefined;
}

/** In shorter stretches, the counts depend more on when the client reads than on the server. */
export const SHORTEST_STRETCH_NS = 1_000_000; // 1 ms
/** With fewer stretches, their variation is too uncertain. */
export const FEWEST_STRETCHES = 16;

/** Joins pairs of neighbours. A last one without a neighbour is omitted. */
function joinPairs({ binNs, counts, failed }: CompletionCounts): CompletionCounts {
  return {
    binNs: 2 * binNs,
    counts: sumPairs(counts),
    ...(failed === undefined ? {} : { failed: sumPairs(failed) }),
  };
}

function sumPairs(values: readonly number[]): number[] {
  return Array.from(
    { length: Math.floor(values.length / 2) },
    (_, index) => (values[2 * index] as number) + (values[2 * index + 1] as number),
  );
}

/** The parts of a window that describe its throughput. */
interface ThroughputSource {
  readonly completions?: CompletionBins | undefined;
  /** Latencies of the window. Absent: unknown. */
  readonly latency?: Sketch | undefined;
}

/** Below this mean number of completions per stretch, longer stretches are examined too. */
const FEW_PER_STRETCH = 8;
/** With fewer completions, their correlation is too uncertain. */
const FEW_COMPLETIONS = 128;

/**
 * Returns the interval of a window's throughput around `perSec`, from the variation of the number of completions between
 * stretches. It allows for correlation as the intervals of means do (batch means, Law and Kelton), with Student's t. In
 * stretches with few completions, chance hides how slow changes accumulate, so the stretches are joined in pairs repeatedly,
 * and the widest interval counts.
 * @param perSec throughput of the window
 * @param batchSize inferences per request
 * @returns null ends if the window is worth fewer than two independent stretches or, with few completions, independent
 *   latencies
 */
export function throughputInterval(
  { completions, latency }: ThroughputSource,
  perSec: number,
  batchSize: number,
  confidence: number = INTERVAL_CONFIDENCE,
): Interval {
  if (completions === undefined) return UNKNOWN;
  const stretches = wholeBins(completions, SHORTEST_STRETCH_NS);
  const total = sum(stretches.counts);
  if (total < FEW_COMPLETIONS && latency !== undefined && effectiveCountOf(latency) < 2) return UNKNOWN;
  return rateInterval(stretches, total, perSec, { batchSize, confidence });
}

/**
 * Returns the interval of the rate of items that requests produce, such as tokens, as {@link throughputInterval} does.
 * @param total number of requests in the stretches
 * @param perSec the rate
 */
export function rateInterval(
  stretches: CompletionCounts,
  total: number,
  perSec: number,
  { batchSize = 1, confidence = INTERVAL_CONFIDENCE }: { readonly batchSize?: number; readonly confidence?: number },
): Interval {
  if (stretches.counts.length < FEWEST_STRETCHES || total === 0) return UNKNOWN;
  const intervals = lengthen(stretches, total).map((one) => intervalOf(one, perSec, batchSize, confidence));
  return intervals.reduce((widest, one) => (widthOf(one) > widthOf(widest) ? one : widest));
}

/** Returns the stretches, and the stretches after each joining while they have few events on average. @param total number of events */
export function lengthen(stretches: CompletionCounts, total: number): CompletionCounts[] {
  const all = [stretches];
  for (let last = stretches; ; all.push(last)) {
    const { length } = last.counts;
    if (length < 2 * FEWEST_STRETCHES || total / length >= FEW_PER_STRETCH) return all;
    last = joinPairs(last);
  }
}

function intervalOf(
  { counts, binNs }: CompletionCounts,
  perSec: number,
  batchSize: number,
  confidence: number,
): Interval {
  const mean = sum(counts) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1);
  const effective = effectiveCount(counts.length, variance, { means: counts, batchCount: 1 }, confidence);
  const scale = batchSize / nsToSec(binNs);
  const { low, high } = fromZero(meanInterval(perSec, Math.sqrt(variance) * scale, effective, { confidence }));
  return { low, high };
}

/** Returns the width of an interval; infinite without one. */
function widthOf({ low, high }: Interval): number {
  return low === null || high === null ? Number.POSITIVE_INFINITY : high - low;
}
