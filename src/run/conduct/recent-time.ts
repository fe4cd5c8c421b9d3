import { type MeasuredGroup, type Measurement, withTokens } from "../../measure/measurement.ts";
import { mergeInTime } from "../../measure/merge.ts";
import type { RecordColumns } from "../../measure/records.ts";
import { toMeasurement, type WindowFrame, type WindowTally } from "../../measure/tally/window-tally.ts";
import type { LevelTokens } from "../../measure/tokens/run-tokens.ts";
import { withGroups } from "../count/group-counter.ts";
import type { NewTallies } from "../count/tallies.ts";
import type { RequestGroups } from "../groups/request-groups.ts";

const NOTHING_OPEN = { count: 0, ageSumNs: 0 };
const NO_HEALTH = { cpuRatio: 0, loopLagMaxNs: 0, loopLagMeanNs: 0 };

/** Dependencies of a {@link RecentTime}. */
export interface RecentParts {
  /** Length of the kept time, in nanoseconds. */
  readonly spanNs: number;
  /** Groups of requests that are measured separately. Absent: all requests together only. */
  readonly groups?: Pick<RequestGroups, "list"> | undefined;
  /** Returns the tokens measured since its last call. Absent: tokens are not needed. */
  takeTokens?(): Promise<LevelTokens | undefined>;
}

/** A part of the measured time. */
export interface Slice {
  readonly window: Measurement;
  /** Undefined when no tokens are needed. */
  readonly tokens: Promise<LevelTokens | undefined> | undefined;
}

/** Keeps the most recent part of the measured time, in slices. */
export class RecentTime {
  private readonly parts: RecentParts;
  private slices: Slice[] = [];
  /** Tally of the current slice; undefined while nothing is measured. */
  private tally: WindowTally | undefined;
  private groupTallies: readonly WindowTally[] = [];
  private tallies: NewTallies | undefined;
  private startNs = 0;

  constructor(parts: RecentParts) {
    this.parts = parts;
  }

  /** Starts a slice. */
  resume(tallies: NewTallies, atNs: number): void {
    if (this.tally === undefined) this.skipTokens();
    else this.pause(atNs);
    this.tallies = tallies;
    this.tally = tallies.all();
    this.groupTallies = this.parts.groups === undefined ? [] : tallies.groups();
    this.startNs = atNs;
  }

  /** Ends the current slice. */
  pause(atNs: number): void {
    if (this.tally === undefined) return;
    const tokens = this.takeTokens();
    if (atNs > this.startNs) this.slices.push({ window: this.toWindow(this.tally, atNs), tokens });
    this.tally = undefined;
    this.groupTallies = [];
  }

  add(records: RecordColumns, count: number): void {
    this.tally?.add(records, count);
    for (const [group, tally] of this.groupTallies.entries())
      if (records.group.subarray(0, count).includes(group)) tally.add(records, count, group);
  }

  /**
   * Adds the values extracted from a response. @param atNs when the response ended @param group group of the request; undefined without
   * groups
   */
  addExtracted(values: readonly unknown[], atNs: number, group: number | undefined): void {
    this.tally?.extracted?.add(values, atNs);
    if (group !== undefined) this.groupTallies[group]?.extracted?.add(values, atNs);
  }

  /**
   * Ends the slice, begins the next one, and returns the most recent slices; undefined while they are shorter than `spanNs`
   * together.
   */
  cut(atNs: number): readonly Slice[] | undefined {
    if (this.tallies === undefined || this.tally === undefined) return undefined;
    this.resume(this.tallies, atNs);
    const { slices } = this;
    const lengthOf = (slice: Slice | undefined): number => slice?.window.durationNs ?? 0;
    let lengthNs = slices.reduce((sum, slice) => sum + lengthOf(slice), 0);
    // A timer may fire up to a slice late, so the time may be longer than requested by that much.
    while (slices.length > 0 && lengthNs - lengthOf(slices[0]) >= this.parts.spanNs)
      lengthNs -= lengthOf(slices.shift());
    return lengthNs < this.parts.spanNs ? undefined : [...slices];
  }

  private takeTokens(): Promise<LevelTokens | undefined> | undefined {
    const tokens = this.parts.takeTokens?.();
    // The code that judges the tokens sees the error.
    tokens?.catch(() => {});
    return tokens;
  }

  /** Earlier tokens belong to a warm-up, or to the time between two levels. */
  private skipTokens(): void {
    this.takeTokens();
  }

  private toWindow(tally: WindowTally, endNs: number): Measurement {
    const counts = {
      sentCount: 0,
      openBefore: NOTHING_OPEN,
      openAfter: NOTHING_OPEN,
      laneCount: 1,
      canLanesWait: true,
    };
    const frame: WindowFrame = { startNs: this.startNs, endNs, ...counts, health: NO_HEALTH };
    const window = toMeasurement(tally, frame);
    const { groups } = this.parts;
    if (groups === undefined) return window;
    const apart = groups.list.map(
      ({ tags }, group): MeasuredGroup => ({
        tags,
        window: toMeasurement(this.groupTallies[group] as WindowTally, frame),
      }),
    );
    return withGroups(window, apart);
  }
}

/** Joins consecutive slices. With tokens the result is a promise. @param slices not empty */
export function joinSlices(slices: readonly Slice[]): Measurement | Promise<Measurement> {
  if (slices.every(({ tokens }) => tokens === undefined)) return mergeInTime(slices.map(({ window }) => window));
  return Promise.all(slices.map(async ({ window, tokens }) => withTokens(window, await tokens))).then(mergeInTime);
}
