/** A column of numbers that grows; NaN stands for "not measured". */
export class Column {
  private values: Float64Array<ArrayBuffer>;
  private count = 0;

  constructor(capacity = 256) {
    this.values = new Float64Array(Math.max(1, capacity));
  }

  get length(): number {
    return this.count;
  }

  push(value: number): void {
    if (this.count === this.values.length) {
      const grown = new Float64Array(2 * this.values.length);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.count++] = value;
  }

  /** The value in a row; NaN where nothing was measured or there is no such row. */
  at(row: number): number {
    return row < this.count ? (this.values[row] as number) : Number.NaN;
  }

  /** All rows; a view that is valid until the next `push`. */
  view(): Float64Array {
    return this.values.subarray(0, this.count);
  }

  /** The measured values of the given rows, or of all, in order: a copy without NaN. */
  measured(rows?: readonly number[]): Float64Array {
    const all = rows === undefined ? this.view() : Float64Array.from(rows, (row) => this.at(row));
    return all.filter((value) => !Number.isNaN(value));
  }
}
