import { nsToSec } from "../../plan/units.ts";
import { effectiveCount, INTERVAL_CONFIDENCE } from "./effective-count.ts";
import { fromZero, meanInterval } from "./mean-interval.ts";

/** Numbers of requests that ended in consecutive stretches of equal length. */
export interface CompletionCounts {
  readonly stretchNs: number;
  /** Successful requests in order of time; at most 128 numbers. The ends of a window that fill no stretch are left out. */
  readonly counts: readonly number[];
  /** Failed requests in the same stretches. Absent: none, or not known. */
  readonly failed?: readonly number[] | undefined;
}

export const MOST_STRETCHES = 128;
export const SHORTEST_STRETCH_NS = 1_000_000; // 1 ms
/** With fewer stretches their variation says too little. */
export const FEWEST_STRETCHES = 16;

/**
 * Counts completions over time. The length of the stretches doubles when there are more than 128, so memory is bounded and adding takes
 * constant time for any length of a window.
 */
export class CompletionTally {
  private stretchNs = SHORTEST_STRETCH_NS;
  /** Number of the first stretch, counted from time 0; undefined while there are no completions. */
  private first: number | undefined;
  private counts = new Float64Array(MOST_STRETCHES);
  /** Undefined while no request has failed. */
  private failed: Float64Array | undefined;

  /** Adds a completion. Times need not ascend strictly: one before the first stretch counts in that. */
  add(atNs: number): void {
    const index = this.indexAt(atNs);
    this.counts[index] = (this.counts[index] as number) + 1;
  }

  /** Adds a failed request. */
  addFailed(atNs: number): void {
    const index = this.indexAt(atNs);
    this.failed ??= new Float64Array(MOST_STRETCHES);
    this.failed[index] = (this.failed[index] as number) + 1;
  }

  /** Returns the stretch of a time, and joins stretches when it is beyond the last one. */
  private indexAt(atNs: number): number {
    let at = Math.floor(atNs / this.stretchNs);
    this.first ??= at;
    while (at - this.first >= MOST_STRETCHES) {
      this.halve();
      at = Math.floor(atNs / this.stretchNs);
    }
    return Math.max(0, at - this.first);
  }

  /** Returns the counts of the whole stretches of a window. */
  between(startNs: number, endNs: number): CompletionCounts {
    while (endNs - startNs > MOST_STRETCHES * this.stretchNs) this.halve();
    const { stretchNs, first = 0, counts, failed } = this;
    const from = Math.ceil(startNs / stretchNs);
    const length = Math.max(0, Math.floor(endNs / stretchNs) - from);
    const cut = (all: Float64Array) => Array.from({ length }, (_, index) => all[from + index - first] ?? 0);
    return { stretchNs, counts: cut(counts), ...(failed === undefined ? {} : { failed: cut(failed) }) };
  }

  /** Joins each two neighbours that begin at an even number, so that stretches stay aligned with time 0. */
  private halve(): void {
    const first = this.first ?? 0;
    const next = Math.floor(first / 2);
    const join = (all: Float64Array): Float64Array<ArrayBuffer> => {
      const joined = new Float64Array(MOST_STRETCHES);
      for (let index = 0; index < MOST_STRETCHES; index++) {
        const to = Math.floor((first + index) / 2) - next;
        joined[to] = (joined[to] ?? 0) + (all[index] as number);
      }
      return joined;
    };
    this.counts = join(this.counts);
    if (this.failed !== undefined) this.failed = join(this.failed);
    if (this.first !== undefined) this.first = next;
    this.stretchNs *= 2;
  }
}

/** Puts the counts of consecutive windows behind each other; undefined when a window has none. */
export function mergeCompletions(parts: readonly (CompletionCounts | undefined)[]): CompletionCounts | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length || known.length === 0) return undefined;
  const stretchNs = Math.max(...known.map((part) => part.stretchNs));
  const even = known.map((part) => stretchTo(part, stretchNs));
  let merged: CompletionCounts = {
    stretchNs,
    counts: even.flatMap(({ counts }) => counts),
    ...(even.some(({ failed }) => failed !== undefined)
      ? { failed: even.flatMap(({ counts, failed }) => failed ?? counts.map(() => 0)) }
      : {}),
  };
  while (merged.counts.length > MOST_STRETCHES) merged = joinPairs(merged);
  return merged;
}

/** Adds the counts of parts of the same window, such as groups of requests; undefined when a part has none. */
export function addCompletions(parts: readonly (CompletionCounts | undefined)[]): CompletionCounts | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length || known.length === 0) return undefined;
  const stretchNs = Math.max(...known.map((part) => part.stretchNs));
  const even = known.map((part) => stretchTo(part, stretchNs));
  const length = Math.min(...even.map(({ counts }) => counts.length));
  const add = (pick: (part: CompletionCounts) => readonly number[] | undefined): number[] =>
    Array.from({ length }, (_, at) => even.reduce((sum, part) => sum + (pick(part)?.[at] ?? 0), 0));
  return {
    stretchNs,
    counts: add(({ counts }) => counts),
    ...(even.some(({ failed }) => failed !== undefined) ? { failed: add(({ failed }) => failed) } : {}),
  };
}

function stretchTo(part: CompletionCounts, stretchNs: number): CompletionCounts {
  let whole = part;
  while (whole.stretchNs < stretchNs) whole = joinPairs(whole);
  return whole;
}

/** Joins each two neighbours. The last one without a neighbour is left out. */
function joinPairs({ stretchNs, counts, failed }: CompletionCounts): CompletionCounts {
  return {
    stretchNs: 2 * stretchNs,
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
  confidence: number = INTERVAL_CONFIDENCE,
): ThroughputInterval {
  if (completions === undefined) return NONE;
  const total = completions.counts.reduce((sum, count) => sum + count, 0);
  if (total < FEW_COMPLETIONS && latency !== undefined && latency.effectiveCount < 2) return NONE;
  return rateInterval(completions, total, perSec, { batchSize, confidence });
}

/**
 * Returns the interval of the rate of something that requests bring, such as tokens, as {@link throughputInterval} does.
 * @param total number of requests in the stretches
 * @param perSec the rate
 */
export function rateInterval(
  stretches: CompletionCounts,
  total: number,
  perSec: number,
  { batchSize = 1, confidence = INTERVAL_CONFIDENCE }: { readonly batchSize?: number; readonly confidence?: number },
): ThroughputInterval {
  if (stretches.counts.length < FEWEST_STRETCHES || total === 0) return NONE;
  const intervals = lengthen(stretches, total).map((one) => intervalOf(one, perSec, batchSize, confidence));
  return intervals.reduce((widest, one) => (widthOf(one) > widthOf(widest) ? one : widest));
}

/** Returns the stretches, and joined ones as long as they hold few events on average. @param total number of events */
export function lengthen(stretches: CompletionCounts, total: number): CompletionCounts[] {
  const all = [stretches];
  for (let last = stretches; ; all.push(last)) {
    const { length } = last.counts;
    if (length < 2 * FEWEST_STRETCHES || total / length >= FEW_PER_STRETCH) return all;
    last = joinPairs(last);
  }
}

const NONE: ThroughputInterval = { low: null, high: null };

function intervalOf(
  { counts, stretchNs }: CompletionCounts,
  perSec: number,
  batchSize: number,
  confidence: number,
): ThroughputInterval {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / (counts.length - 1);
  const effective = effectiveCount(counts.length, variance, { means: counts, batchCount: 1 }, confidence);
  const scale = batchSize / nsToSec(stretchNs);
  const { low, high } = fromZero(meanInterval(perSec, Math.sqrt(variance) * scale, effective, { confidence }));
  return { low, high };
}

/** Returns how wide an interval is; infinite without one. */
function widthOf({ low, high }: ThroughputInterval): number {
  return low === null || high === null ? Number.POSITIVE_INFINITY : high - low;
}
