/** Decides when a level is stable, by perf_analyzer's rule for its last windows. */

/** Number of windows to compare. */
export const STABILITY_WINDOWS = 3;
/** A window lasts this many times the requested length, as in perf_analyzer. */
export const WINDOW_STRETCH = 1.2;

/** perf_analyzer's criteria for a stable level. */
interface StabilityRule {
  /** Maximum of max/min minus 1 over the recent windows: 0.1 for 10 %. */
  readonly toleranceRatio: number;
  /** The level ends when a recent window reaches this latency, in nanoseconds; undefined: no limit. */
  readonly latencyLimitNs: number | undefined;
}

/** Judges the windows of one level. */
export class StabilityJudge {
  private readonly rule: StabilityRule;
  private readonly inferPerSec: number[] = [];
  private readonly latencyNs: number[] = [];

  constructor(rule: StabilityRule) {
    this.rule = rule;
  }

  /** Adds a window. @param latencyNs Infinity for a window without a measurement */
  add(inferPerSec: number, latencyNs: number): void {
    this.inferPerSec.push(inferPerSec);
    this.latencyNs.push(latencyNs);
    if (this.inferPerSec.length > STABILITY_WINDOWS) {
      this.inferPerSec.shift();
      this.latencyNs.shift();
    }
  }

  /** Whether throughput and latency stayed within the tolerance over the recent windows. */
  get isStable(): boolean {
    return this.isThroughputStable && this.isWithin(this.latencyNs);
  }

  get isThroughputStable(): boolean {
    return this.isFull && !this.inferPerSec.includes(0) && this.isWithin(this.inferPerSec);
  }

  /** Whether one of the recent windows reached the latency limit. */
  get isOverLimit(): boolean {
    const { latencyLimitNs } = this.rule;
    return latencyLimitNs !== undefined && this.isFull && this.latencyNs.some((latency) => latency >= latencyLimitNs);
  }

  /** Maximum allowed variation, as a ratio. */
  get toleranceRatio(): number {
    return this.rule.toleranceRatio;
  }

  /** Variation over the recent windows: max/min minus 1. */
  get spread(): { readonly throughputRatio: number; readonly latencyRatio: number } {
    return { throughputRatio: spreadOf(this.inferPerSec), latencyRatio: spreadOf(this.latencyNs) };
  }

  private get isFull(): boolean {
    return this.inferPerSec.length === STABILITY_WINDOWS;
  }

  private isWithin(values: readonly number[]): boolean {
    // Do not use the spread: subtracting 1 would round a variation of exactly the tolerance to more.
    return this.isFull && Math.max(...values) / Math.min(...values) <= 1 + this.rule.toleranceRatio;
  }
}

function spreadOf(values: readonly number[]): number {
  return Math.max(...values) / Math.min(...values) - 1;
}
