import type { MlperfRules } from "../../load/load-mode.ts";
import { addGroupTokens } from "../../measure/groups.ts";
import type { Instability } from "../../measure/instability.ts";
import { mergeWindows } from "../../measure/merge.ts";
import { inferPerSec, stabilizingLatencyNs } from "../../measure/metrics.ts";
import { STABILITY_WINDOWS, StabilityJudge } from "../../measure/stability.ts";
import type { TimelineBucket } from "../../measure/timeline.ts";
import type { WindowResult } from "../../measure/window.ts";
import type { MeasurementModePlan, Plan } from "../../plan/plan.ts";
import { formatDurationNs } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import type { DelayedRequests, LevelResult } from "../../result/run-result.ts";
import { type Clock, sleepUnless } from "../../runtime/clock.ts";
import type { HandOver, LevelContext } from "./level-context.ts";
import type { LevelMeter } from "./level-meter.ts";
import { WindowCutter } from "./window-cutter.ts";

/** perf_analyzer's windows are 1.2 times as long as requested. */
const WINDOW_STRETCH = 1.2;
/** Count windows are checked once per second, so they last whole seconds. */
const COUNT_POLL_MS = 1000;

type ResolvedMode = Extract<MeasurementModePlan, { kind: "until-resolved" }>;
type RequestsMode = Extract<MeasurementModePlan, { kind: "requests" }>;
type DurationMode = Extract<MeasurementModePlan, { kind: "duration" }>;

/** Measures one level while the driver keeps up its load. */
export class LevelRun {
  private readonly context: LevelContext;
  private readonly meter: LevelMeter;
  private readonly level: number;
  private readonly windows: WindowCutter;
  /** Number of windows in the result. */
  private windowCount = 1;
  /** Requests that waited when sending stopped. */
  private delayedByLimit: DelayedRequests | undefined;
  /** Whether the next load runs already. */
  private hasHandedOver = false;

  constructor(context: LevelContext, meter: LevelMeter, level: number) {
    this.context = context;
    this.meter = meter;
    this.level = level;
    this.windows = new WindowCutter(context, meter);
  }

  /** Discards earlier records and begins the first window. @param ready without load: what the window waits for */
  async begin(ready: Promise<void> | undefined): Promise<void> {
    await this.windows.begin(ready);
    const { rules } = this;
    if (rules === undefined) return;
    const { MlperfTally } = await import("../../measure/mlperf/mlperf-tally.ts");
    this.meter.mlperf = new MlperfTally(rules.samplesPerQuery);
  }

  /** Begins the first window in the middle of a load. @param startNs the end of what was measured before */
  continueAt(startNs: number): void {
    this.windows.continueAt(startNs);
  }

  /** Measures in the plan's mode. */
  async measure(): Promise<LevelResult> {
    const result = await this.measureWindow();
    if (!this.hasHandedOver) this.meter.abort?.pause();
    const { tokens, handOver } = this.context;
    const whole =
      tokens === undefined || result.tokens !== undefined
        ? result
        : { ...result, ...(await tokens.mergeLevel(this.windowCount)) };
    if (this.hasHandedOver || handOver === undefined) return whole;
    // Windows until three agree: what ended since the last one belongs to no window.
    if (!this.context.signal.isStopped) await handOver.prepare(result.outcome);
    this.context.driver.drain();
    handOver.change(this.clock.nowNs(), false);
    return whole;
  }

  private async measureWindow(): Promise<LevelResult> {
    const { mode } = this.context.plan.measurement;
    if (mode.kind === "requests") return this.measureRequests(mode);
    if (mode.kind === "duration") return this.measureDuration(mode);
    if (mode.kind === "until-resolved") return this.measureUntilResolved(mode);
    return this.measureWindows(mode);
  }

  private async measureWindows(
    mode: Extract<Plan["measurement"]["mode"], { kind: "time-windows" | "count-windows" }>,
  ): Promise<LevelResult> {
    const { signal, plan, observer, peers } = this.context;
    const { latencyLimitMs, percentile } = plan.measurement;
    const judge = new StabilityJudge({
      toleranceRatio: mode.stabilityPct / 100,
      latencyLimitNs: latencyLimitMs === null ? undefined : latencyLimitMs * 1e6,
    });
    const recent: WindowResult[] = [];
    let trials = 0;
    while (trials < mode.maxTrials) {
      this.context.tokens?.resume();
      await this.waitForWindow(mode);
      if (signal.isStopped) break;
      const window = await this.windows.cut(this.clock.nowNs());
      this.context.checkFailures();
      trials++;
      recent.push(window);
      if (recent.length > STABILITY_WINDOWS) recent.shift();
      let isSettled = false;
      if (window.requestCount === 0) {
        judge.add(0, Number.POSITIVE_INFINITY);
        observer.onEmptyWindow?.(trials);
      } else {
        const latencyNs = stabilizingLatencyNs(window, percentile);
        judge.add(inferPerSec(window, this.batchSize), latencyNs);
        observer.onWindow?.(trials, window, latencyNs);
        isSettled = judge.isStable || judge.isOverLimit;
      }
      if (await peers.areAllStable(isSettled, signal)) {
        if (peers.count > 1) observer.onAllStable?.();
        break;
      }
    }
    if (signal.isStopped) return this.partial(recent, trials);
    return this.judged(recent, judge, trials);
  }

  private judged(windows: readonly WindowResult[], judge: StabilityJudge, trials: number): LevelResult {
    this.windowCount = windows.length;
    if (windows.some(({ requestCount }) => requestCount === 0)) throw new LevelError();
    const isLatencyUnstable = this.context.isAsync && !judge.isStable && judge.isThroughputStable;
    const isStable = judge.isStable || isLatencyUnstable;
    const window = mergeWindows(windows);
    const isOverLimit = isStable && this.isOverLimit(window);
    return this.result(isOverLimit ? "over-limit" : isStable ? "measured" : "unstable", window, trials, {
      isLatencyUnstable,
      instability: isStable ? undefined : this.instability(windows, judge, trials),
    });
  }

  private instability(windows: readonly WindowResult[], judge: StabilityJudge, trials: number): Instability {
    const { percentile } = this.context.plan.measurement;
    return {
      ...judge.spread,
      toleranceRatio: judge.toleranceRatio,
      trials,
      windows: windows.map((window) => ({
        inferPerSec: inferPerSec(window, this.batchSize),
        latencyNs: stabilizingLatencyNs(window, percentile),
        requestCount: window.requestCount,
      })),
      isThroughputOnly: this.context.isAsync,
    };
  }

  private async measureUntilResolved({ windowMs, maxMs }: ResolvedMode): Promise<LevelResult> {
    const { plan, signal, tokens, observer } = this.context;
    const { resolveLimits } = await import("./resolve-limits.ts");
    const windows: WindowResult[] = [];
    const nextWindow = async (trial: number): Promise<WindowResult | undefined> => {
      tokens?.resume();
      await sleepUnless(windowMs, signal.stopped, this.clock);
      if (signal.isStopped) return undefined;
      const window = await this.windows.cut(this.clock.nowNs());
      windows.push(window);
      if (window.requestCount === 0) observer.onEmptyWindow?.(trial);
      else observer.onWindow?.(trial, window, stabilizingLatencyNs(window, plan.measurement.percentile));
      return window;
    };
    let groupTokens: LevelResult["groupTokens"];
    const takeTokens = async () => {
      const taken = await tokens?.mergeLevel(1);
      groupTokens = addGroupTokens(groupTokens, taken?.groupTokens);
      return taken?.tokens;
    };
    const { level, batchSize } = this;
    const resolved = await resolveLimits({ plan, level, batchSize, windowMs, maxMs, nextWindow, takeTokens });
    if (resolved === undefined) return this.partial(windows, windows.length);
    const { limits } = resolved;
    const measured = this.result("measured", mergeWindows(windows), windows.length, { limits });
    if (resolved.tokens === undefined) return measured;
    return { ...measured, tokens: resolved.tokens, ...(groupTokens === undefined ? {} : { groupTokens }) };
  }

  private async measureRequests({ count, minDurationMs }: RequestsMode): Promise<LevelResult> {
    const { driver, signal, handOver } = this.context;
    if (handOver !== undefined && !handOver.isLast) {
      const sent = new Promise<void>((resolve) => {
        driver.onAllSent = resolve;
        if (driver.quota <= 0) resolve();
      });
      await handOver.prepare("measured");
      await Promise.race([sent, signal.stopped]);
      return this.cutAndChange(handOver);
    }
    if (minDurationMs !== undefined) {
      await sleepUnless(minDurationMs, signal.stopped, this.clock);
      driver.quota = Math.max(0, (count ?? 0) - this.windows.sentCount);
    }
    await Promise.race([driver.finished(), signal.stopped]);
    driver.drain();
    // Nothing happens after the last response, so the window ends with it.
    const { lastEndNs } = this.meter;
    const hasEnd = !signal.isStopped && lastEndNs > this.windows.startNs;
    const { startNs } = this.windows;
    const window = await this.windows.cut(hasEnd ? lastEndNs : this.clock.nowNs());
    const result = this.finish(window, []);
    const mlperf = await this.judgeMlperf({ count: count ?? 0, minDurationMs }, startNs);
    return mlperf === undefined ? result : { ...result, mlperf };
  }

  private get rules(): MlperfRules | undefined {
    const { load } = this.context.plan;
    return loadModeOf(load).mlperf?.(load);
  }

  private async judgeMlperf(
    { count, minDurationMs = 0 }: { count: number; minDurationMs: number | undefined },
    startNs: number,
  ): Promise<LevelResult["mlperf"]> {
    const { rules, meter } = this;
    if (rules === undefined || meter.mlperf === undefined) return undefined;
    const { judgeMlperf } = await import("../../measure/mlperf/judge-mlperf.ts");
    const required = { minQueryCount: count / rules.samplesPerQuery, minDurationNs: minDurationMs * 1e6 };
    return judgeMlperf(rules, required, meter.mlperf.sample(), startNs);
  }

  private async measureDuration({ durationMs, graceMs }: DurationMode): Promise<LevelResult> {
    const { driver, signal, handOver } = this.context;
    const { timeline } = this.meter;
    const stopNs = this.windows.startNs + durationMs * 1e6;
    await sleepUnless(Math.max(0, (stopNs - this.clock.nowNs()) / 1e6), signal.stopped, this.clock);
    if (handOver !== undefined) {
      if (!signal.isStopped) await handOver.prepare("measured");
      return this.cutAndChange(handOver);
    }
    const laneCount = driver.activeLanes;
    const cancelled = graceMs === undefined ? undefined : await this.awaitLast(graceMs);
    driver.drain();
    this.meter.timeline = undefined;
    const isWhole = graceMs !== undefined && !signal.isStopped;
    // After sending has stopped, only responses extend the window, not the wait for missing ones.
    const endNs = isWhole ? Math.max(stopNs, this.meter.lastEndNs) : this.clock.nowNs();
    const buckets = timeline?.finish(endNs, this.windows.openSentNs()) ?? [];
    const afterEndNs = cancelled === undefined ? 0 : cancelled.count * Math.max(0, cancelled.atNs - endNs);
    return this.finish(await this.windows.cut(endNs, { laneCount, afterEndNs }), buckets);
  }

  /** Ends the only window and changes to the next load at the same moment. */
  private async cutAndChange(handOver: HandOver): Promise<LevelResult> {
    const { driver } = this.context;
    driver.onAllSent = undefined;
    driver.drain();
    const endNs = this.clock.nowNs();
    const buckets = this.meter.timeline?.finish(endNs, this.windows.openSentNs()) ?? [];
    this.meter.timeline = undefined;
    this.delayedByLimit = driver.delayedByLimit;
    this.hasHandedOver = true;
    // The window ends now; only the server's counters are awaited.
    const cutting = this.windows.cut(endNs);
    handOver.change(endNs, true);
    return this.finish(await cutting, buckets);
  }

  /** Stops sending and waits for outstanding requests, up to the grace period. Returns the number of cancelled requests and the time. */
  private async awaitLast(graceMs: number): Promise<{ readonly count: number; readonly atNs: number } | undefined> {
    const { driver, signal } = this.context;
    this.delayedByLimit = driver.delayedByLimit;
    await sleepUnless(graceMs, Promise.race([driver.stop(), signal.stopped]), this.clock);
    if (driver.outstanding === 0 || signal.isStopped) return undefined;
    const cancelled = { count: driver.outstanding, atNs: this.clock.nowNs() };
    driver.cancelAll(
      `cancelled without an answer at the end of the grace period of ${formatDurationNs(graceMs * 1e6)}`,
    );
    return cancelled;
  }

  /** Returns the result of a level measured in one window. */
  private finish(window: WindowResult, timeline: readonly TimelineBucket[]): LevelResult {
    const { signal } = this.context;
    if (signal.isStopped) return this.result("partial", window, 1, { timeline });
    // A phase may be shorter than any response.
    const isEmpty = window.requestCount + window.failedCount + window.cancelledCount === 0;
    if (isEmpty && this.context.handOver === undefined) throw new LevelError();
    const { percentile } = this.context.plan.measurement;
    if (window.requestCount > 0) this.context.observer.onWindow?.(1, window, stabilizingLatencyNs(window, percentile));
    return this.result(this.isOverLimit(window) ? "over-limit" : "measured", window, 1, { timeline });
  }

  /** Returns the result of a stopped run: the recent windows and the current one. */
  private async partial(recent: readonly WindowResult[], trials: number): Promise<LevelResult> {
    const last = await this.windows.cut(this.clock.nowNs());
    this.windowCount = recent.length + 1;
    // Windows without responses are part of the measured time.
    return this.result("partial", mergeWindows([...recent, last]), trials, {});
  }

  private result(
    outcome: LevelResult["outcome"],
    window: WindowResult,
    trials: number,
    rest: Partial<LevelResult>,
  ): LevelResult {
    const delayedByLimit = this.hasHandedOver
      ? this.delayedByLimit
      : (this.delayedByLimit ?? this.context.driver.delayedByLimit);
    return {
      unit: this.context.unit,
      level: this.level,
      outcome,
      window,
      trials,
      instability: undefined,
      isLatencyUnstable: false,
      hasServerCounters: this.windows.hasServerCounters,
      timeline: [],
      ...(delayedByLimit === undefined ? {} : { delayedByLimit }),
      ...rest,
    };
  }

  private isOverLimit(window: WindowResult): boolean {
    const { latencyLimitMs, percentile } = this.context.plan.measurement;
    if (latencyLimitMs === null || window.requestCount === 0) return false;
    return Math.floor(stabilizingLatencyNs(window, percentile) / 1e6) >= latencyLimitMs;
  }

  private async waitForWindow(
    mode: { kind: "time-windows"; windowMs: number } | { kind: "count-windows"; requestsPerWindow: number },
  ): Promise<void> {
    const { driver, signal } = this.context;
    if (mode.kind === "time-windows") {
      await sleepUnless(mode.windowMs * WINDOW_STRETCH, signal.stopped, this.clock);
      return;
    }
    do {
      await sleepUnless(COUNT_POLL_MS, signal.stopped, this.clock);
      driver.drain();
      this.context.checkFailures();
    } while (!signal.isStopped && this.meter.collected < mode.requestsPerWindow);
  }

  private get clock(): Clock {
    return this.context.driver.clock;
  }

  private get batchSize(): number {
    return this.context.session.service.batchSize;
  }
}

/** A level in which no request succeeded. */
export class LevelError extends Error {
  override readonly name = "LevelError";

  constructor() {
    super("no request succeeded while a level was measured");
  }
}
