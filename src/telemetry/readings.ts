import { Column } from "../measure/column.ts";

/** This many are kept of a series: 22 minutes at three readings a second. */
const MOST = 4096;

/** What is known of a series of readings. */
export interface ReadingsView {
  readonly count: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** The readings that were kept: seconds after the measurement began, and values. */
  readonly timesSec: Float64Array;
  readonly values: Float64Array;
}

/** The readings of one series over time. Of a long run every second one is kept, then every fourth and so on: memory is bounded. */
export class Readings {
  private times = new Column();
  private values = new Column();
  private count = 0;
  private sum = 0;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  /** Of so many readings one is kept. */
  private stride = 1;

  /** Adds a reading; one that is no number is left out. */
  add(timeSec: number, value: number): void {
    if (!Number.isFinite(value)) return;
    if (this.count % this.stride === 0) {
      if (this.values.length === MOST) this.thin();
      if (this.count % this.stride === 0) {
        this.times.push(timeSec);
        this.values.push(value);
      }
    }
    this.count++;
    this.sum += value;
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
  }

  /** Copies of what there is; mean, least and greatest are those of all readings. */
  view(): ReadingsView {
    const { count, sum, min, max } = this;
    return {
      count,
      mean: sum / count,
      min,
      max,
      timesSec: this.times.view().slice(),
      values: this.values.view().slice(),
    };
  }

  private thin(): void {
    this.stride *= 2;
    this.times = everySecond(this.times);
    this.values = everySecond(this.values);
  }
}

function everySecond(column: Column): Column {
  const half = new Column();
  for (let row = 0; row < column.length; row += 2) half.push(column.at(row));
  return half;
}
