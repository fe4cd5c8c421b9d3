import type { BatchMeans } from "./effective-count.ts";
import type { SeriesPart } from "./series-shape.ts";

const MOST_BATCHES = 128;
/** Cells per doubling of a value, so that a cell is at most 3 % wide. */
const CELL_BITS = 5;
const CELLS_PER_DOUBLING = 1 << CELL_BITS;
/** Bits of the upper word of a double below its exponent. */
const UPPER_MANTISSA_BITS = 20;
const EXPONENT_BIAS = 1023;
/** Durations below 512 ns share the first cell, and those above an hour the last. */
const FIRST_CELL = (EXPONENT_BIAS + 9) << CELL_BITS;
const LAST_CELL = 33 * CELLS_PER_DOUBLING - 1;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const UPPER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 1 : 0;

/** Returns the cell of a duration in nanoseconds: its exponent and the first bits of its mantissa. */
function cellOf(ns: number): number {
  if (!(ns > 0)) return 0;
  double[0] = ns;
  const cell = ((words[UPPER] as number) >>> (UPPER_MANTISSA_BITS - CELL_BITS)) - FIRST_CELL;
  return Math.max(0, Math.min(LAST_CELL, cell));
}

/**
 * Durations in the order of measurement, summarized in at most 128 consecutive batches of equal length. The length doubles when there are too many
 * (Yeh and Schmeiser, Simulation output analysis via dynamic batch means, 2000), so memory is bounded and adding takes constant time. Each
 * batch has a coarse histogram, so that the correlation around any percentile can be computed afterwards.
 */
export class SampleBatches {
  /** Samples in each complete batch; a power of two. */
  private batchCount = 1;
  /** Complete batches. The one after them is being filled. */
  private complete = 0;
  private filled = 0;
  private readonly sums = new Float64Array(MOST_BATCHES + 1);
  private rows: Uint32Array[] = [];

  /** Adds a duration in nanoseconds, or another number whose means are of interest. */
  add(ns: number): void {
    this.sums[this.complete] = (this.sums[this.complete] as number) + ns;
    const cell = cellOf(ns);
    let row = this.rows[this.complete];
    if (row === undefined || cell >= row.length) row = this.widen(this.complete, cell);
    row[cell] = (row[cell] as number) + 1;
    if (++this.filled < this.batchCount) return;
    this.filled = 0;
    this.complete++;
    if (this.complete === MOST_BATCHES) this.halve();
  }

  /** Adds the complete batches of another sequence behind those of this one. What is left over of either does not count. */
  append(other: SampleBatches): void {
    const next = other.copy();
    this.dropRest();
    while (next.batchCount < this.batchCount) next.halve();
    while (this.batchCount < next.batchCount || this.complete + next.complete > MOST_BATCHES) {
      this.halve();
      this.dropRest();
      if (next.batchCount < this.batchCount) next.halve();
    }
    for (let batch = 0; batch < next.complete; batch++) {
      this.sums[this.complete] = next.sums[batch] as number;
      this.rows[this.complete] = next.rows[batch] as Uint32Array;
      this.complete++;
    }
    if (this.complete === MOST_BATCHES) this.halve();
  }

  /** Returns the mean of each complete batch, in nanoseconds. */
  means(): BatchMeans {
    const { batchCount, complete } = this;
    return { means: this.sums.slice(0, complete).map((sum) => sum / batchCount), batchCount };
  }

  /** Returns the complete batches as a series. */
  parts(): SeriesPart[] {
    return Array.from(this.means().means, (mean) => ({ count: this.batchCount, mean }));
  }

  /**
   * Returns the ratio of each complete batch's durations below one, 0 to 1, and the variance of that for a single duration. Within a cell
   * durations count as evenly spread, so that one in the cell of `ns` counts in part.
   */
  ratiosBelow(ns: number): BatchMeans & { readonly variance: number } {
    const { batchCount, complete } = this;
    const cell = cellOf(ns);
    const part = partOfCell(ns, cell);
    const ratios = new Float64Array(complete);
    let allBelow = 0;
    let allInCell = 0;
    for (let batch = 0; batch < complete; batch++) {
      const row = this.rows[batch] as Uint32Array;
      const inCell = row[cell] ?? 0;
      let below = 0;
      for (let at = Math.min(cell, row.length) - 1; at >= 0; at--) below += row[at] as number;
      ratios[batch] = (below + part * inCell) / batchCount;
      allBelow += below;
      allInCell += inCell;
    }
    const count = Math.max(1, batchCount * complete);
    const mean = (allBelow + part * allInCell) / count;
    return { means: ratios, batchCount, variance: (allBelow + part * part * allInCell) / count - mean * mean };
  }

  private copy(): SampleBatches {
    const copy = new SampleBatches();
    copy.batchCount = this.batchCount;
    copy.complete = this.complete;
    copy.sums.set(this.sums.subarray(0, this.complete));
    copy.rows = this.rows.slice(0, this.complete).map((row) => row.slice());
    return copy;
  }

  private widen(batch: number, cell: number): Uint32Array {
    const before = this.rows[batch];
    const width = Math.ceil((cell + 1) / CELLS_PER_DOUBLING) * CELLS_PER_DOUBLING;
    const row = new Uint32Array(width);
    if (before !== undefined) row.set(before);
    this.rows[batch] = row;
    return row;
  }

  /** Joins each two neighbours. A last one without a neighbour is joined with what is being filled. */
  private halve(): void {
    const { complete, sums, rows } = this;
    const count = Math.ceil((complete + (this.filled > 0 ? 1 : 0)) / 2);
    for (let batch = 0; batch < count; batch++) {
      const [left, right] = [rows[2 * batch] as Uint32Array, rows[2 * batch + 1]];
      sums[batch] = (sums[2 * batch] as number) + (right === undefined ? 0 : (sums[2 * batch + 1] as number));
      rows[batch] = right === undefined ? left : addRows(left, right);
    }
    this.complete = Math.floor(complete / 2);
    this.filled += complete % 2 === 0 ? 0 : this.batchCount;
    this.batchCount *= 2;
    this.cutAfter(this.complete + (this.filled > 0 ? 1 : 0));
  }

  private dropRest(): void {
    this.filled = 0;
    this.cutAfter(this.complete);
  }

  private cutAfter(count: number): void {
    this.rows.length = Math.min(count, this.rows.length);
    this.sums.fill(0, count);
  }
}

/** Returns how much of a cell lies below a value, 0 to 1. */
function partOfCell(ns: number, cell: number): number {
  const doublings = Math.floor(cell / CELLS_PER_DOUBLING);
  const width = 2 ** (9 + doublings - CELL_BITS);
  const start = 2 ** (9 + doublings) + (cell % CELLS_PER_DOUBLING) * width;
  return Math.max(0, Math.min(1, (ns - start) / width));
}

function addRows(left: Uint32Array, right: Uint32Array): Uint32Array {
  const [wide, narrow] = left.length >= right.length ? [left, right] : [right, left];
  for (let cell = 0; cell < narrow.length; cell++) wide[cell] = (wide[cell] as number) + (narrow[cell] as number);
  return wide;
}
