import { nsToSec } from "../../plan/units.ts";
import { effectiveCount } from "./effective-count.ts";
import { fromZero, meanInterval } from "./mean-interval.ts";

/** Numbers of successful requests that ended in consecutive stretches of equal length. */
export interface CompletionCounts {
  readonly stretchNs: number;
  /** In order of time; at most 128. The ends of a window that fill no stretch are left out. */
  readonly counts: readonly number[];
}

const MOST_STRETCHES = 128;
const SHORTEST_STRETCH_NS = 1_000_000; // 1 ms
/** With fewer stretches their variation says too little. */
const FEWEST_STRETCHES = 16;

/**
 * Counts completions over time. The length of the stretches doubles when there are more than 128, so memory is bounded and adding takes
 * constant time for any length of a window.
 */
export class CompletionTally {
  private stretchNs = SHORTEST_STRETCH_NS;
  /** Number of the first stretch, counted from time 0; undefined while there are no completions. */
  private first: number | undefined;
  private counts = new Float64Array(MOST_STRETCHES);

  /** Adds a completion. Times need not ascend strictly: one before the first stretch counts in that. */
  add(atNs: number): void {
    let at = Math.floor(atNs / this.stretchNs);
    this.first ??= at;
    while (at - this.first >= MOST_STRETCHES) {
      this.halve();
      at = Math.floor(atNs / this.stretchNs);
    }
    const index = Math.max(0, at - this.first);
    this.counts[index] = (this.counts[index] as number) + 1;
  }

  /** Returns the counts of the whole stretches of a window. */
  between(startNs: number, endNs: number): CompletionCounts {
    while (endNs - startNs > MOST_STRETCHES * this.stretchNs) this.halve();
    const { stretchNs, first = 0, counts } = this;
    const from = Math.ceil(startNs / stretchNs);
    const length = Math.max(0, Math.floor(endNs / stretchNs) - from);
    return { stretchNs, counts: Array.from({ length }, (_, index) => counts[from + index - first] ?? 0) };
  }

  /** Joins each two neighbours that begin at an even number, so that stretches stay aligned with time 0. */
  private halve(): void {
    const joined = new Float64Array(MOST_STRETCHES);
    const first = this.first ?? 0;
    const next = Math.floor(first / 2);
    for (let index = 0; index < MOST_STRETCHES; index++) {
      const to = Math.floor((first + index) / 2) - next;
      joined[to] = (joined[to] ?? 0) + (this.counts[index] as number);
    }
    this.counts = joined;
    if (this.first !== undefined) this.first = next;
    this.stretchNs *= 2;
  }
}

/** Puts the counts of consecutive windows behind each other; undefined when a window has none. */
export function mergeCompletions(parts: readonly (CompletionCounts | undefined)[]): CompletionCounts | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length || known.length === 0) return undefined;
  const stretchNs = Math.max(...known.map((part) => part.stretchNs));
  let merged: CompletionCounts = {
    stretchNs,
    counts: known.flatMap((part) => {
      let whole = part;
      while (whole.stretchNs < stretchNs) whole = joinPairs(whole);
      return whole.counts;
    }),
  };
  while (merged.counts.length > MOST_STRETCHES) merged = joinPairs(merged);
  return merged;
}

/** Joins each two neighbours. The last one without a neighbour is left out. */
function joinPairs({ stretchNs, counts }: CompletionCounts): CompletionCounts {
  const pairs = Array.from(
    { length: Math.floor(counts.length / 2) },
    (_, index) => (counts[2 * index] as number) + (counts[2 * index + 1] as number),
  );
  return { stretchNs: 2 * stretchNs, counts: pairs };
}

/** The 95 % confidence interval of throughput; null when the measurement is too short for one. */
export interface ThroughputInterval {
  /** Requests per second, times the batch size: 0 or more. */
  readonly low: number | null;
  readonly high: number | null;
}

/** What a window knows about its throughput. */
export interface ThroughputSource {
  readonly completions?: CompletionCounts | undefined;
  /** Its latencies. Absent: not known. */
  readonly latency?: { readonly effectiveCount: number } | undefined;
}

/** Below this mean number of completions per stretch, longer stretches are looked at too. */
const FEW_PER_STRETCH = 8;
/** Fewer completions than this say too little about their own correlation. */
const FEW_COMPLETIONS = 128;

/**
 * Returns the interval of a window's throughput around `perSec`, from how much the number of completions varies from stretch to stretch.
 * It allows for correlation as the intervals of means do (batch means, Law and Kelton), with Student's t. In stretches of few completions
 * chance hides how slow changes add up, so the stretches are joined in pairs, again and again, and the widest interval counts.
 * @param perSec throughput of the window
 * @param batchSize inferences per request
 * @returns null ends when the window is worth fewer than two independent stretches, or, with few completions, independent latencies
 */
export function throughputInterval(
  { completions, latency }: ThroughputSource,
  perSec: number,
  batchSize: number,
): ThroughputInterval {
  if (completions === undefined || completions.counts.length < FEWEST_STRETCHES) return NONE;
  const total = completions.counts.reduce((sum, count) => sum + count, 0);
  if (total === 0 || (total < FEW_COMPLETIONS && latency !== undefined && latency.effectiveCount < 2)) return NONE;
  let stretches = completions;
  let widest = intervalOf(stretches, perSec, batchSize);
  while (stretches.counts.length >= 2 * FEWEST_STRETCHES && total / stretches.counts.length < FEW_PER_STRETCH) {
    stretches = joinPairs(stretches);
    const interval = intervalOf(stretches, perSec, batchSize);
    if (widthOf(interval) > widthOf(widest)) widest = interval;
  }
  return widest;
}

const NONE: ThroughputInterval = { low: null, high: null };

function intervalOf({ counts, stretchNs }: CompletionCounts, perSec: number, batchSize: number): ThroughputInterval {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1);
  const effective = effectiveCount(counts.length, variance, { means: counts, batchCount: 1 });
  const scale = batchSize / nsToSec(stretchNs);
  const { low, high } = fromZero(meanInterval(perSec, Math.sqrt(variance) * scale, effective));
  return { low, high };
}

/** Returns how wide an interval is; infinite without one. */
function widthOf({ low, high }: ThroughputInterval): number {
  return low === null || high === null ? Number.POSITIVE_INFINITY : high - low;
}
