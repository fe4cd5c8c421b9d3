import { mergeWindows } from "../../measure/merge.ts";
import type { RecordColumns } from "../../measure/records.ts";
import { formatMetric, judge } from "../../measure/verdicts.ts";
import { toWindowResult, type WindowResult, type WindowTally } from "../../measure/window.ts";
import type { AssertionPlan } from "../../plan/assertions.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import type { AbortedBy } from "../../result/run-result.ts";
import type { Cancel } from "../../runtime/clock.ts";
import type { RunSignal } from "../run-signal.ts";
import type { Driver } from "../send/driver.ts";

/** An assertion is judged this often in its time. */
const SLICES = 10;
const NOTHING_OPEN = { count: 0, ageSumNs: 0 };
const NO_HEALTH = { cpuRatio: 0, loopLagMaxNs: 0, loopLagMeanNs: 0 };

interface Watched {
  readonly index: number;
  readonly assertion: AssertionPlan;
  readonly abortAfterMs: number;
}

/**
 * Ends a run early when an assertion with `abortAfterMs` does not hold over the last so many milliseconds. Only measured time counts: not
 * warm-ups, and not the time between levels.
 */
export class EarlyAbort {
  /** The assertion that ended the run. */
  broken: AbortedBy | undefined;
  private readonly plan: Plan;
  private readonly driver: Driver;
  private readonly signal: RunSignal;
  private readonly watched: readonly (Watched & { readonly recent: RecentTime })[];
  private timers: Cancel[] = [];
  private isRunning = false;

  constructor(plan: Plan, driver: Driver, signal: RunSignal) {
    this.plan = plan;
    this.driver = driver;
    this.signal = signal;
    this.watched = plan.assertions.flatMap((assertion, index) => {
      const { abortAfterMs } = assertion;
      return abortAfterMs === undefined
        ? []
        : [{ index, assertion, abortAfterMs, recent: new RecentTime(msToNs(abortAfterMs)) }];
    });
  }

  /** Continues at a level. @param newTally creates the level's tallies */
  resume(newTally: () => WindowTally): void {
    const atNs = this.driver.clock.nowNs();
    for (const { recent } of this.watched) recent.resume(newTally, atNs);
    if (this.isRunning) return;
    this.isRunning = true;
    this.timers = this.watched.map((watched) =>
      this.driver.clock.every(watched.abortAfterMs / SLICES, () => this.driver.guard(() => this.check(watched)), true),
    );
  }

  /** Judges nothing until the next level. */
  pause(): void {
    if (!this.isRunning) return;
    this.isRunning = false;
    for (const cancel of this.timers) cancel();
    for (const { recent } of this.watched) recent.pause(this.driver.clock.nowNs());
  }

  add(records: RecordColumns, count: number): void {
    if (!this.isRunning) return;
    for (const { recent } of this.watched) recent.tally?.add(records, count);
  }

  /** Adds the values extracted from an answer. */
  addExtracted(values: readonly unknown[]): void {
    if (!this.isRunning) return;
    for (const { recent } of this.watched) recent.tally?.extracted?.add(values);
  }

  private check({ index, assertion, abortAfterMs, recent }: Watched & { readonly recent: RecentTime }): void {
    this.driver.drain();
    const window = recent.cut(this.driver.clock.nowNs());
    if (window === undefined || this.signal.isStopped) return;
    const { target } = this.plan;
    const unit = targetKindOf(target).throughputUnit;
    const { isMet, measured, text } = judge(assertion, [{ level: 0, window }], target.batchSize, unit);
    // Without data there is nothing to judge.
    if (isMet || measured === undefined) return;
    const time = formatDurationNs(msToNs(abortAfterMs));
    this.broken = { assertionIndex: index, measured };
    this.signal.abort(
      new RunError(
        "assertion-failed",
        `the run ended early: "${text}" did not hold over the last ${time}, with ${formatMetric(assertion.metric, measured, unit)}`,
        "The report has what was measured until then.",
      ),
    );
  }
}

/** The measurements of the last part of the measured time, in slices. */
class RecentTime {
  /** Of the current slice; undefined while nothing is measured. */
  tally: WindowTally | undefined;
  private readonly spanNs: number;
  private slices: WindowResult[] = [];
  private newTally: (() => WindowTally) | undefined;
  private startNs = 0;

  constructor(spanNs: number) {
    this.spanNs = spanNs;
  }

  resume(newTally: () => WindowTally, atNs: number): void {
    this.pause(atNs);
    this.newTally = newTally;
    this.tally = newTally();
    this.startNs = atNs;
  }

  /** Ends the current slice. */
  pause(atNs: number): void {
    if (this.tally === undefined) return;
    if (atNs > this.startNs) this.slices.push(toSlice(this.tally, this.startNs, atNs));
    this.tally = undefined;
  }

  /** Returns the last part of the time; undefined while it is shorter than asked. */
  cut(atNs: number): WindowResult | undefined {
    if (this.newTally === undefined || this.tally === undefined) return undefined;
    this.resume(this.newTally, atNs);
    let lengthNs = this.slices.reduce((sum, { durationNs }) => sum + durationNs, 0);
    // A timer may fire up to a slice late, so the time may be longer than asked by that.
    while (lengthNs - (this.slices[0]?.durationNs ?? 0) >= this.spanNs)
      lengthNs -= (this.slices.shift() as WindowResult).durationNs;
    return lengthNs >= this.spanNs ? mergeWindows(this.slices) : undefined;
  }
}

function toSlice(tally: WindowTally, startNs: number, endNs: number): WindowResult {
  const counts = { sentCount: 0, openBefore: NOTHING_OPEN, openAfter: NOTHING_OPEN, laneCount: 1, canLanesWait: true };
  return toWindowResult(tally, { startNs, endNs, ...counts, health: NO_HEALTH, server: undefined });
}
