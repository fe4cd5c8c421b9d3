import { ExponentialHistogram } from "./exponential-histogram.ts";
import { InFlightTime } from "./in-flight.ts";
import { RECORD_CANCELLED, RECORD_FAILED, type RecordColumns } from "./records.ts";

const MOST_BUCKETS = 60;
const SHORTEST_BUCKET_NS = 100e6; // 100 ms
/** A last interval shorter than this ratio of the others is merged into the one before, because its rates would be unreliable. */
const SHORTEST_LAST_RATIO = 0.5;

/** One interval. Times are nanoseconds since the start of the time line. */
export interface TimelineBucket {
  readonly startNs: number;
  readonly endNs: number;
  /** Number of successful requests that ended in it. */
  readonly requestCount: number;
  readonly failedCount: number;
  readonly cancelledCount: number;
  /** Mean number of requests in flight. */
  readonly meanOutstanding: number;
  /** Latencies of the successful requests; absent without any. */
  readonly latency?: TimelineLatency;
}

/** Latencies in an interval, in nanoseconds. */
export interface TimelineLatency {
  readonly meanNs: number;
  /** Percentiles, within 0.6 %. */
  readonly p50Ns: number;
  readonly p99Ns: number;
}

class Cell {
  failedCount = 0;
  cancelledCount = 0;
  readonly latency = new ExponentialHistogram();

  merge(other: Cell): void {
    this.failedCount += other.failedCount;
    this.cancelledCount += other.cancelledCount;
    this.latency.addAll(other.latency);
  }
}

/**
 * What happened over time, in intervals of equal length, about 60 of them. When the length of the time is not known, the intervals become
 * twice as long whenever it needs more. Memory is bounded for runs of any length.
 */
export class Timeline {
  private readonly startNs: number;
  private readonly mostBuckets: number;
  private bucketNs: number;
  private cells: Cell[] = [];
  private inFlight: InFlightTime;
  private lastNs = 0;

  /** @param startNs monotonic @param durationNs the time that is going to be measured, about. Default: not known */
  constructor(startNs: number, durationNs?: number) {
    this.startNs = startNs;
    this.mostBuckets = durationNs === undefined ? MOST_BUCKETS : Number.POSITIVE_INFINITY;
    this.bucketNs = Math.max(SHORTEST_BUCKET_NS, (durationNs ?? 0) / MOST_BUCKETS);
    this.inFlight = new InFlightTime(startNs, this.bucketNs);
  }

  /** End of the last request until now, monotonic. */
  get lastEndNs(): number {
    return this.startNs + this.lastNs;
  }

  add(records: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      const endNs = records.endNs[row] as number;
      const overNs = records.overNs[row] as number;
      const sentNs = records.sendStartNs[row] as number;
      this.lastNs = Math.max(this.lastNs, overNs - this.startNs);
      // The time in flight may reach into a later interval than the end of the response.
      while (this.lastNs / this.bucketNs >= this.mostBuckets) this.double();
      this.inFlight.add(sentNs, overNs);
      const cell = this.cellAt(Math.max(0, Math.floor((endNs - this.startNs) / this.bucketNs)));
      const flag = records.flags[row] as number;
      if ((flag & RECORD_CANCELLED) !== 0) cell.cancelledCount++;
      else if ((flag & RECORD_FAILED) !== 0) cell.failedCount++;
      else cell.latency.add(endNs - sentNs);
    }
  }

  /**
   * Returns the intervals up to a time. Nothing may be added afterwards.
   * @param endNs monotonic, not before the end of the last response
   * @param openSentNs send times of the requests in flight at that time
   */
  finish(endNs: number, openSentNs: readonly number[] = []): TimelineBucket[] {
    const lengthNs = endNs - this.startNs;
    while (lengthNs / this.bucketNs > this.mostBuckets) this.double();
    for (const sentNs of openSentNs) this.inFlight.add(sentNs, endNs);
    const parts = lengthNs / this.bucketNs;
    const cellCount = Math.max(1, Math.ceil(parts));
    const count = Math.min(cellCount, Math.max(1, Math.floor(parts + 1 - SHORTEST_LAST_RATIO)));
    // What ended exactly at the end, and what is left over, belong to the last interval, so that all add up to the measurement.
    for (const cell of this.cells.splice(count)) this.cellAt(count - 1).merge(cell);
    const inFlightNs = this.inFlight.sumsNs(cellCount);
    for (const restNs of inFlightNs.splice(count)) inFlightNs[count - 1] = (inFlightNs[count - 1] as number) + restNs;
    return inFlightNs.map((sumNs, index) => {
      const startNs = index * this.bucketNs;
      const stopNs = index === count - 1 ? Math.max(lengthNs, startNs + 1) : startNs + this.bucketNs;
      const { failedCount, cancelledCount, latency } = this.cellAt(index);
      return {
        ...{ startNs, endNs: stopNs, requestCount: latency.count, failedCount, cancelledCount },
        meanOutstanding: sumNs / (stopNs - startNs),
        ...latencyOf(latency),
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

function latencyOf(histogram: ExponentialHistogram): Pick<TimelineBucket, "latency"> {
  const quantiles = histogram.quantilesSince(undefined, [0.5, 0.99]);
  if (quantiles === undefined) return {};
  const [p50Ns, p99Ns] = quantiles as [number, number];
  return { latency: { meanNs: histogram.sumNs / histogram.count, p50Ns, p99Ns } };
}
