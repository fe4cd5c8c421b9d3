import { Column } from "../column.ts";
import { RECORD_FAILED, type RecordColumns } from "../records.ts";

/** What the requests of an MLPerf scenario took. Times are monotonic nanoseconds. */
export interface MlperfSample {
  /** Latencies of successful requests in ascending order, each from the time when it was due. */
  readonly sampleLatenciesNs: Float64Array;
  /** Latencies of queries in ascending order: that of the slowest request. The same object without several requests per query. */
  readonly queryLatenciesNs: Float64Array;
  /** Number of requests that failed or were cancelled, and, for several requests per query, of queries with such requests. */
  readonly failedCount: number;
  readonly failedQueryCount: number;
  /** When the last request was due; without a schedule, when it was sent. */
  readonly lastDueNs: number;
  /** When the last response had arrived. */
  readonly lastEndNs: number;
}

/**
 * Collects exact latencies for MLPerf's rules, which use single requests and not a histogram: 8 bytes per request, 16 with queries of
 * several requests.
 */
export class MlperfTally {
  private readonly samples = new Column();
  private readonly queries = new Column();
  private readonly isGrouped: boolean;
  private failedCount = 0;
  private failedQueryCount = 0;
  private lastDueNs = 0;
  private lastEndNs = 0;
  /** The query whose requests are ending: they are due at the same time, and the next one begins after its end. */
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

  /** Returns what was collected. Ends the current query. */
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
