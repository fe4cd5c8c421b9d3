import { NS_PER_SEC } from "../plan/units.ts";

/**
 * Histograms of durations whose buckets grow by the same factor, as OpenTelemetry and Prometheus define them: bucket `i` of scale `s` holds
 * the durations above `2^(i/2^s)` seconds, up to and including `2^((i+1)/2^s)` seconds. Two such histograms add up and subtract exactly,
 * and merging neighbours gives a histogram of a lower scale.
 */

/** The scale of a histogram that counts: 64 buckets between a duration and its double, so a percentile is within 0.6 %. */
export const SCALE = 6;
const PER_DOUBLE = 2 ** SCALE;
const LOWEST_EXPONENT = -20; // 0.95 us
const HIGHEST_EXPONENT = 12; // 68 min
/** Index of the first bucket. */
export const FIRST_INDEX = LOWEST_EXPONENT * PER_DOUBLE;
/** Number of buckets. */
export const BUCKET_COUNT = (HIGHEST_EXPONENT - LOWEST_EXPONENT) * PER_DOUBLE;

/** Upper bound of each bucket, in nanoseconds. */
const UPPER_NS = Float64Array.from(
  { length: BUCKET_COUNT },
  (_, i) => 2 ** ((FIRST_INDEX + i + 1) / PER_DOUBLE) * NS_PER_SEC,
);
/** Buckets of durations between 2^i and 2^(i+1) ns begin here, or at most one later. A logarithm for each duration would cost more. */
const HIGHEST_NS_EXPONENT = 43;
const STEPS = 1024;
const FIRST_BUCKETS = Uint16Array.from({ length: HIGHEST_NS_EXPONENT * STEPS }, (_, i) => {
  const lowestNs = 2 ** Math.floor(i / STEPS) * (1 + (i % STEPS) / STEPS);
  const index = Math.floor(Math.log2(lowestNs / NS_PER_SEC) * PER_DOUBLE) - FIRST_INDEX;
  return Math.min(BUCKET_COUNT - 1, Math.max(0, index));
});
const bits = new DataView(new ArrayBuffer(8));

/** Returns the bucket of a duration. */
function bucketOf(durationNs: number): number {
  if (!(durationNs > 1)) return 0;
  bits.setFloat64(0, durationNs);
  // The exponent, and the first ten bits after the leading one.
  const step = (bits.getUint32(0) >>> 10) - 1023 * STEPS;
  let bucket = step < FIRST_BUCKETS.length ? (FIRST_BUCKETS[step] as number) : BUCKET_COUNT - 1;
  while (bucket < BUCKET_COUNT - 1 && durationNs > (UPPER_NS[bucket] as number)) bucket++;
  while (bucket > 0 && durationNs <= (UPPER_NS[bucket - 1] as number)) bucket--;
  return bucket;
}

/** Counts durations. Constant memory, and constant cost for each duration. */
export class ExponentialHistogram {
  /** Durations in each bucket. */
  readonly counts = new Float64Array(BUCKET_COUNT);
  count = 0;
  sumNs = 0;

  /** @param durationNs below 1 us counts in the first bucket, above 68 min in the last; NaN is ignored */
  add(durationNs: number): void {
    if (Number.isNaN(durationNs)) return;
    const bucket = bucketOf(durationNs);
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.count++;
    if (durationNs > 0) this.sumNs += durationNs;
  }

  /** Adds the durations of another histogram. */
  addAll(other: ExponentialHistogram): void {
    for (let i = 0; i < BUCKET_COUNT; i++) this.counts[i] = (this.counts[i] as number) + (other.counts[i] as number);
    this.count += other.count;
    this.sumNs += other.sumNs;
  }

  /** Returns percentiles of the durations added after a copy of `counts` was made; undefined without any. @param ratios ascending, 0 to 1 */
  quantilesSince(before: Float64Array | undefined, ratios: readonly number[]): number[] | undefined {
    let total = 0;
    for (let i = 0; i < BUCKET_COUNT; i++) total += this.countSince(before, i);
    if (total === 0) return undefined;
    let bucket = -1;
    let passed = 0;
    return ratios.map((ratio) => {
      const rank = Math.min(total, Math.max(1, Math.ceil(ratio * total)));
      while (passed < rank) passed += this.countSince(before, ++bucket);
      return 2 ** ((FIRST_INDEX + bucket + 0.5) / PER_DOUBLE) * NS_PER_SEC;
    });
  }

  private countSince(before: Float64Array | undefined, bucket: number): number {
    return (this.counts[bucket] as number) - (before?.[bucket] ?? 0);
  }
}

/** Consecutive buckets of a scale, from the first to the last that holds durations. */
export interface Buckets {
  readonly scale: number;
  /** Index of the first of `counts`. */
  readonly offset: number;
  readonly counts: readonly number[];
}

/** Returns the buckets in use, at the highest scale with at most this number of them. @param atMost 2 or more */
export function compactBuckets({ counts }: ExponentialHistogram, atMost: number): Buckets {
  let first = 0;
  while (first < BUCKET_COUNT && counts[first] === 0) first++;
  if (first === BUCKET_COUNT) return { scale: SCALE, offset: 0, counts: [] };
  let last = BUCKET_COUNT - 1;
  while (counts[last] === 0) last--;
  let shift = 0;
  const indexOf = (bucket: number): number => (FIRST_INDEX + bucket) >> shift;
  while (indexOf(last) - indexOf(first) >= atMost) shift++;
  const offset = indexOf(first);
  const merged = new Array<number>(indexOf(last) - offset + 1).fill(0);
  for (let bucket = first; bucket <= last; bucket++) {
    const at = indexOf(bucket) - offset;
    merged[at] = (merged[at] as number) + (counts[bucket] as number);
  }
  return { scale: SCALE - shift, offset, counts: merged };
}
