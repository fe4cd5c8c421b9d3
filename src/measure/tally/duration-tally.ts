import { defined } from "../../plan/objects.ts";
import { nsToUs, usToNs } from "../../plan/units.ts";
import type { SampleBins } from "../intervals/time-bins.ts";
import { addMoments, type Moments, ROUNDED_DIGITS, roundNumber, type Sketch } from "../sketch.ts";
import type { BinChannel } from "./bin-tally.ts";

const INITIAL_CELLS = 4096; // up to 4.1 ms
const MAX_CELLS = 1 << 20; // up to 1.05 s, 4 MiB; longer times are rare and go into a map
/**
 * Maximum number of different durations in the map. Above it, they are rounded to {@link ROUNDED_DIGITS} significant digits: at
 * most 0.05 %.
 */
const MOST_FAR = 1 << 17;

/**
 * Collects durations for a {@link Sketch} with a resolution of 1 us, as in reports. Memory is bounded: if there are very many
 * different durations above a second, they are kept with a few digits. Mean and deviation are computed from nanoseconds.
 */
export class DurationTally {
  private cells = new Uint32Array(INITIAL_CELLS);
  /** Counts of durations above the cells, by microsecond. */
  private far = new Map<number, number>();
  private isFarRounded = false;
  private moments: Moments = { count: 0, mean: 0, squaredDeviation: 0 };
  private leastNs = Number.POSITIVE_INFINITY;
  private greatestNs = 0;
  /** Channel of the times at which the durations were measured. Absent: not kept. */
  readonly channel: BinChannel | undefined;

  constructor(channel?: BinChannel) {
    this.channel = channel;
  }

  get count(): number {
    return this.moments.count;
  }

  /** Adds the first `count` durations, in nanoseconds. @param bins the bin of each; needed with a channel */
  addAll(values: Float64Array, count: number, bins?: Uint8Array): void {
    if (count === 0) return;
    const { channel } = this;
    const origin = values[0] as number;
    let { leastNs, greatestNs } = this;
    let sum = 0;
    let squares = 0;
    for (let at = 0; at < count; at++) {
      const value = values[at] as number;
      this.put(Math.floor(nsToUs(value)));
      if (channel !== undefined) channel.add((bins as Uint8Array)[at] as number, value);
      if (value < leastNs) leastNs = value;
      if (value > greatestNs) greatestNs = value;
      const offset = value - origin;
      sum += offset;
      squares += offset * offset;
    }
    this.leastNs = leastNs;
    this.greatestNs = greatestNs;
    const added = { count, mean: origin + sum / count, squaredDeviation: squares - (sum * sum) / count };
    this.moments = addMoments(this.moments, added);
  }

  /** @param bins bins of the channel */
  toSketch(bins?: SampleBins): Sketch {
    const { moments, leastNs, greatestNs, isFarRounded } = this;
    const [values, upTo] = this.rank();
    const [min, max] = moments.count === 0 ? [0, 0] : [leastNs, greatestNs];
    return {
      ...moments,
      ...{ min, max, step: usToNs(1) },
      ...(isFarRounded ? { digits: ROUNDED_DIGITS } : {}),
      ...{ values, upTo },
      ...defined({ bins }),
    };
  }

  /** Returns the different durations in ascending order, and for each the number of durations up to and including it. */
  private rank(): [values: number[], upTo: number[]] {
    const values: number[] = [];
    const upTo: number[] = [];
    let seen = 0;
    const add = (us: number, count: number): void => {
      seen += count;
      values.push(usToNs(us));
      upTo.push(seen);
    };
    const last = Math.min(this.cells.length - 1, Math.floor(nsToUs(this.greatestNs)));
    for (let us = Math.max(0, Math.floor(nsToUs(this.leastNs))); us <= last; us++) {
      const count = this.cells[us] as number;
      if (count > 0) add(us, count);
    }
    for (const [us, count] of [...this.far].sort(([a], [b]) => a - b)) add(us, count);
    return [values, upTo];
  }

  private put(us: number): void {
    if (us >= this.cells.length && !this.grow(us)) {
      this.putFar(us, 1);
      if (this.far.size > MOST_FAR && !this.isFarRounded) this.roundFar();
      return;
    }
    this.cells[us] = (this.cells[us] as number) + 1;
  }

  private putFar(us: number, count: number): void {
    const key = this.isFarRounded ? roundNumber(us) : us;
    this.far.set(key, (this.far.get(key) ?? 0) + count);
  }

  private roundFar(): void {
    const { far } = this;
    this.isFarRounded = true;
    this.far = new Map();
    for (const [us, count] of far) this.putFar(us, count);
  }

  /** Extends the cells up to a microsecond. Returns false above the maximum. */
  private grow(us: number): boolean {
    if (us >= MAX_CELLS) return false;
    const grown = new Uint32Array(2 ** Math.ceil(Math.log2(us + 1)));
    grown.set(this.cells);
    this.cells = grown;
    return true;
  }
}
