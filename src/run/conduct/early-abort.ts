import { judgeLimits } from "../../measure/limits/judge-limits.ts";
import { errorOfLook } from "../../measure/limits/looks.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { needsTokens } from "../../measure/metrics/catalogue.ts";
import { formatMetric } from "../../measure/metrics/metric-text.ts";
import { sampleOf } from "../../measure/metrics/read-metric.ts";
import type { RecordColumns } from "../../measure/records.ts";
import { selectTags } from "../../measure/split-by-tag.ts";
import { type JudgedLevel, judge } from "../../measure/verdicts.ts";
import type { AssertionPlan } from "../../plan/assertions.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { formatDurationNs, msToNs } from "../../plan/units.ts";
import { shownUnitOf } from "../../registry/mix.ts";
import type { AbortedBy } from "../../result/run-result.ts";
import type { Cancel } from "../../runtime/clock.ts";
import { type TallyParts, talliesOf } from "../count/tallies.ts";
import type { ConductorParts } from "../run-parts.ts";
import type { LoadSender } from "../send/messages.ts";
import { joinSlices, RecentTime } from "./recent-time.ts";

/** Number of times that an assertion is judged within its `abortAfterMs`. */
const SLICES = 10;

/** Dependencies of an {@link EarlyAbort}. */
export interface WatchedParts extends TallyParts, Pick<ConductorParts, "clock" | "signal" | "hasTokens"> {
  /** Ends the run with an error. */
  fail(error: unknown): void;
  readonly sender: Pick<LoadSender, "drain" | "takeTokens">;
}

interface Watched {
  readonly index: number;
  readonly assertion: AssertionPlan;
  readonly abortAfterMs: number;
  readonly recent: RecentTime;
  /** Number of times that the assertion was judged. */
  looks: number;
  /** Whether the tokens of an earlier check are still awaited. */
  isAwaiting: boolean;
}

/** Whether an assertion may end the run. */
export function mayAbort({ assertions }: Pick<Plan, "assertions">): boolean {
  return assertions.some(({ abortAfterMs }) => abortAfterMs !== undefined);
}

/**
 * Ends a run early when an assertion with `abortAfterMs` failed over the last `abortAfterMs`, by more than chance explains: a long run
 * judges it thousands of times, and chance alone breaks a limit sooner or later. Only measured time counts: warm-ups and the time between
 * levels do not.
 */
export class EarlyAbort {
  /** The assertion that ended the run. */
  broken: AbortedBy | undefined;
  private readonly parts: WatchedParts;
  private readonly watched: readonly Watched[];
  private timers: Cancel[] = [];
  private isRunning = false;

  constructor(parts: WatchedParts) {
    const { plan } = parts;
    this.parts = parts;
    this.watched = plan.assertions.flatMap((assertion, index) => {
      const { abortAfterMs } = assertion;
      if (abortAfterMs === undefined) return [];
      return [
        { index, assertion, abortAfterMs, recent: recentOf(parts, assertion, index), looks: 0, isAwaiting: false },
      ];
    });
  }

  /** Resumes judging at a level. @param phase name of its phase */
  resume(isScheduled: boolean, phase?: string): void {
    const { clock } = this.parts;
    const atNs = clock.nowNs();
    const tallies = talliesOf(this.parts, isScheduled);
    for (const { recent, assertion } of this.watched) {
      if (assertion.phase === undefined || assertion.phase === phase) recent.resume(tallies, atNs);
      else recent.pause(atNs);
    }
    if (this.isRunning) return;
    this.isRunning = true;
    this.timers = this.watched.map((watched) =>
      clock.every(
        watched.abortAfterMs / SLICES,
        () => void this.check(watched).catch((error) => this.fail(error)),
        true,
      ),
    );
  }

  /** Stops judging until the next level. */
  pause(): void {
    if (!this.isRunning) return;
    this.isRunning = false;
    for (const cancel of this.timers) cancel();
    for (const { recent } of this.watched) recent.pause(this.parts.clock.nowNs());
  }

  add(records: RecordColumns, count: number): void {
    if (!this.isRunning) return;
    for (const { recent } of this.watched) recent.add(records, count);
  }

  /**
   * Adds the values extracted from a response. @param atNs when the response ended @param group group of the request; default: none
   */
  addExtracted(values: readonly unknown[], atNs: number, group?: number): void {
    if (!this.isRunning) return;
    for (const { recent } of this.watched) recent.addExtracted(values, atNs, group);
  }

  private async check(watched: Watched): Promise<void> {
    const { clock, sender, signal } = this.parts;
    const atNs = clock.nowNs();
    await sender.drain();
    const slices = watched.recent.cut(atNs);
    // Skips a check when the thread that counts tokens is behind.
    if (slices === undefined || watched.isAwaiting || signal.isStopped) return;
    const joined = joinSlices(slices);
    if (!(joined instanceof Promise)) {
      this.judge(watched, joined);
      return;
    }
    watched.isAwaiting = true;
    void joined
      .then(
        (window) => this.guard(() => this.judge(watched, window)),
        (error: unknown) => this.fail(error),
      )
      .finally(() => {
        watched.isAwaiting = false;
      });
  }

  /** Runs a callback of the event loop, where an exception would otherwise be lost. */
  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.parts.fail(error);
    }
  }

  /** Ends the run when tokens cannot be measured, unless it has ended already. */
  private fail(error: unknown): void {
    if (this.isRunning) this.parts.fail(error);
  }

  private judge(watched: Watched, window: Measurement): void {
    const { plan, signal } = this.parts;
    if (signal.isStopped) return;
    const { index, assertion, abortAfterMs } = watched;
    const { target } = plan;
    const { phase } = assertion;
    const unit = shownUnitOf(plan);
    const level = { level: 0, window, ...(phase === undefined ? {} : { phase: { index: 0, label: phase } }) };
    const { state, measured, text } = judge(assertion, [level], target.batchSize, unit);
    watched.looks++;
    if (state !== "fail" || measured === undefined) return;
    const part = assertion.where === undefined ? level : selectTags(window, assertion.where);
    const error = errorOfLook(watched.looks) / this.watched.length;
    if (part !== undefined && isByChance(assertion, { ...part, level: 0 }, target.batchSize, error)) return;
    const time = formatDurationNs(msToNs(abortAfterMs));
    this.broken = { assertionIndex: index, measured };
    signal.abort(
      new RunError(
        "assertion-failed",
        `the run ended early: "${text}" did not hold over the last ${time}, with ${formatMetric(assertion.metric, measured, unit)}`,
        "The report has what was measured until then.",
      ),
    );
  }
}

/**
 * Reports whether chance may explain a value on the wrong side of its limit.
 * @param error probability of returning false when chance does explain it
 */
function isByChance(assertion: AssertionPlan, level: JudgedLevel, batchSize: number, error: number): boolean {
  const [verdict] = judgeLimits([assertion], level, batchSize, error);
  if (verdict?.state === "broken") return false;
  const { metric, comparison, limit } = assertion;
  if (metric.statistic !== "mean" || (comparison !== "below" && comparison !== "at-most")) return true;
  // Latencies that grow all the time have no interval, but all of them are beyond the limit.
  const lowest = sampleOf(metric, level)?.lowestMean;
  return lowest === undefined || lowest <= limit;
}

/** Keeps only what an assertion needs: groups for assertions with tags, tokens for token metrics. */
function recentOf(
  { sender, hasTokens, groups }: WatchedParts,
  { metric, where, abortAfterMs = 0 }: AssertionPlan,
  tap: number,
): RecentTime {
  return new RecentTime({
    spanNs: msToNs(abortAfterMs),
    ...(where === undefined ? {} : { groups }),
    ...(hasTokens && needsTokens(metric) ? { takeTokens: () => sender.takeTokens({ kind: "tap", tap }) } : {}),
  });
}
