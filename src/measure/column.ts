const INITIAL_ROWS = 16;

/** A growable column of numbers. NaN means "not measured". */
export class Column {
  /** Empty until the first measured value, because most columns have none. */
  private values: Float64Array<ArrayBuffer> = new Float64Array(0);
  private count = 0;

  get length(): number {
    return this.count;
  }

  push(value: number): void {
    if (this.values.length === 0 && Number.isNaN(value)) {
      this.count++;
      return;
    }
    if (this.count >= this.values.length) this.reserve(this.count + 1);
    this.values[this.count++] = value;
  }

  /** Adds many values at once. */
  append(values: Float64Array): void {
    if (this.values.length > 0 || !values.every(Number.isNaN)) {
      this.reserve(this.count + values.length);
      this.values.set(values, this.count);
    }
    this.count += values.length;
  }

  /** Returns the value in a row; NaN when nothing was measured or the row does not exist. */
  at(row: number): number {
    return row < this.count && this.values.length > 0 ? (this.values[row] as number) : Number.NaN;
  }

  /** Returns a view of all rows, valid until the next change. */
  view(): Float64Array {
    if (this.values.length === 0 && this.count > 0) this.reserve(this.count);
    return this.values.subarray(0, this.count);
  }

  /** Returns a copy of the measured values, without NaN, of the given rows or of all. */
  measured(rows?: readonly number[]): Float64Array {
    if (this.values.length === 0) return new Float64Array(0);
    const all = rows === undefined ? this.view() : Float64Array.from(rows, (row) => this.at(row));
    return all.filter((value) => !Number.isNaN(value));
  }

  /** Ensures capacity for `rows` rows. */
  private reserve(rows: number): void {
    if (rows <= this.values.length) return;
    const grown = new Float64Array(Math.max(INITIAL_ROWS, rows, 2 * this.count));
    if (this.values.length === 0) grown.fill(Number.NaN, 0, this.count);
    else grown.set(this.values);
    this.values = grown;
  }
}
