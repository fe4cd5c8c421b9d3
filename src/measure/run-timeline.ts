import type { Histogram } from "hdr-histogram-js";
import { nsToUs, usToNs } from "../plan/units.ts";
import { InFlightTime } from "./in-flight.ts";
import { createHistogram, recordUs } from "./latency-histogram.ts";
import { RECORD_CANCELLED, RECORD_FAILED, type RecordColumns } from "./records.ts";

const FIRST_BUCKET_NS = 100e6; // 100 ms
const MOST_BUCKETS = 60;
const SIGNIFICANT_DIGITS = 2;

/** One interval of a run. Times are nanoseconds since the run began. */
export interface RunBucket {
  readonly startNs: number;
  readonly endNs: number;
  /** Number of successful requests that ended in it. */
  readonly requestCount: number;
  readonly failedCount: number;
  readonly cancelledCount: number;
  /** Mean number of requests in flight. */
  readonly meanOutstanding: number;
  /** Mean latency in nanoseconds; undefined without a successful request. */
  readonly latencyMeanNs: number | undefined;
  /** 99th percentile in nanoseconds, at most 1 % above the measured one; undefined without a successful request. */
  readonly latencyP99Ns: number | undefined;
}

class Cell {
  requestCount = 0;
  failedCount = 0;
  cancelledCount = 0;
  latencySumNs = 0;
  readonly latency: Histogram = createHistogram(SIGNIFICANT_DIGITS);

  merge(other: Cell): void {
    this.requestCount += other.requestCount;
    this.failedCount += other.failedCount;
    this.cancelledCount += other.cancelledCount;
    this.latencySumNs += other.latencySumNs;
    this.latency.add(other.latency);
  }
}

/**
 * The time line of a run whose length is not known: up to 60 intervals of equal length, which doubles whenever the run needs more. Memory
 * is bounded for runs of any length.
 */
export class RunTimeline {
  private readonly startNs: number;
  private bucketNs = FIRST_BUCKET_NS;
  private cells: Cell[] = [];
  private inFlight: InFlightTime;
  private lastNs = 0;

  /** @param startNs monotonic start of the run */
  constructor(startNs: number) {
    this.startNs = startNs;
    this.inFlight = new InFlightTime(startNs, this.bucketNs);
  }

  add(records: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      const endNs = records.endNs[row] as number;
      const overNs = records.overNs[row] as number;
      const sentNs = records.sendStartNs[row] as number;
      this.lastNs = Math.max(this.lastNs, overNs - this.startNs);
      // The time in flight may reach into a later interval than the end of the response.
      while (this.lastNs / this.bucketNs >= MOST_BUCKETS) this.double();
      this.inFlight.add(sentNs, overNs);
      const cell = this.cellAt(Math.max(0, Math.floor((endNs - this.startNs) / this.bucketNs)));
      const flag = records.flags[row] as number;
      if ((flag & RECORD_CANCELLED) !== 0) cell.cancelledCount++;
      else if ((flag & RECORD_FAILED) !== 0) cell.failedCount++;
      else {
        cell.requestCount++;
        cell.latencySumNs += endNs - sentNs;
        recordUs(cell.latency, Math.round(nsToUs(endNs - sentNs)));
      }
    }
  }

  /** Returns the intervals up to the last record, or up to `endNs` when that is later. @param endNs monotonic */
  finish(endNs: number): RunBucket[] {
    this.lastNs = Math.max(this.lastNs, endNs - this.startNs);
    while (this.lastNs / this.bucketNs > MOST_BUCKETS) this.double();
    const count = Math.max(1, this.cells.length, Math.ceil(this.lastNs / this.bucketNs));
    const inFlightNs = this.inFlight.sumsNs(count);
    return Array.from({ length: count }, (_, index): RunBucket => {
      const { requestCount, failedCount, cancelledCount, latencySumNs, latency } = this.cellAt(index);
      const startNs = index * this.bucketNs;
      const stopNs = Math.max(startNs + 1, Math.min(this.lastNs, startNs + this.bucketNs));
      const isEmpty = requestCount === 0;
      return {
        startNs,
        endNs: stopNs,
        requestCount,
        failedCount,
        cancelledCount,
        meanOutstanding: (inFlightNs[index] as number) / (stopNs - startNs),
        latencyMeanNs: isEmpty ? undefined : latencySumNs / requestCount,
        latencyP99Ns: isEmpty ? undefined : usToNs(latency.getValueAtPercentile(99)),
      };
    });
  }

  private cellAt(index: number): Cell {
    while (this.cells.length <= index) this.cells.push(new Cell());
    return this.cells[index] as Cell;
  }

  /** Joins the intervals in pairs. */
  private double(): void {
    const before = this.cells;
    this.cells = before.filter((_, index) => index % 2 === 0);
    for (const [index, cell] of before.entries())
      if (index % 2 === 1) (this.cells[(index - 1) / 2] as Cell).merge(cell);
    this.bucketNs *= 2;
    this.inFlight = this.inFlight.joinPairs();
  }
}
