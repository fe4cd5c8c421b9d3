import type { CompletionGaps } from "../../measure/completion-gaps.ts";
import type { MlperfTally } from "../../measure/mlperf/mlperf-tally.ts";
import { RECORD_CANCELLED, type RecordColumns } from "../../measure/records.ts";
import { WindowTally } from "../../measure/tally/window-tally.ts";
import type { Timeline } from "../../measure/timeline.ts";

/** Receives the records of a sender and divides them into windows. */
export class LevelMeter {
  /** Of the current level. */
  gaps: CompletionGaps | undefined;
  timeline: Timeline | undefined;
  /** Of a whole run with phases. */
  runTimeline: Timeline | undefined;
  /** Undefined unless the load is a scenario of MLPerf. */
  mlperf: MlperfTally | undefined;
  /** End of the last request that was not cancelled, including empty messages. */
  lastEndNs = 0;
  /** Send time of the last of the same requests to be sent. */
  lastSendNs = 0;
  /** Number of the current window among those of the run, from 1. A window that did not end whole has a number too. */
  windowNumber = 0;
  private tally: WindowTally | undefined;
  private groupTallies: WindowTally[] = [];
  private newTally: () => WindowTally = () =>
    new WindowTally({ isScheduled: false, countsReading: true, isDecoupled: false });
  private newGroups: () => WindowTally[] = () => [];

  /** @param newGroups creates the tallies of the groups of requests; default: there are none */
  begin(newTally: () => WindowTally, newGroups: () => WindowTally[] = () => []): void {
    this.windowNumber++;
    this.count(newTally, newGroups);
  }

  /** Begins to count again, without a new window. */
  count(newTally: () => WindowTally, newGroups: () => WindowTally[]): void {
    this.newTally = newTally;
    this.newGroups = newGroups;
    this.tally = newTally();
    this.groupTallies = newGroups();
    this.lastEndNs = 0;
    this.lastSendNs = 0;
  }

  /** Measures no level until the next `begin`. */
  pause(): void {
    this.tally = undefined;
    this.timeline = undefined;
    this.gaps = undefined;
  }

  add(records: RecordColumns, count: number): void {
    // The last row is not enough: failed requests are recorded out of order.
    for (let row = 0; row < count; row++) {
      if (((records.flags[row] as number) & RECORD_CANCELLED) !== 0) continue;
      this.lastEndNs = Math.max(this.lastEndNs, records.overNs[row] as number);
      this.lastSendNs = Math.max(this.lastSendNs, records.sendStartNs[row] as number);
    }
    this.tally?.add(records, count);
    if (this.groupTallies.length > 0) this.addToGroups(records, count);
    this.timeline?.add(records, count);
    this.gaps?.add(records, count);
    this.runTimeline?.add(records, count);
    this.mlperf?.add(records, count);
  }

  private addToGroups(records: RecordColumns, count: number): void {
    const present = new Set(records.group.subarray(0, count));
    for (const group of present) this.groupTallies[group]?.add(records, count, group);
  }

  /** Adds the values extracted from a response, in the order of their names. @param atNs when the response ended @param group that of the request; default: none */
  addExtracted(values: readonly unknown[], atNs: number, group?: number): void {
    this.tally?.extracted?.add(values, atNs);
    if (group !== undefined) this.groupTallies[group]?.extracted?.add(values, atNs);
  }

  /** Number of requests in the current window, including failed ones, without those still in the columns. */
  get collected(): number {
    return this.tally === undefined ? 0 : this.tally.latency.count + this.tally.failedCount;
  }

  /** Ends the window and starts the next one. */
  cut(): WindowTally {
    const tally = this.tally ?? this.newTally();
    this.windowNumber++;
    this.tally = this.newTally();
    return tally;
  }

  /** Like `cut`, for the groups of requests. Call right after it. */
  cutGroups(): readonly WindowTally[] {
    const tallies = this.groupTallies;
    this.groupTallies = this.newGroups();
    return tallies;
  }
}
