/** When a measurement is stable, by perf_analyzer's rule. */

export const STABILITY_WINDOWS = 3;

/** What stability is judged by. */
export interface StabilityRule {
  /** Largest max/min minus 1 among the recent windows: 0.1 for 10 %. */
  readonly toleranceRatio: number;
  /** A level whose recent windows reach this latency is over; in nanoseconds, undefined: no limit. */
  readonly latencyLimitNs: number | undefined;
}

/** Follows the windows of one level. */
export class StabilityJudge {
  private readonly rule: StabilityRule;
  private readonly inferPerSec: number[] = [];
  private readonly latencyNs: number[] = [];

  constructor(rule: StabilityRule) {
    this.rule = rule;
  }

  /** Adds a window. @param latencyNs the latency that counts; Infinity for a window without a measurement */
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

  /** Whether throughput alone did. */
  get isThroughputStable(): boolean {
    return this.isFull && !this.inferPerSec.includes(0) && this.isWithin(this.inferPerSec);
  }

  /** Whether one of the recent windows reached the latency limit. */
  get isOverLimit(): boolean {
    const { latencyLimitNs } = this.rule;
    return latencyLimitNs !== undefined && this.isFull && this.latencyNs.some((latency) => latency >= latencyLimitNs);
  }

  /** Largest movement that is allowed, as a ratio. */
  get toleranceRatio(): number {
    return this.rule.toleranceRatio;
  }

  /** How far each quantity moved over the recent windows: max/min minus 1, as a ratio. */
  get spread(): { readonly throughputRatio: number; readonly latencyRatio: number } {
    return { throughputRatio: spreadOf(this.inferPerSec), latencyRatio: spreadOf(this.latencyNs) };
  }

  private get isFull(): boolean {
    return this.inferPerSec.length === STABILITY_WINDOWS;
  }

  private isWithin(values: readonly number[]): boolean {
    // Not by way of the spread: subtracting 1 would round a movement of exactly the tolerance to more than it.
    return this.isFull && Math.max(...values) / Math.min(...values) <= 1 + this.rule.toleranceRatio;
  }
}

function spreadOf(values: readonly number[]): number {
  return Math.max(...values) / Math.min(...values) - 1;
}
