import {
  addCount,
  addMoments,
  MOST_NUMBERS,
  type Moments,
  ROUNDED_DIGITS,
  rankCounts,
  roundNumber,
  type Sketch,
} from "../sketch.ts";
import { BinTally } from "./bin-tally.ts";

/**
 * Collects any numbers for a {@link Sketch}: exactly, or with a few digits if there are very many different ones, so that
 * memory is bounded. Mean, deviation, and the smallest and largest number are always exact.
 */
export class NumberTally {
  private moments: Moments = { count: 0, mean: 0, squaredDeviation: 0 };
  private sum = 0;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  private counts = new Map<number, number>();
  private isRounded = false;
  private readonly bins = new BinTally();
  private readonly channel = this.bins.newChannel("numbers");

  /** @param atNs time of the measurement; times need not ascend */
  add(value: number, atNs: number): void {
    this.moments = addMoments(this.moments, { count: 1, mean: value, squaredDeviation: 0 });
    this.sum += value;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    this.channel.add(this.bins.add(atNs), value);
    addCount(this.counts, this.isRounded ? roundNumber(value) : value, 1);
    if (this.counts.size > MOST_NUMBERS && !this.isRounded) this.roundAll();
  }

  /** Returns the numbers of a time span: numbers outside of it count at its ends. Nothing may be added afterwards. */
  cut(startNs: number, endNs: number): Sketch {
    const { moments, sum, min, max, isRounded } = this;
    const isEmpty = moments.count === 0;
    return {
      ...moments,
      ...(isEmpty ? { min: 0, max: 0 } : { mean: sum / moments.count, min, max }),
      step: 0,
      ...(isRounded ? { digits: ROUNDED_DIGITS } : {}),
      ...rankCounts(this.counts),
      bins: this.bins.cut(startNs, endNs).samplesOf(this.channel),
    };
  }

  private roundAll(): void {
    this.isRounded = true;
    const exact = this.counts;
    this.counts = new Map();
    for (const [value, count] of exact) addCount(this.counts, roundNumber(value), count);
  }
}
