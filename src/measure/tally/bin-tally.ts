import {
  binLengthFor,
  type CompletionBins,
  cellOf,
  coverBins,
  MOST_BINS,
  type SampleBins,
  SHORTEST_BIN_NS,
} from "../intervals/time-bins.ts";

/** Times below this, in nanoseconds, share the first cell. */
const LEAST_TIME_NS = 512;
/** Other numbers below this share the first cell. */
const LEAST_NUMBER = 2 ** -20;
/** Values above this, 1.2 hours in nanoseconds, share the last cell. */
const MOST_VALUE = 2 ** 42;
const LAST_CELL = cellOf(MOST_VALUE);
/** Rows grow by this number of cells. */
const ROW_STEP = 32;

/** The values of one kind, such as latencies, in the bins of a {@link BinTally}. Adding values is fast: see `DurationTally`. */
export class BinChannel {
  sums = new Float64Array(MOST_BINS);
  /** Counts by cell, for each bin that has values. */
  rows: (Uint32Array | undefined)[] = [];
  /** The cell of `row[0]`. */
  private readonly firstCell: number;

  constructor(least: number) {
    this.firstCell = cellOf(least);
  }

  /** Adds a value. @param bin 0 to 127, from `BinTally.binsOf` */
  add(bin: number, value: number): void {
    this.sums[bin] = (this.sums[bin] as number) + value;
    const cell = Math.max(0, Math.min(LAST_CELL, cellOf(value)) - this.firstCell);
    let row = this.rows[bin];
    if (row === undefined || cell >= row.length) row = this.widen(bin, cell);
    row[cell] = (row[cell] as number) + 1;
  }

  /** Joins the bins. @param target returns the new number of a bin */
  join(target: (bin: number) => number): void {
    const { sums, rows } = this;
    this.sums = joinColumn(sums, target);
    this.rows = [];
    for (const [bin, row] of rows.entries()) {
      if (row === undefined) continue;
      const to = target(bin);
      const before = this.rows[to];
      this.rows[to] = before === undefined ? row : addRows(before, row);
    }
  }

  /** Returns the sums and the histogram. @param place returns the new number of a bin @param length number of new bins */
  cut(place: (bin: number) => number, length: number): Pick<SampleBins, "sums" | "histogram"> {
    const histogram: Record<string, number[]> = {};
    for (const [bin, row] of this.rows.entries()) {
      if (row === undefined) continue;
      const at = place(bin);
      for (let cell = 0; cell < row.length; cell++) {
        const count = row[cell] as number;
        if (count === 0) continue;
        histogram[cell + this.firstCell] ??= new Array<number>(length).fill(0);
        const column = histogram[cell + this.firstCell] as number[];
        column[at] = (column[at] as number) + count;
      }
    }
    return { sums: toColumn(this.sums, place, length), histogram };
  }

  private widen(bin: number, cell: number): Uint32Array {
    const row = new Uint32Array(Math.ceil((cell + 1) / ROW_STEP) * ROW_STEP);
    const before = this.rows[bin];
    if (before !== undefined) row.set(before);
    this.rows[bin] = row;
    return row;
  }
}

/**
 * Counts requests, and their values, in bins of time. The length of the bins doubles when there are more than 128, so memory is
 * bounded and adding takes constant time for a measurement of any length (Yeh and Schmeiser, Simulation output analysis via
 * dynamic batch means, 2000).
 */
export class BinTally {
  private binNs = SHORTEST_BIN_NS;
  /** Number of the first bin, counted from time 0; undefined before the first value. */
  private first: number | undefined;
  /** The earliest and the latest time. */
  private leastNs = Number.POSITIVE_INFINITY;
  private mostNs = Number.NEGATIVE_INFINITY;
  private counts = new Float64Array(MOST_BINS);
  /** Undefined until a request has failed. */
  private failed: Float64Array | undefined;
  private readonly channels: BinChannel[] = [];
  private readonly found = new Uint8Array(1024);

  /** Adds a channel for another kind of values. */
  newChannel(of: "times" | "numbers"): BinChannel {
    const channel = new BinChannel(of === "times" ? LEAST_TIME_NS : LEAST_NUMBER);
    this.channels.push(channel);
    return channel;
  }

  /**
   * Adds successful requests, and returns the bin of each; valid until the next call. Times need not ascend.
   * @param count up to 1024
   */
  addAll(endsNs: Float64Array, count: number): Uint8Array {
    if (count === 0) return this.found;
    this.extend(endsNs, count);
    const { binNs, counts, found } = this;
    const first = this.first as number;
    for (let at = 0; at < count; at++) {
      const bin = Math.floor((endsNs[at] as number) / binNs) - first;
      counts[bin] = (counts[bin] as number) + 1;
      found[at] = bin;
    }
    return found;
  }

  /** Adds a request, and returns its bin. */
  add(endNs: number): number {
    one[0] = endNs;
    return this.addAll(one, 1)[0] as number;
  }

  addFailed(endNs: number): void {
    one[0] = endNs;
    this.extend(one, 1);
    this.failed ??= new Float64Array(MOST_BINS);
    const bin = Math.floor(endNs / this.binNs) - (this.first as number);
    this.failed[bin] = (this.failed[bin] as number) + 1;
  }

  /**
   * Returns the bins of a time span, with a length that depends only on this span: parts of the same span have equal bins.
   * Values outside of it count in the first or last bin. Nothing may be added afterwards.
   */
  cut(startNs: number, endNs: number): CutBins {
    const binNs = binLengthFor(startNs, endNs, this.binNs);
    while (this.binNs < binNs) this.double();
    const from = Math.floor(startNs / binNs);
    const length = Math.floor(endNs / binNs) - from + 1;
    const offset = (this.first ?? from) - from;
    const place = (bin: number): number => Math.max(0, Math.min(length - 1, bin + offset));
    const counts = toColumn(this.counts, place, length);
    const coveredNs = coverBins({ binNs, first: from, counts }, startNs, endNs);
    const failed = this.failed === undefined ? {} : { failed: toColumn(this.failed, place, length) };
    return {
      completions: { binNs, first: from, counts, coveredNs, ...failed },
      samplesOf: (channel) => ({ binNs, first: from, counts, ...channel.cut(place, length) }),
    };
  }

  /** Moves the first bin earlier, and makes bins longer, until each time has one. */
  private extend(endsNs: Float64Array, count: number): void {
    let { leastNs, mostNs } = this;
    for (let at = 0; at < count; at++) {
      const endNs = endsNs[at] as number;
      if (endNs < leastNs) leastNs = endNs;
      if (endNs > mostNs) mostNs = endNs;
    }
    this.leastNs = leastNs;
    this.mostNs = mostNs;
    while (Math.floor(mostNs / this.binNs) - Math.floor(leastNs / this.binNs) >= MOST_BINS) this.double();
    const next = Math.floor(leastNs / this.binNs);
    const { first = next } = this;
    this.first = next;
    // Failed requests are recorded out of order.
    if (next < first) this.join((bin) => bin + first - next);
  }

  private double(): void {
    this.binNs *= 2;
    const { first } = this;
    if (first === undefined) return;
    const next = Math.floor(first / 2);
    this.first = next;
    this.join((bin) => Math.floor((first + bin) / 2) - next);
  }

  private join(target: (bin: number) => number): void {
    this.counts = joinColumn(this.counts, target);
    if (this.failed !== undefined) this.failed = joinColumn(this.failed, target);
    for (const channel of this.channels) channel.join(target);
  }
}

interface CutBins {
  readonly completions: CompletionBins;
  samplesOf(channel: BinChannel): SampleBins;
}

const one = new Float64Array(1);

function joinColumn(values: Float64Array, target: (bin: number) => number): Float64Array<ArrayBuffer> {
  const joined = new Float64Array(MOST_BINS);
  for (const [bin, value] of values.entries())
    if (value !== 0) joined[target(bin)] = (joined[target(bin)] as number) + value;
  return joined;
}

function toColumn(values: Float64Array, place: (bin: number) => number, length: number): number[] {
  const column = new Array<number>(length).fill(0);
  for (const [bin, value] of values.entries())
    if (value !== 0) column[place(bin)] = (column[place(bin)] as number) + value;
  return column;
}

function addRows(left: Uint32Array, right: Uint32Array): Uint32Array {
  const [wide, narrow] = left.length >= right.length ? [left, right] : [right, left];
  for (let cell = 0; cell < narrow.length; cell++) wide[cell] = (wide[cell] as number) + (narrow[cell] as number);
  return wide;
}
