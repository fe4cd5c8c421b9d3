const SLICES = 5;
/** Each bucket is 2.2 % wide. */
const BUCKETS_PER_OCTAVE = 32;
const OCTAVES = 40; // of microseconds: 12 days

/** A histogram of the durations in the last seconds, for the live view. Constant cost for any number of durations. */
export class RecentDurations {
  private readonly slices = Array.from({ length: SLICES }, () => new Uint32Array(BUCKETS_PER_OCTAVE * OCTAVES));
  private current = 0;

  /** @param durationNs negative counts as 0; NaN is ignored */
  add(durationNs: number): void {
    if (Number.isNaN(durationNs)) return;
    const octaves = Math.log2(Math.max(1, durationNs / 1000));
    const bucket = Math.min(BUCKETS_PER_OCTAVE * OCTAVES - 1, Math.floor(octaves * BUCKETS_PER_OCTAVE));
    const slice = this.slices[this.current] as Uint32Array;
    slice[bucket] = (slice[bucket] as number) + 1;
  }

  /** Drops the oldest second. Call once per second. */
  rotate(): void {
    this.current = (this.current + 1) % SLICES;
    (this.slices[this.current] as Uint32Array).fill(0);
  }

  /** Drops all durations. */
  clear(): void {
    for (const slice of this.slices) slice.fill(0);
  }

  /** Returns percentiles in nanoseconds, in the order of `ratios`; undefined without durations. @param ratios 0 to 1 */
  quantilesNs(ratios: readonly number[]): number[] | undefined {
    const counts = new Uint32Array(BUCKETS_PER_OCTAVE * OCTAVES);
    let total = 0;
    for (const slice of this.slices) {
      for (let bucket = 0; bucket < slice.length; bucket++) {
        const count = slice[bucket] as number;
        if (count === 0) continue;
        counts[bucket] = (counts[bucket] as number) + count;
        total += count;
      }
    }
    if (total === 0) return undefined;
    return ratios.map((ratio) => quantileOf(counts, Math.max(1, Math.ceil(ratio * total))));
  }
}

/** Returns the middle of the bucket that contains the observation of this rank. */
function quantileOf(counts: Uint32Array, rank: number): number {
  let below = 0;
  let bucket = 0;
  for (; bucket < counts.length - 1; bucket++) {
    below += counts[bucket] as number;
    if (below >= rank) break;
  }
  return 2 ** ((bucket + 0.5) / BUCKETS_PER_OCTAVE) * 1000;
}
