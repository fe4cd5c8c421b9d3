import { nsToUs, usToNs } from "../plan/units.ts";
import { type Drift, driftOf, effectiveCount, INTERVAL_CONFIDENCE } from "./intervals/effective-count.ts";
import { SampleBatches } from "./intervals/sample-batches.ts";
import { type SeriesShape, shapeOf } from "./intervals/series-shape.ts";
import type { SampleAbove } from "./limits/verdict-state.ts";

const INITIAL_CELLS = 4096; // up to 4.1 ms
const MAX_CELLS = 1 << 20; // up to 1.05 s, 4 MiB; longer latencies are rare and go into a map

/** A latency in the tally is up to 1 us longer than its whole microseconds. */
const HALF_US = 500;

/** The latencies in ascending order, for many percentiles of the same tally: walking a million cells for each takes longer than all the rest. */
interface Ranks {
  readonly count: number;
  /** Different latencies, in microseconds. */
  readonly us: readonly number[];
  /** For each, how many latencies are at most as long. */
  readonly upTo: readonly number[];
}

/**
 * A histogram of latencies with a resolution of 1 us, as in reports. Memory depends on the range of latencies, not on their number. Mean
 * and deviation are computed from nanoseconds. The order of the latencies is kept in batches, for the effective sample size.
 */
export class LatencyTally {
  private cells = new Uint32Array(INITIAL_CELLS);
  /** Counts of latencies above the cells, by microsecond. */
  private far = new Map<number, number>();
  private countSoFar = 0;
  private runningMeanNs = 0;
  private squaredDeviationNs2 = 0;
  /** Built by {@link atRankUs} for this number of latencies. */
  private ranks: Ranks = { count: 0, us: [], upTo: [] };
  private leastNs = Number.POSITIVE_INFINITY;
  private greatestNs = 0;
  /** Undefined when the order is not kept. */
  private readonly batches: SampleBatches | undefined;

  /** @param options.hasOrder whether the effective sample size can be asked for. Default: true */
  constructor({ hasOrder = true }: { readonly hasOrder?: boolean } = {}) {
    this.batches = hasOrder ? new SampleBatches() : undefined;
  }

  get count(): number {
    return this.countSoFar;
  }

  /** Smallest latency in nanoseconds; Infinity when empty. */
  get minNs(): number {
    return this.leastNs;
  }

  /** Largest latency in nanoseconds; 0 when empty. */
  get maxNs(): number {
    return this.greatestNs;
  }

  /** Arithmetic mean in nanoseconds; 0 when empty. */
  get meanNs(): number {
    return this.runningMeanNs;
  }

  /** Sum of all latencies in nanoseconds. */
  get sumNs(): number {
    return this.runningMeanNs * this.countSoFar;
  }

  /** Sample standard deviation (n - 1) in nanoseconds; undefined below two samples. */
  get deviationNs(): number | undefined {
    return this.countSoFar < 2 ? undefined : Math.sqrt(this.squaredDeviationNs2 / (this.countSoFar - 1));
  }

  /** Skewness of the latencies, from whole microseconds; 0 without variation. */
  get skewness(): number {
    let cubes = 0;
    this.forEach((us, count) => {
      cubes += count * (usToNs(us) + HALF_US - this.runningMeanNs) ** 3;
    });
    const squares = this.squaredDeviationNs2;
    return squares === 0 ? 0 : (cubes * Math.sqrt(this.countSoFar)) / squares ** 1.5;
  }

  /** Number of independent latencies that these are worth for the mean: 1 to their number; 0 when empty. */
  get effectiveCount(): number {
    return this.effectiveCountFor(INTERVAL_CONFIDENCE);
  }

  /** Effective sample size for an interval of the mean with a confidence, 0 to 1. */
  effectiveCountFor(confidence: number): number {
    const { batches, countSoFar: count } = this;
    const variance = (this.deviationNs ?? 0) ** 2;
    return batches === undefined ? count : effectiveCount(count, variance, batches.means(), confidence);
  }

  /**
   * Effective sample size for a percentile: the number of independent latencies of which the ratio below the percentile would vary as much.
   * When too many latencies are close to the percentile to compute that, returns the effective sample size for the mean.
   */
  effectiveCountAt(percentile: number, confidence: number = INTERVAL_CONFIDENCE): number {
    const { batches, countSoFar: count } = this;
    if (batches === undefined || count < 2) return count;
    const ratio = percentile / 100;
    const below = batches.ratiosBelow(usToNs(this.percentileUs(percentile)) + HALF_US);
    if (below.variance < (ratio * (1 - ratio)) / 2) return this.effectiveCountFor(confidence);
    return effectiveCount(count, below.variance, below, confidence);
  }

  /**
   * Returns how many latencies are above a limit.
   * @param isAtLeast whether those that equal it count too
   * @param confidence for which the effective sample size is needed
   */
  above(limitNs: number, isAtLeast: boolean, confidence = INTERVAL_CONFIDENCE): SampleAbove {
    const { batches, countSoFar: count } = this;
    const limitUs = nsToUs(limitNs);
    let aboveCount = 0;
    this.forEach((us, cellCount) => {
      if (us > limitUs || (isAtLeast && us === limitUs)) aboveCount += cellCount;
    });
    if (batches === undefined || aboveCount === 0 || aboveCount === count)
      return { count, aboveCount, effectiveCount: count };
    const below = batches.ratiosBelow(limitNs);
    const ratio = aboveCount / count;
    const variance = Math.min(below.variance, ratio * (1 - ratio));
    return { count, aboveCount, effectiveCount: effectiveCount(count, variance, below, confidence) };
  }

  /** How the latencies change over time, in nanoseconds; undefined for a few, or when the order is not kept. */
  get drift(): Drift | undefined {
    return this.batches && driftOf(this.batches.means());
  }

  /** The shape of the latencies over time; steady when the order is not kept. */
  get shape(): SeriesShape {
    return shapeOf(this.batches?.parts() ?? []);
  }

  /** Adds `values[start, end)`, in nanoseconds. */
  addAll(values: Float64Array, start: number, end: number): void {
    const added = end - start;
    if (added <= 0) return;
    const origin = values[start] as number;
    let sum = 0;
    let squares = 0;
    for (let i = start; i < end; i++) {
      const value = values[i] as number;
      this.put(Math.floor(nsToUs(value)), 1);
      this.batches?.add(value);
      if (value < this.leastNs) this.leastNs = value;
      if (value > this.greatestNs) this.greatestNs = value;
      const offset = value - origin;
      sum += offset;
      squares += offset * offset;
    }
    this.combine(added, origin + sum / added, squares - (sum * sum) / added);
  }

  /** Adds another tally, whose latencies follow in time. */
  merge(other: LatencyTally): void {
    if (other.countSoFar === 0) return;
    if (other.batches !== undefined) this.batches?.append(other.batches);
    other.forEach((us, count) => {
      this.put(us, count);
    });
    this.leastNs = Math.min(this.leastNs, other.leastNs);
    this.greatestNs = Math.max(this.greatestNs, other.greatestNs);
    this.combine(other.countSoFar, other.runningMeanNs, other.squaredDeviationNs2);
  }

  /** Returns the latency at a rank in ascending order, in microseconds. @param rank 0 to count-1 */
  atRankUs(rank: number): number {
    if (this.ranks.count !== this.countSoFar) this.ranks = this.rankAll();
    const { us, upTo } = this.ranks;
    let low = 0;
    let high = us.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] as number) > rank) high = middle;
      else low = middle + 1;
    }
    const found = us[low];
    if (found === undefined) throw new RangeError(`rank ${rank} of ${this.countSoFar} latencies`);
    return found;
  }

  private rankAll(): Ranks {
    const us: number[] = [];
    const upTo: number[] = [];
    let seen = 0;
    const add = (value: number, count: number): void => {
      seen += count;
      us.push(value);
      upTo.push(seen);
    };
    for (let cell = 0; cell < this.cells.length; cell++) {
      const count = this.cells[cell] as number;
      if (count > 0) add(cell, count);
    }
    for (const [value, count] of [...this.far].sort(([a], [b]) => a - b)) add(value, count);
    return { count: seen, us, upTo };
  }

  /** Returns a percentile in microseconds by perf_analyzer's rule: the sample nearest to p of the way from first to last. */
  percentileUs(percentile: number): number {
    return this.atRankUs(Math.floor((percentile / 100) * (this.countSoFar - 1) + 0.5));
  }

  /** Calls back with each latency in microseconds and its count; ascending up to about 1 s, then unordered. */
  forEach(visit: (us: number, count: number) => void): void {
    for (let us = 0; us < this.cells.length; us++) {
      const count = this.cells[us] as number;
      if (count > 0) visit(us, count);
    }
    for (const [us, count] of this.far) visit(us, count);
  }

  private put(us: number, count: number): void {
    if (us >= this.cells.length && !this.grow(us)) {
      this.far.set(us, (this.far.get(us) ?? 0) + count);
      return;
    }
    this.cells[us] = (this.cells[us] as number) + count;
  }

  /** Extends the cells to a microsecond. Returns false above the maximum. */
  private grow(us: number): boolean {
    if (us >= MAX_CELLS) return false;
    const grown = new Uint32Array(2 ** Math.ceil(Math.log2(us + 1)));
    grown.set(this.cells);
    this.cells = grown;
    return true;
  }

  /** Combines counts, means and squared deviations (Chan et al.), without loss of precision in large sums. */
  private combine(count: number, meanNs: number, squaredDeviationNs2: number): void {
    const total = this.countSoFar + count;
    const delta = meanNs - this.runningMeanNs;
    this.squaredDeviationNs2 += squaredDeviationNs2 + (delta * delta * this.countSoFar * count) / total;
    this.runningMeanNs += (delta * count) / total;
    this.countSoFar = total;
  }
}
