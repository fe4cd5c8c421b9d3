import { RECORD_CANCELLED, RECORD_FAILED, type RecordColumns } from "../../measure/records.ts";
import { nsToSec, nsToUs } from "../../plan/units.ts";
import { BINS_PER_DECADE, type OverTimeJson } from "../schema/over-time.ts";

/**
 * The requests of a run over time: counts, latencies in bins, and requests in flight, in up to 240 columns. The columns start short; when
 * the run has more of them, each two become one. So memory is the same for runs of any length.
 */

const MOST_COLUMNS = 240;
const FIRST_COLUMN_NS = 20e6; // 20 ms
const DECADES = 9.6; // 1 us to 1 h
const BIN_COUNT = Math.ceil(BINS_PER_DECADE * DECADES);

/** Collects the requests of a run. */
export class RunTrace {
  /** Monotonic nanoseconds. */
  private readonly startNs: number;
  private columnNs = FIRST_COLUMN_NS;
  /** Number of columns in use. */
  private used = 0;
  private readonly bins = new Uint32Array(MOST_COLUMNS * BIN_COUNT);
  private readonly requests = new Float64Array(MOST_COLUMNS);
  private readonly failed = new Float64Array(MOST_COLUMNS);
  private readonly sent = new Float64Array(MOST_COLUMNS);
  /** Sums of the times of sends and ends, in seconds since the start. */
  private readonly sentSumSec = new Float64Array(MOST_COLUMNS);
  private readonly ended = new Float64Array(MOST_COLUMNS);
  private readonly endedSumSec = new Float64Array(MOST_COLUMNS);

  constructor(startNs: number) {
    this.startNs = startNs;
  }

  /** Adds the rows `[0, count)` of finished requests. */
  add({ sendStartNs, endNs, overNs, flags }: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      const sentAt = Math.max(0, (sendStartNs[row] as number) - this.startNs);
      const overAt = Math.max(sentAt, (overNs[row] as number) - this.startNs);
      const endAt = Math.max(0, (endNs[row] as number) - this.startNs);
      const last = this.columnOf(Math.max(overAt, endAt));
      this.used = Math.max(this.used, last + 1);
      this.count(this.sent, this.sentSumSec, sentAt);
      this.count(this.ended, this.endedSumSec, overAt);
      const flag = flags[row] as number;
      if ((flag & RECORD_CANCELLED) !== 0) continue;
      const column = this.columnOf(endAt);
      if ((flag & RECORD_FAILED) === 0)
        this.addLatency(column, nsToUs((endNs[row] as number) - (sendStartNs[row] as number)));
      else this.failed[column] = (this.failed[column] as number) + 1;
    }
  }

  /**
   * Returns the columns as steps, joined to at most this number.
   * @param fewest minimum number of columns
   * @param perColumn wanted requests in each
   * @param secondsOf converts monotonic nanoseconds to the time of the columns
   */
  steps(most: number, fewest: number, perColumn: number, secondsOf: (atNs: number) => number): OverTimeJson["steps"] {
    const total = this.requests.reduce((sum, count) => sum + count, 0);
    let stride = 1;
    const isTooMany = (): boolean => {
      const count = this.used / stride;
      return count > most || (count / 2 >= fewest && total / count < perColumn);
    };
    while (isTooMany()) stride *= 2;
    return this.join(stride, secondsOf);
  }

  private addLatency(column: number, us: number): void {
    const bin = Math.min(BIN_COUNT - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, us)) * BINS_PER_DECADE)));
    const cell = column * BIN_COUNT + bin;
    this.bins[cell] = (this.bins[cell] as number) + 1;
    this.requests[column] = (this.requests[column] as number) + 1;
  }

  private count(counts: Float64Array, sums: Float64Array, atNs: number): void {
    const column = this.columnOf(atNs);
    counts[column] = (counts[column] as number) + 1;
    sums[column] = (sums[column] as number) + nsToSec(atNs);
  }

  /** Returns the column of a time, and joins columns until there is one. */
  private columnOf(atNs: number): number {
    while (atNs >= MOST_COLUMNS * this.columnNs) this.halve();
    return Math.floor(atNs / this.columnNs);
  }

  private halve(): void {
    const { requests, failed, sent, sentSumSec, ended, endedSumSec, bins } = this;
    for (const values of [requests, failed, sent, sentSumSec, ended, endedSumSec]) joinPairs(values, 1);
    joinPairs(bins, BIN_COUNT);
    this.columnNs *= 2;
    this.used = Math.ceil(this.used / 2);
  }

  private join(stride: number, secondsOf: (atNs: number) => number): OverTimeJson["steps"] {
    const columns: OverTimeJson["steps"] = [];
    const widthSec = nsToSec(stride * this.columnNs);
    const open = { count: 0, sumSec: 0 };
    for (let first = 0; first < this.used; first += stride) {
      const end = Math.min(MOST_COLUMNS, first + stride);
      const sum = (values: Float64Array): number => values.subarray(first, end).reduce((all, value) => all + value, 0);
      const bins = new Uint32Array(BIN_COUNT);
      for (let column = first; column < end; column++)
        for (let bin = 0; bin < BIN_COUNT; bin++)
          bins[bin] = (bins[bin] as number) + (this.bins[column * BIN_COUNT + bin] as number);
      const startSec = nsToSec(first * this.columnNs);
      const endSec = startSec + widthSec;
      // A request contributes its time until the end of the column, less the time after its end.
      const before = open.count * startSec - open.sumSec;
      open.count += sum(this.sent) - sum(this.ended);
      open.sumSec += sum(this.sentSumSec) - sum(this.endedSumSec);
      const inFlightSec = open.count * endSec - open.sumSec - before;
      columns.push({
        startSec: secondsOf(this.startNs + first * this.columnNs),
        endSec: secondsOf(this.startNs + (first + stride) * this.columnNs),
        requests: sum(this.requests),
        failed: sum(this.failed),
        outstandingMean: Math.max(0, inFlightSec / widthSec),
        latencyBins: formatBins(bins),
      });
    }
    return columns;
  }
}

/** Formats the bins that have any latency. */
function formatBins(bins: Uint32Array): string {
  return [...bins.entries()].flatMap(([bin, count]) => (count === 0 ? [] : [`${bin}:${count}`])).join(",");
}

/** Adds each second group of cells to the one before, and moves the sums to the front. */
function joinPairs(values: Float64Array | Uint32Array, size: number): void {
  for (let pair = 0; pair < MOST_COLUMNS / 2; pair++)
    for (let cell = 0; cell < size; cell++)
      values[pair * size + cell] =
        (values[2 * pair * size + cell] as number) + (values[(2 * pair + 1) * size + cell] as number);
  values.fill(0, (MOST_COLUMNS / 2) * size);
}
