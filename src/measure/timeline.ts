import { InFlightTime } from "./in-flight.ts";
import { RECORD_CANCELLED, RECORD_FAILED, type RecordColumns } from "./records.ts";
import { joinSketches, type Sketch } from "./sketch.ts";
import { DurationTally } from "./tally/duration-tally.ts";

const MAX_BUCKETS = 60;
const SHORTEST_BUCKET_NS = 100e6; // 100 ms
/** A last interval shorter than this ratio of the others is merged into the one before, because its rates would be unreliable. */
const SHORTEST_LAST_RATIO = 0.5;

/** One interval. Times are nanoseconds since the measurement began. */
export interface TimelineBucket {
  readonly startNs: number;
  readonly endNs: number;
  /** Number of successful requests that ended in it. */
  readonly requestCount: number;
  readonly failedCount: number;
  readonly latency: Sketch;
  /** Mean number of requests in flight. */
  readonly meanOutstanding: number;
}

/** Groups records into up to 60 intervals of equal length. */
export class Timeline {
  private readonly startNs: number;
  private readonly bucketNs: number;
  private readonly inFlight: InFlightTime;
  private readonly latencies: DurationTally[] = [];
  private readonly failed: number[] = [];
  private readonly value = new Float64Array(1);

  constructor(startNs: number, durationNs: number) {
    this.startNs = startNs;
    this.bucketNs = Math.max(SHORTEST_BUCKET_NS, durationNs / MAX_BUCKETS);
    this.inFlight = new InFlightTime(startNs, this.bucketNs);
  }

  add(records: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      const index = Math.max(0, Math.floor(((records.endNs[row] as number) - this.startNs) / this.bucketNs));
      this.extendTo(index);
      this.inFlight.add(records.sendStartNs[row] as number, records.overNs[row] as number);
      const flag = records.flags[row] as number;
      if ((flag & RECORD_CANCELLED) !== 0) continue;
      if ((flag & RECORD_FAILED) !== 0) {
        this.failed[index] = (this.failed[index] as number) + 1;
        continue;
      }
      this.value[0] = (records.endNs[row] as number) - (records.sendStartNs[row] as number);
      (this.latencies[index] as DurationTally).addAll(this.value, 1);
    }
  }

  /** Adds intervals up to this one. */
  private extendTo(index: number): void {
    while (this.latencies.length <= index) {
      this.latencies.push(new DurationTally());
      this.failed.push(0);
    }
  }

  /**
   * Returns the intervals up to `endNs`, the end of the last record.
   * @param openSentNs send times of the requests in flight at that time
   */
  finish(endNs: number, openSentNs: readonly number[] = []): TimelineBucket[] {
    const lengthNs = endNs - this.startNs;
    for (const sentNs of openSentNs) this.inFlight.add(sentNs, endNs);
    const parts = lengthNs / this.bucketNs;
    // Include intervals without requests at the end.
    const stretchCount = Math.ceil(parts);
    this.extendTo(stretchCount - 1);
    const inFlightNs = this.inFlight.sumsNs(stretchCount);
    const count = Math.max(1, Math.floor(parts + 1 - SHORTEST_LAST_RATIO));
    return Array.from({ length: Math.min(count, stretchCount) }, (_, index): TimelineBucket => {
      const isLast = index === count - 1;
      // The last interval includes requests that ended exactly at its end, so that the intervals add up to the measurement.
      const end = isLast ? undefined : index + 1;
      const startNs = index * this.bucketNs;
      const stopNs = isLast ? lengthNs : startNs + this.bucketNs;
      const latency = joinSketches(this.latencies.slice(index, end).map((tally) => tally.toSketch()));
      return {
        startNs,
        endNs: stopNs,
        requestCount: latency.count,
        failedCount: sumOf(this.failed.slice(index, end)),
        latency,
        meanOutstanding: sumOf(inFlightNs.slice(index, end)) / (stopNs - startNs),
      };
    });
  }
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
