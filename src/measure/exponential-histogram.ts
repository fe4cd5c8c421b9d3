import { NS_PER_SEC } from "../plan/units.ts";

/**
 * Histograms of durations with exponential buckets, as OpenTelemetry and Prometheus define them: bucket `i` of scale `s`
 * contains the durations above `2^(i/2^s)` seconds, up to and including `2^((i+1)/2^s)` seconds. Two such histograms can be
 * added exactly, and merging neighbouring buckets gives a histogram of a lower scale.
 */

/** Scale of a counting histogram: 64 buckets between a duration and its double, so a percentile is within 0.6 %. */
export const SCALE = 6;
const PER_DOUBLE = 1 << SCALE; // computed by a shift, so that engines keep indexes as integers
const LOWEST_EXPONENT = -20; // 0.95 us
const HIGHEST_EXPONENT = 12; // 68 min
const FIRST_INDEX = LOWEST_EXPONENT * PER_DOUBLE;
const BUCKET_COUNT = (HIGHEST_EXPONENT - LOWEST_EXPONENT) * PER_DOUBLE;

/** Upper bound of each bucket, in nanoseconds. */
const UPPER_NS = Float64Array.from({ length: BUCKET_COUNT }, (_, i) => bucketStartNs(FIRST_INDEX + i + 1));
/**
 * Durations from `2^e * (1 + i / STEPS)` ns begin in bucket `e * PER_DOUBLE + FIRST_BUCKETS[i]`, or at most one later. A logarithm for each
 * duration would cost more.
 */
const STEPS = 1024;
const FIRST_BUCKETS = Int16Array.from(
  { length: STEPS },
  (_, i) => Math.floor(Math.log2((1 + i / STEPS) / NS_PER_SEC) * PER_DOUBLE) - FIRST_INDEX,
);
const bits = new DataView(new ArrayBuffer(8));

/** Returns the start of a bucket, in nanoseconds. @param index as in {@link Buckets}; may be a fraction */
export function bucketStartNs(index: number, scale = SCALE): number {
  return 2 ** (index / 2 ** scale) * NS_PER_SEC;
}

function bucketOf(durationNs: number): number {
  if (!(durationNs > 1)) return 0;
  bits.setFloat64(0, durationNs);
  // The exponent, and the first ten bits after the leading one.
  const step = bits.getUint32(0) >>> 10;
  const first = ((step >>> 10) - 1023) * PER_DOUBLE + (FIRST_BUCKETS[step & (STEPS - 1)] as number);
  let bucket = first < 0 ? 0 : first < BUCKET_COUNT ? first : BUCKET_COUNT - 1;
  while (bucket < BUCKET_COUNT - 1 && durationNs > (UPPER_NS[bucket] as number)) bucket++;
  while (bucket > 0 && durationNs <= (UPPER_NS[bucket - 1] as number)) bucket--;
  return bucket;
}

/** Consecutive buckets of a scale, from the first to the last that is not empty. */
export interface Buckets {
  readonly scale: number;
  /** Index of the first of `counts`. */
  readonly offset: number;
  readonly counts: readonly number[];
}

/** The contents of a histogram as plain data. */
export type HistogramCounts = Pick<ExponentialHistogram, "offset" | "counts" | "count" | "sumNs">;

/** Counts durations. Memory is bounded, and small for similar durations; the cost of each duration is constant. */
export class ExponentialHistogram {
  /** Index of the first of `counts`. */
  offset = 0;
  /** Durations in each bucket. */
  counts = new Float64Array();
  count = 0;
  sumNs = 0;

  /** @param durationNs below 1 us counts in the first bucket, above 68 min in the last; NaN is ignored */
  add(durationNs: number): void {
    if (Number.isNaN(durationNs)) return;
    this.addTo(bucketOf(durationNs) + FIRST_INDEX, 1);
    this.count++;
    if (durationNs > 0) this.sumNs += durationNs;
  }

  /** Adds a duration several times. @param count negative: removes durations that were added */
  addMany(durationNs: number, count: number): void {
    this.addTo(bucketOf(durationNs) + FIRST_INDEX, count);
    this.count += count;
    this.sumNs += count * Math.max(0, durationNs);
  }

  addAll({ offset, counts, count, sumNs }: HistogramCounts): void {
    for (let i = 0; i < counts.length; i++) if (counts[i] !== 0) this.addTo(offset + i, counts[i] as number);
    this.count += count;
    this.sumNs += sumNs;
  }

  /** Mean in nanoseconds; NaN without durations. */
  get meanNs(): number {
    return this.sumNs / this.count;
  }

  /**
   * Returns percentiles in nanoseconds, each the middle of its bucket, but in the longest bucket at least the mean; undefined
   * without durations.
   * @param ratios ascending, 0 to 1
   */
  quantiles(ratios: readonly number[]): number[] | undefined {
    if (this.count === 0) return undefined;
    let at = -1;
    let passed = 0;
    return ratios.map((ratio) => {
      const rank = Math.min(this.count, Math.max(1, Math.ceil(ratio * this.count)));
      while (passed < rank) passed += this.counts[++at] as number;
      const middleNs = bucketStartNs(this.offset + at + 0.5);
      return passed < this.count ? middleNs : Math.max(middleNs, this.meanNs);
    });
  }

  /** Formats the buckets that are not empty as text: `index:count` with commas. */
  toString(): string {
    return Array.from(this.counts, (count, i) => (count === 0 ? "" : `${this.offset + i}:${count}`))
      .filter((text) => text !== "")
      .join(",");
  }

  /** Reads the text. The sum of the durations is within 0.6 %. */
  static parse(text: string): ExponentialHistogram {
    const histogram = new ExponentialHistogram();
    for (const [, given, count] of text.matchAll(/(-?\d+):(\d+)/g)) {
      const index = Math.min(FIRST_INDEX + BUCKET_COUNT - 1, Math.max(FIRST_INDEX, Number(given)));
      histogram.addTo(index, Number(count));
      histogram.count += Number(count);
      histogram.sumNs += Number(count) * bucketStartNs(index + 0.5);
    }
    return histogram;
  }

  private addTo(index: number, count: number): void {
    let at = index - this.offset;
    if (at < 0 || at >= this.counts.length) {
      this.makeRoom(index);
      at = index - this.offset;
    }
    this.counts[at] = (this.counts[at] as number) + count;
  }

  /** Extends the buckets by whole doublings. */
  private makeRoom(index: number): void {
    const { offset, counts } = this;
    const first = Math.floor(index / PER_DOUBLE) * PER_DOUBLE;
    this.offset = counts.length === 0 ? first : Math.min(offset, first);
    const end = Math.max(counts.length === 0 ? first : offset + counts.length, first + PER_DOUBLE);
    this.counts = new Float64Array(end - this.offset);
    this.counts.set(counts, counts.length === 0 ? 0 : offset - this.offset);
  }
}

/** Returns the buckets in use at the highest scale that has at most this number of them. @param atMost 2 or more */
export function compactBuckets({ offset: start, counts }: ExponentialHistogram, atMost: number): Buckets {
  const first = counts.findIndex((count) => count > 0);
  const last = counts.findLastIndex((count) => count > 0);
  if (first < 0) return { scale: SCALE, offset: 0, counts: [] };
  let shift = 0;
  const indexOf = (at: number): number => (start + at) >> shift;
  while (indexOf(last) - indexOf(first) >= atMost) shift++;
  const offset = indexOf(first);
  const merged = new Array<number>(indexOf(last) - offset + 1).fill(0);
  for (let at = first; at <= last; at++)
    merged[indexOf(at) - offset] = (merged[indexOf(at) - offset] as number) + (counts[at] as number);
  return { scale: SCALE - shift, offset, counts: merged };
}
