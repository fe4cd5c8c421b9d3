import { Column } from "../column.ts";
import { RECORD_FAILED, type RecordColumns } from "../records.ts";

/** Times of the requests of an MLPerf scenario, in monotonic nanoseconds. */
export interface MlperfSample {
  /** Latencies of successful requests in ascending order, each from the time at which it was due. */
  readonly sampleLatenciesNs: Float64Array;
  /** Latencies of queries in ascending order: the latency of the slowest request. The same array if each query has one request. */
  readonly queryLatenciesNs: Float64Array;
  /** Number of requests that failed or were cancelled; if a query has several requests, the number of queries with such requests. */
  readonly failedCount: number;
  readonly failedQueryCount: number;
  /** Due time of the last request; without a schedule, its send time. */
  readonly lastDueNs: number;
  /** Arrival of the last response. */
  readonly lastEndNs: number;
}

/**
 * Collects exact latencies for MLPerf's rules, which need single requests and not a histogram: 8 bytes per request, or 16 if a
 * query has several requests.
 */
export class MlperfTally {
  private readonly samples = new Column();
  private readonly queries = new Column();
  private readonly isGrouped: boolean;
  private failedCount = 0;
  private failedQueryCount = 0;
  private lastDueNs = 0;
  private lastEndNs = 0;
  /** The current query: its requests are due at the same time, and the next query begins after its end. */
  private queryDueNs = Number.NaN;
  private queryEndNs = 0;
  private hasQueryFailed = false;

  /** @param samplesPerQuery number of requests sent together */
  constructor(samplesPerQuery: number) {
    this.isGrouped = samplesPerQuery > 1;
  }

  add({ intendedSendNs, endNs, overNs, flags }: RecordColumns, count: number): void {
    for (let row = 0; row < count; row++) {
      const dueNs = intendedSendNs[row] as number;
      const hasFailed = ((flags[row] as number) & RECORD_FAILED) !== 0;
      this.lastDueNs = Math.max(this.lastDueNs, dueNs);
      this.lastEndNs = Math.max(this.lastEndNs, overNs[row] as number);
      if (hasFailed) this.failedCount++;
      else this.samples.push((endNs[row] as number) - dueNs);
      if (this.isGrouped) this.addToQuery(dueNs, endNs[row] as number, hasFailed);
    }
  }

  private addToQuery(dueNs: number, endNs: number, hasFailed: boolean): void {
    if (dueNs !== this.queryDueNs) {
      this.endQuery();
      this.queryDueNs = dueNs;
    }
    this.queryEndNs = Math.max(this.queryEndNs, endNs);
    this.hasQueryFailed ||= hasFailed;
  }

  private endQuery(): void {
    if (Number.isNaN(this.queryDueNs)) return;
    if (this.hasQueryFailed) this.failedQueryCount++;
    else this.queries.push(this.queryEndNs - this.queryDueNs);
    this.queryDueNs = Number.NaN;
    this.queryEndNs = 0;
    this.hasQueryFailed = false;
  }

  /** Returns the collected times. Ends the current query. */
  sample(): MlperfSample {
    this.endQuery();
    const sampleLatenciesNs = this.samples.measured().sort();
    return {
      sampleLatenciesNs,
      queryLatenciesNs: this.isGrouped ? this.queries.measured().sort() : sampleLatenciesNs,
      failedCount: this.failedCount,
      failedQueryCount: this.isGrouped ? this.failedQueryCount : this.failedCount,
      lastDueNs: this.lastDueNs,
      lastEndNs: this.lastEndNs,
    };
  }
}
