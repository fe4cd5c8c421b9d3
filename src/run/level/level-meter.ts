import type { MlperfTally } from "../../measure/mlperf/mlperf-tally.ts";
import { RECORD_CANCELLED, type RecordColumns } from "../../measure/records.ts";
import type { Timeline } from "../../measure/timeline.ts";
import { WindowTally } from "../../measure/window.ts";

/** Receives the driver's records and divides them into windows. */
export class LevelMeter {
  timeline: Timeline | undefined;
  /** Undefined unless the load is a scenario of MLPerf. */
  mlperf: MlperfTally | undefined;
  /** End of the last request that was not cancelled, including empty messages. */
  lastEndNs = 0;
  private tally: WindowTally | undefined;
  private newTally: () => WindowTally = () =>
    new WindowTally({ isScheduled: false, countsReading: true, isDecoupled: false });

  begin(newTally: () => WindowTally): void {
    this.newTally = newTally;
    this.tally = newTally();
    this.lastEndNs = 0;
  }

  add(records: RecordColumns, count: number): void {
    // The last row is not enough: failed requests are recorded out of order.
    for (let row = 0; row < count; row++) {
      if (((records.flags[row] as number) & RECORD_CANCELLED) !== 0) continue;
      this.lastEndNs = Math.max(this.lastEndNs, records.overNs[row] as number);
    }
    this.tally?.add(records, count);
    this.timeline?.add(records, count);
    this.mlperf?.add(records, count);
  }

  /** Adds the values extracted from an answer, in the order of their names. */
  addExtracted(values: readonly unknown[]): void {
    this.tally?.extracted?.add(values);
  }

  /** Number of requests in the current window, including failed ones, without those still in the columns. */
  get collected(): number {
    return this.tally === undefined ? 0 : this.tally.latency.count + this.tally.failedCount;
  }

  /** Ends the window and starts the next one. */
  cut(): WindowTally {
    const tally = this.tally ?? this.newTally();
    this.tally = this.newTally();
    return tally;
  }
}
