import { LatencyTally } from "./latency-tally.ts";
import { RECORD_FAILED, RECORD_GIVEN_UP, type RecordColumns } from "./records.ts";

/** Progress over time: what happened in each stretch of a long measurement. */

const MAX_BUCKETS = 60;
const SHORTEST_BUCKET_NS = 100e6; // 100 ms

/** One stretch. Times are nanoseconds since the measurement began. */
export interface TimelineBucket {
  readonly startNs: number;
  readonly endNs: number;
  readonly requestCount: number;
  readonly failedCount: number;
  readonly latency: LatencyTally;
  /** Mean number of requests outstanding, from the latencies of those that ended (Little's law). */
  readonly meanOutstanding: number;
}

/** Sorts records into stretches of equal length, at most 60 of them. */
export class Timeline {
  private readonly startNs: number;
  private readonly bucketNs: number;
  private readonly latencies: LatencyTally[] = [];
  private readonly failed: number[] = [];
  private readonly value = new Float64Array(1);

  constructor(startNs: number, durationNs: number) {
    this.startNs = startNs;
    this.bucketNs = Math.max(SHORTEST_BUCKET_NS, durationNs / MAX_BUCKETS);
  }

  add(records: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      const index = Math.max(0, Math.floor(((records.endNs[row] as number) - this.startNs) / this.bucketNs));
      this.reach(index);
      const flag = records.flags[row] as number;
      if ((flag & RECORD_GIVEN_UP) !== 0) continue;
      if ((flag & RECORD_FAILED) !== 0) {
        this.failed[index] = (this.failed[index] as number) + 1;
        continue;
      }
      this.value[0] = (records.endNs[row] as number) - (records.sendStartNs[row] as number);
      (this.latencies[index] as LatencyTally).addAll(this.value, 0, 1);
    }
  }

  /** Makes the stretches up to and including this one. */
  private reach(index: number): void {
    while (this.latencies.length <= index) {
      this.latencies.push(new LatencyTally());
      this.failed.push(0);
    }
  }

  /** The stretches until `endNs`; later records are left out. */
  finish(endNs: number): TimelineBucket[] {
    const lengthNs = endNs - this.startNs;
    // Silence at the end is part of the story.
    this.reach(Math.ceil(lengthNs / this.bucketNs) - 1);
    return this.latencies
      .map((latency, index): TimelineBucket => {
        const startNs = index * this.bucketNs;
        const stopNs = Math.min(lengthNs, startNs + this.bucketNs);
        return {
          startNs,
          endNs: stopNs,
          requestCount: latency.count,
          failedCount: this.failed[index] as number,
          latency,
          meanOutstanding: stopNs > startNs ? latency.sumNs / (stopNs - startNs) : 0,
        };
      })
      .filter((bucket) => bucket.endNs > bucket.startNs);
  }
}
