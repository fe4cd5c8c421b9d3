import { stabilizingLatencyNs } from "../../measure/derived-values.ts";
import { type Measurement, withTokens } from "../../measure/measurement.ts";
import { mergeInTime } from "../../measure/merge.ts";
import { type TimelineBucket, toBuckets } from "../../measure/timeline.ts";
import type { LevelTokens } from "../../measure/tokens/run-tokens.ts";
import { defined } from "../../plan/objects.ts";
import { RunError } from "../../plan/problem.ts";
import { countOf, formatCount, nsToMs } from "../../plan/units.ts";
import { isFarBehind } from "../../result/judged-levels.ts";
import type { LevelResult } from "../../result/run-result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Unsent } from "../send/messages.ts";
import type { HandOver, LevelContext } from "./level-context.ts";
import { WindowCutter } from "./window-cutter.ts";

/** Common parts of all modes of measuring a level: its windows and its result. */
export class LevelFrame {
  readonly context: LevelContext;
  /** Concurrency or request rate. */
  readonly level: number;
  readonly windows: WindowCutter;
  /** Requests of the level that were not sent; undefined until its end. */
  private unsent: Unsent | undefined;
  /** Number of windows in the result. */
  private mergedCount = 1;
  private isHandedOver = false;

  constructor(context: LevelContext, level: number) {
    this.context = context;
    this.level = level;
    this.windows = new WindowCutter(context);
  }

  get clock(): Clock {
    return this.context.clock;
  }

  get batchSize(): number {
    return this.context.session.service.batchSize;
  }

  get windowCount(): number {
    return this.mergedCount;
  }

  /** Whether the next load has begun already. */
  get hasHandedOver(): boolean {
    return this.isHandedOver;
  }

  /**
   * Ends the sending of a schedule at the end of its level. Requests that are due and not sent are counted and dropped.
   * @param endNs undefined: nothing is due after the load, because it has a quota
   */
  async endSchedule(endNs: number | undefined): Promise<void> {
    const { sender, isScheduled, plan, handOver } = this.context;
    // Other ranks may still measure.
    const dueNs = isScheduled && !plan.client.isMpi ? endNs : undefined;
    const state = this.skipDue(dueNs);
    // A phase sends until the next one begins.
    if (dueNs !== undefined && handOver === undefined) sender.change({ quota: 0 });
    this.unsent = await state;
  }

  /** Skips the requests that are due by `dueNs` and not sent, and returns their counts. @param dueNs undefined: none */
  private async skipDue(dueNs: number | undefined): Promise<Unsent> {
    const { sender } = this.context;
    if (dueNs !== undefined) sender.change({ skipsDueNs: dueNs });
    return (await sender.until({ kind: "now" })).unsent;
  }

  async finish(window: Measurement, timeline: readonly TimelineBucket[]): Promise<LevelResult> {
    const { signal } = this.context;
    if (signal.isStopped) return this.result("partial", window, 1, { timeline });
    // A phase may be shorter than a response takes.
    const isEmpty = window.requestCount + window.failedCount + window.cancelledCount === 0;
    if (isEmpty && this.context.handOver === undefined) throw this.whyEmpty(window);
    const { percentile } = this.context.plan.measurement;
    if (window.requestCount > 0) this.context.observer.onWindow?.(1, window, stabilizingLatencyNs(window, percentile));
    return this.result(this.isOverLimit(window) ? "over-limit" : "measured", window, 1, { timeline });
  }

  private whyEmpty(window: Measurement): Error {
    const unsentCount = this.unsent?.count ?? 0;
    if (!isFarBehind({ window, unsentCount })) return new LevelError();
    const { sentCount } = window;
    const due = countOf(sentCount + unsentCount, "request that was", "requests that were");
    const message = `the client sent ${formatCount(sentCount)} of ${due} due, and none of them ended in time`;
    return new RunError("host-limit", message, "Lower the rate, or measure for longer.");
  }

  /**
   * Returns the result of a stopped run: the recent windows and the current one.
   * @param withTokens adds the tokens of the current window, if the others have theirs. Default: no window has tokens
   */
  async partial(
    recent: readonly Measurement[],
    trials: number,
    withTokens = (window: Measurement): Measurement | Promise<Measurement> => window,
  ): Promise<LevelResult> {
    const last = await withTokens(await this.windows.cut(this.clock.nowNs()));
    // Windows without responses are part of the measured time.
    return this.result("partial", this.merge([...recent, last]), trials, {});
  }

  merge(windows: readonly Measurement[]): Measurement {
    this.mergedCount = windows.length;
    return mergeInTime(windows);
  }

  /** Ends the only window and changes to the next load at the same moment. */
  async cutAndChange(handOver: HandOver): Promise<LevelResult> {
    const endNs = this.clock.nowNs();
    const ended = Promise.all([
      // The window ends now; only the server's counters are still awaited.
      this.windows.cutLast(endNs),
      this.skipDue(endNs),
    ]);
    ended.catch(() => {});
    this.isHandedOver = true;
    handOver.change(endNs, true);
    const [{ window, timelines }, unsent] = await ended;
    this.unsent = unsent;
    return this.finish(window, toBuckets(timelines, window.endNs));
  }

  async result(
    outcome: LevelResult["outcome"],
    window: Measurement,
    trials: number,
    rest: Partial<LevelResult>,
  ): Promise<LevelResult> {
    // A load with a fixed number of requests has a quota, after which nothing is due.
    const { sender } = this.context;
    const hasQuota = sender.progress().quota < Number.POSITIVE_INFINITY;
    if (this.unsent === undefined) await this.endSchedule(hasQuota ? undefined : this.clock.nowNs());
    const { count: unsentCount = 0, delayed: delayedByLimit } = this.unsent ?? {};
    const gaps = this.windows.findGaps(window);
    return {
      unit: this.context.unit,
      level: this.level,
      outcome,
      window: gaps.length === 0 ? window : { ...window, gaps },
      trials,
      instability: undefined,
      isLatencyUnstable: false,
      hasServerCounters: this.windows.hasServerCounters,
      timeline: [],
      ...defined({ delayedByLimit }),
      ...(unsentCount === 0 ? {} : { unsentCount }),
      ...rest,
    };
  }

  /** Whether the latency reaches the plan's limit, in whole milliseconds like perf_analyzer. */
  isOverLimit(window: Measurement): boolean {
    const { latencyLimitMs, percentile } = this.context.plan.measurement;
    if (latencyLimitMs === null || window.requestCount === 0) return false;
    return Math.floor(nsToMs(stabilizingLatencyNs(window, percentile))) >= latencyLimitMs;
  }
}

export function addTokens(result: LevelResult, taken: LevelTokens | undefined): LevelResult {
  if (taken === undefined) return result;
  const { tokenRows } = taken;
  return { ...result, window: withTokens(result.window, taken), ...defined({ tokenRows }) };
}

/** A level in which no request succeeded. */
export class LevelError extends Error {
  override readonly name = "LevelError";

  /** @param where what the run was doing when no request succeeded */
  constructor(where = "while a level was measured") {
    super(`no request succeeded ${where}`);
  }
}
