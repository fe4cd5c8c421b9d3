import { collectGarbage } from "../runtime/machine.ts";
import { TemporaryFile } from "../runtime/temporary-file.ts";

/** Columns of numbers for runs of any length. Rows that do not fit in memory are written to a file. */

const INITIAL_ROWS = 16;
/** Maximum number of rows in memory. Earlier ones are moved to a temporary file. */
const MOST_HELD = 1 << 16;
/** Number of spilled rows from which a copy of them is large. */
const MANY = 1 << 17;
/** Number of rows that are read back at once. */
const READ_ROWS = 1 << 13;

/** The rows of a column or array. */
export type Rows = Pick<Float64Array, "length" | "at">;

/**
 * A growable column of numbers. NaN means "not measured". Above 65,536 rows (512 KiB), earlier rows are moved to a temporary
 * file, so that a long run needs no more memory; if it cannot be written, they stay in memory.
 */
export class Column {
  /** Leading rows without a value, which are not stored, because most columns have none. */
  private skipped = 0;
  private spilled: TemporaryFile | undefined;
  private canSpill = true;
  /** The last rows, which are in memory. */
  private values: Float64Array<ArrayBuffer> = new Float64Array(0);
  private count = 0;
  /** The spilled rows that were read last, and the index of the first of them. */
  private readonly block = { first: 0, values: new Float64Array(0) };

  get length(): number {
    return this.skipped + this.spilledCount + this.count;
  }

  /** Whether no row has a value. */
  get isEmpty(): boolean {
    return this.spilled === undefined && this.count === 0;
  }

  push(value: number): void {
    if (Number.isNaN(value) && this.isEmpty) {
      this.skipped++;
      return;
    }
    if (this.count >= this.values.length) this.makeRoom();
    this.values[this.count++] = value;
  }

  /** Adds all rows of another column, or many values at once. */
  append(rows: Rows): void {
    const { length } = rows;
    for (let row = 0; row < length; row++) this.push(rows.at(row) as number);
  }

  /** Returns the value in a row; NaN if it was not measured or the row does not exist. */
  at(row: number): number {
    const index = row - this.skipped;
    const held = index - this.spilledCount;
    if (index < 0 || held >= this.count) return Number.NaN;
    return held >= 0 ? (this.values[held] as number) : this.readBack(index);
  }

  /** Returns all rows. For a short column, the result is a view that is valid until the next change. */
  view(): Float64Array<ArrayBuffer> {
    const { skipped, spilled, spilledCount, values, count } = this;
    const held = values.subarray(0, count);
    if (skipped + spilledCount === 0) return held;
    // The copy for the previous metric is garbage by now.
    if (spilledCount >= MANY) collectGarbage();
    const all = new Float64Array(this.length).fill(Number.NaN, 0, skipped);
    spilled?.read(0, toBytes(all.subarray(skipped, skipped + spilledCount)));
    all.set(held, skipped + spilledCount);
    return all;
  }

  /** Returns a copy of the rows from `first` up to, but not including, `end`. Default: all rows. */
  copy(first = 0, end = this.length): Float64Array<ArrayBuffer> {
    if (end - first < this.length) return Float64Array.from({ length: end - first }, (_, row) => this.at(first + row));
    return this.skipped + this.spilledCount === 0 ? this.view().slice() : this.view();
  }

  /** Returns a copy of the measured values, without NaN, of the given rows or of all. */
  measured(rows?: readonly number[]): Float64Array<ArrayBuffer> {
    if (this.isEmpty) return new Float64Array(0);
    if (rows !== undefined)
      return Float64Array.from(rows, (row) => this.at(row)).filter((value) => !Number.isNaN(value));
    const all = this.copy();
    let count = 0;
    for (let row = 0; row < all.length; row++) {
      const value = all[row] as number;
      if (!Number.isNaN(value)) all[count++] = value;
    }
    return count === all.length ? all : all.subarray(0, count);
  }

  private get spilledCount(): number {
    return (this.spilled?.length ?? 0) / Float64Array.BYTES_PER_ELEMENT;
  }

  private makeRoom(): void {
    if (this.count >= MOST_HELD && this.canSpill && this.spill()) return;
    const grown = new Float64Array(Math.max(INITIAL_ROWS, 2 * this.count));
    grown.set(this.values);
    this.values = grown;
  }

  /** Moves rows to the file. Returns whether they were moved. */
  private spill(): boolean {
    try {
      this.spilled ??= new TemporaryFile("columns");
      this.spilled.append(toBytes(this.values.subarray(0, this.count)));
      this.count = 0;
      return true;
    } catch {
      // A full disk, for example, must not end the measurement.
      this.canSpill = false;
      if (this.spilledCount === 0) this.spilled = undefined;
      return false;
    }
  }

  private readBack(index: number): number {
    const { block, spilled, spilledCount } = this;
    if (index < block.first || index >= block.first + block.values.length) {
      const first = index - (index % READ_ROWS);
      const length = Math.min(READ_ROWS, spilledCount - first);
      if (block.values.length !== length) block.values = new Float64Array(length);
      spilled?.read(first * Float64Array.BYTES_PER_ELEMENT, toBytes(block.values));
      block.first = first;
    }
    return block.values[index - block.first] as number;
  }
}

/** Returns the bytes of numbers, without a copy. */
export function toBytes({ buffer, byteOffset, byteLength }: Float64Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
