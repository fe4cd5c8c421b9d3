import { Column } from "../measure/column.ts";

/** Maximum number of readings kept per series: 22 minutes at three per second. */
const MOST = 4096;

/** A summary of a series and its readings. */
export interface ReadingsView {
  readonly count: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  /** The kept readings: seconds since the measurement began, and values. */
  readonly timesSec: Float64Array;
  readonly values: Float64Array;
}

/** The readings of one series. In a long run, it keeps every second one, then every fourth, and so on, so that memory is bounded. */
export class Readings {
  private times = new Column();
  private values = new Column();
  private count = 0;
  private sum = 0;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  /** One in this many readings is kept. */
  private stride = 1;

  /** Adds a reading. Ignores NaN and infinity. */
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

  /** Returns copies. Mean, minimum and maximum include all readings, not only the kept ones. */
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
