/** Durations of the last seconds as counts of buckets: what a live view shows, at a cost that does not grow with their number. */

const SLICES = 5;
/** Buckets are 2.2 % wide. */
const BUCKETS_PER_OCTAVE = 32;
const OCTAVES = 40; // of microseconds: 12 days

/** The slices of a second each that make up the last seconds. */
export class RecentDurations {
  private readonly slices = Array.from({ length: SLICES }, () => new Uint32Array(BUCKETS_PER_OCTAVE * OCTAVES));
  private current = 0;

  /** @param durationNs below 0 counts as 0; NaN is left out */
  add(durationNs: number): void {
    if (Number.isNaN(durationNs)) return;
    const octaves = Math.log2(Math.max(1, durationNs / 1000));
    const bucket = Math.min(BUCKETS_PER_OCTAVE * OCTAVES - 1, Math.floor(octaves * BUCKETS_PER_OCTAVE));
    const slice = this.slices[this.current] as Uint32Array;
    slice[bucket] = (slice[bucket] as number) + 1;
  }

  /** Call once a second: forgets the oldest one. */
  rotate(): void {
    this.current = (this.current + 1) % SLICES;
    (this.slices[this.current] as Uint32Array).fill(0);
  }

  /** Forgets all of them. */
  clear(): void {
    for (const slice of this.slices) slice.fill(0);
  }

  /** Percentiles in nanoseconds, in the order asked for; undefined when there was nothing. @param ratios ascending, 0 to 1 */
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

/** The middle of the bucket in which the observation of this rank lies. */
function quantileOf(counts: Uint32Array, rank: number): number {
  let below = 0;
  let bucket = 0;
  for (; bucket < counts.length - 1; bucket++) {
    below += counts[bucket] as number;
    if (below >= rank) break;
  }
  return 2 ** ((bucket + 0.5) / BUCKETS_PER_OCTAVE) * 1000;
}
