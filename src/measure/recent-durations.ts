import type { Histogram } from "hdr-histogram-js";
import { createHistogram, recordUs } from "./latency-histogram.ts";

const SECONDS = 5;
const SIGNIFICANT_DIGITS = 2;

/** HDR histograms of the durations in the last five seconds, for the live view. Constant cost for any number of durations. */
export class RecentDurations {
  private readonly seconds = Array.from({ length: SECONDS }, () => createHistogram(SIGNIFICANT_DIGITS));
  private readonly merged = createHistogram(SIGNIFICANT_DIGITS);
  private current = 0;

  /** @param durationNs below 1 us counts as 1 us, above an hour as an hour; NaN is ignored */
  add(durationNs: number): void {
    if (Number.isNaN(durationNs)) return;
    recordUs(this.histogram, Math.round(durationNs / 1000));
  }

  /** Drops the oldest second. Call once per second. */
  rotate(): void {
    this.current = (this.current + 1) % SECONDS;
    this.histogram.reset();
  }

  /** Drops all durations. */
  clear(): void {
    for (const second of this.seconds) second.reset();
  }

  /** Returns percentiles in nanoseconds, up to 1 % above the recorded ones; undefined without durations. @param ratios 0 to 1 */
  quantilesNs(ratios: readonly number[]): number[] | undefined {
    const { merged } = this;
    merged.reset();
    for (const second of this.seconds) merged.add(second);
    if (merged.totalCount === 0) return undefined;
    return ratios.map((ratio) => merged.getValueAtPercentile(ratio * 100) * 1000);
  }

  private get histogram(): Histogram {
    return this.seconds[this.current] as Histogram;
  }
}
