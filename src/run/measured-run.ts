import { canLanesWait, type Drive, isScheduled } from "../load/drive.ts";
import { levelAt } from "../load/levels.ts";
import type { PreparedLoad, PreparedPhase } from "../load/load-mode.ts";
import type { RecordColumns } from "../measure/records.ts";
import { goodputsOf } from "../measure/tokens/goodput.ts";
import type { RunTokens } from "../measure/tokens/run-tokens.ts";
import type { Plan } from "../plan/plan.ts";
import { UserError } from "../plan/problem.ts";
import { loadModeOf, planOfPhase } from "../registry/load-modes.ts";
import { targetKindOf } from "../registry/service-kinds.ts";
import type { RunObserver } from "../result/observer.ts";
import type { LevelResult, PreparedRun, RunResult } from "../result/run-result.ts";
import { nowNs, systemClock } from "../runtime/clock.ts";
import { endStartUp } from "../runtime/runtime.ts";
import type { ServerCounters } from "../service/statistics.ts";
import { HealthMonitor } from "../telemetry/health-monitor.ts";
import type { MetricsPoller } from "../telemetry/metrics-poller.ts";
import { LevelRun } from "./conduct/level.ts";
import type { LevelContext } from "./conduct/level-context.ts";
import { LevelMeter } from "./conduct/level-meter.ts";
import { repeatLevel } from "./conduct/level-repeats.ts";
import { searchLevels } from "./conduct/level-search.ts";
import { mlperfRulesOf } from "./conduct/modes/requests.ts";
import type { PhaseRun } from "./conduct/phase-run.ts";
import { progressOf } from "./conduct/progress.ts";
import { explainEnd, toRunError } from "./conduct/run-error.ts";
import type { LevelVerdict, RunLevel } from "./conduct/run-level.ts";
import { isFromNothing, measureSteady } from "./conduct/steady-level.ts";
import { hostExhausted, limitReached, watchMemory } from "./host-limits.ts";
import { FailurePolicy } from "./judge/failure-policy.ts";
import { callModeOf } from "./lanes.ts";
import { createJudge } from "./mix/create-judge.ts";
import type { Session } from "./open/session.ts";
import { cancelReason, composeResult, type RunEnding, serverDelta, shutDown } from "./run-ending.ts";
import type { RunParts } from "./run-parts.ts";
import type { RunSignal } from "./run-signal.ts";
import type { Canceller } from "./send/canceller.ts";
import type { Driver } from "./send/driver.ts";
import type { DriverWork } from "./send/driver-work.ts";
import { type SessionFeed, sessionsOf } from "./send/session-feed.ts";

/** A run after the server has reported its model: warm-up, levels and search. */
export class MeasuredRun {
  private readonly parts: RunParts;
  private readonly plan: Plan;
  private readonly observer: RunObserver;
  private readonly signal: RunSignal;
  private readonly load: PreparedLoad;
  private readonly session: Session;
  private readonly sessions: SessionFeed | undefined;
  private readonly meter = new LevelMeter();
  private readonly health: HealthMonitor;
  private readonly policy: FailurePolicy;
  private readonly driver: Driver;
  private readonly canceller: Canceller | undefined;
  private readonly poller: MetricsPoller | undefined;
  private readonly tokens: RunTokens | undefined;
  private readonly prepared: PreparedRun;
  private readonly levels: LevelResult[] = [];
  /** Due time of each step, when the load follows the data. */
  private readonly timestampsMs: number[] = [];
  private phaseRun: PhaseRun | undefined;
  private isDriverOpen = false;
  private isAnnounced = false;
  private isChecked = false;
  /** Number of levels measured so far, repeated ones included. */
  private measuredCount = 0;
  private readonly warmup = { sentCount: 0, failedCount: 0 };
  private readonly manyVersioned = new Set<string>();
  /** Start of the run, after a rehearsal. */
  private startNs: number;

  constructor(parts: RunParts) {
    const { plan, observer, signal, load, session, feed, driver, canceller, poller, tokens } = parts;
    this.parts = parts;
    this.startNs = parts.startNs;
    this.tokens = tokens;
    this.plan = plan;
    this.health = new HealthMonitor(systemClock, targetKindOf(this.plan.target).isInProcess === true);
    this.canceller = canceller;
    this.poller = poller;
    this.observer = observer;
    this.signal = signal;
    this.load = load;
    this.session = session;
    this.sessions = sessionsOf(feed);
    if (loadModeOf(plan.load).dataOrder === "at-times")
      for (const { timestampMs = 0 } of session.dataset.streams[0] ?? []) this.timestampsMs.push(timestampMs);
    this.prepared = {
      plan,
      service: session.service,
      dataset: session.dataset,
      levelUnit: load.search.unit,
      warnings: session.warnings,
      callMode: callModeOf(plan, session.service),
      laneCount: driver.laneCount,
      requestCount: this.requestCount(),
    };
    const judge = createJudge(parts, (values, atNs, group) => this.meter.addExtracted(values, atNs, group));
    this.driver = driver;
    this.policy = new FailurePolicy(plan, signal, driver.ended, driver);
    const judgeCall: DriverWork["judge"] = (call, slots) => judge.judge(call, slots);
    driver.setWork({
      feed,
      groups: parts.groups,
      needsBodies: judge.needsBodies,
      createCheck: judge.createCheck,
      canWait: judge.canWait,
      readsFirst: session.service.readsFirst === true,
      onRecords: (records: RecordColumns, count: number) => {
        this.meter.add(records, count);
        observer.onBatch?.(records, count);
      },
      judge: this.sessions?.follow(judgeCall) ?? judgeCall,
      onFailure: (failure, lane, sentNs) => {
        this.policy.add(failure, lane, sentNs);
        if (failure.isHostExhausted === true) this.signal.fail(hostExhausted(parts.hostLimits));
      },
      onLimit: (wanted) => this.signal.fail(limitReached(parts.hostLimits, wanted)),
      onError: (error) => this.signal.fail(toRunError(error)),
    });
    observer.onProgress?.(progressOf(driver));
  }

  async execute(): Promise<RunResult> {
    let before: ServerCounters[] | undefined;
    const unwatch = watchMemory(this.parts.hostLimits, (error) => this.signal.fail(error));
    // An ended run sends nothing more while it reads counters and waits for answers.
    void this.signal.stopped.then(() => this.driver.endSending());
    // In the next turn, after the level has ended.
    void this.signal.interrupted.then(() =>
      setImmediate(() => this.driver.cancel(cancelReason(this.signal) ?? "", "unsent")),
    );
    try {
      const first = levelAt(this.load.search.levels, 0);
      if (first !== undefined) this.openAhead(first);
      await this.parts.rehearse();
      this.startNs = nowNs();
      this.tokens?.begin(this.plan, this.startNs, {
        keepsRequests: this.observer.onTokens !== undefined,
        keepsRows: mlperfRulesOf(this.plan) !== undefined,
        goodputs: goodputsOf(this.plan),
      });
      const { behaviour = {} } = this.plan;
      if (behaviour.skipsRunCounters !== true) before = await this.session.counters();
      await this.meter.watch(this.parts);
      if (this.load.phases === undefined) await this.runLevels();
      else await this.runPhases(this.load.phases);
      // Keep up the load until then, because other ranks still measure.
      if (!this.signal.isStopped) await this.parts.peers.waitForEnd(this.signal);
    } catch (error) {
      if (error instanceof UserError) throw error;
      this.signal.fail(explainEnd(error, this.driver.ended, this.policy.log));
    }
    await shutDown(this.ending, this.isDriverOpen);
    this.health.stop();
    unwatch();
    return this.toResult(await serverDelta(this.ending, before));
  }

  private runLevels(): Promise<void> {
    const { behaviour = {}, measurement } = this.plan;
    const isConfirmed = behaviour.measuresLevelsOnce !== true && measurement.latencyLimitMs !== null;
    const runLevel: RunLevel = (level, repeat) => this.runLevel(level, repeat);
    return searchLevels(this.load.search, this.signal, runLevel, { isConfirmed });
  }

  private async runPhases(phases: readonly PreparedPhase[]): Promise<void> {
    const { PhaseRun } = await import("./conduct/phase-run.ts");
    const { driver, signal, meter, observer, policy, canceller } = this;
    this.isDriverOpen = true;
    this.phaseRun = new PhaseRun({
      ...{ phases, driver, signal, meter, observer, policy, canceller, warmup: this.warmup },
      mode: this.plan.measurement.mode,
      startNs: this.startNs,
      contextOf: ({ phaseIndex, phase, drive }, handOver) => ({
        ...this.contextOf(drive),
        plan: planOfPhase(this.plan, phaseIndex),
        unit: phase.load.search.unit,
        handOver,
      }),
      onBegun: () => {
        this.announce();
        return this.checkOnce();
      },
      onResult: (result) => {
        policy.checkRatio();
        this.levels.push(result);
        observer.onLevelEnd?.(result);
      },
    });
    await this.phaseRun.execute().finally(() => this.poller?.stop());
  }

  /** Opens all connections early, when the window cannot begin without them. */
  private openAhead(level: number): void {
    if (this.isWhole) void this.driver.prepare(this.driveAt(level));
  }

  /** Whether no request may be in flight at the start of a measurement, so that it contains complete requests only. */
  private get isWhole(): boolean {
    const { mode } = this.plan.measurement;
    return mode.kind === "requests" || (mode.kind === "duration" && mode.graceMs !== undefined);
  }

  private driveAt(level: number): Drive {
    return this.load.drive(level, this.timestampsMs, this.measuredCount);
  }

  /** Returns the total number of requests; undefined when time decides. */
  private requestCount(): number | undefined {
    const { mode } = this.plan.measurement;
    if (mode.kind !== "requests" || mode.minDurationMs !== undefined) return undefined;
    return mode.count ?? this.sessions?.turnCount ?? this.timestampsMs.length;
  }

  private async runLevel(level: number, repeat: number): Promise<LevelVerdict> {
    await this.parts.peers.waitForAll(this.signal);
    if (!this.driver.admits(this.driveAt(level))) this.announce();
    const { signal } = this;
    const { warmupRequests, warmupMs = 0 } = this.plan.measurement;
    const isWarmedUp = warmupRequests + warmupMs > 0;
    const isDrained = isFromNothing(this.plan, this.isWhole, isWarmedUp);
    if (isDrained && isWarmedUp && !signal.isStopped) await this.warmUp(level, warmupRequests, warmupMs);
    // Announce the run even when the very first request has already failed.
    if (signal.isInterrupted || (signal.isStopped && this.isAnnounced)) return "ended";
    const measuring = isDrained ? this.measureLevel(level) : this.measureSteady(level, warmupRequests, warmupMs);
    const result = await measuring.finally(() => this.poller?.stop());
    if (result === undefined) return "ended";
    this.policy.checkRatio();
    this.measuredCount++;
    if (repeat === 0) this.levels.push(result);
    else repeatLevel(this.levels, result);
    this.observer.onLevelEnd?.(result);
    if (result.outcome === "over-limit" || (result.limits !== undefined && result.limits.state !== "kept"))
      return "over";
    return result.outcome === "measured" ? "kept" : "ended";
  }

  private async measureSteady(level: number, count: number, durationMs: number): Promise<LevelResult | undefined> {
    const { driver, policy, canceller, signal, observer } = this;
    const { unit } = this.load.search;
    const drive = this.driveAt(level);
    const run = new LevelRun(this.contextOf(drive), this.meter, level);
    this.isDriverOpen = true;
    const { mode } = this.plan.measurement;
    const isFirst = this.measuredCount === 0 && mode.kind === "duration";
    return measureSteady({
      firstMs: isFirst ? mode.durationMs : undefined,
      ...{ run, driver, policy, canceller, signal, drive, count, durationMs },
      quota: this.requestCount() ?? Number.POSITIVE_INFINITY,
      onStart: (isWarmup) => {
        this.announce();
        observer.onLevelStart?.(unit, level, isWarmup);
        return this.checkOnce();
      },
      onLead: ({ sentCount, failedCount }) => {
        this.warmup.sentCount += sentCount;
        this.warmup.failedCount += failedCount;
      },
    });
  }

  private async measureLevel(level: number): Promise<LevelResult> {
    const { unit } = this.load.search;
    const drive = this.driveAt(level);
    const run = new LevelRun(this.contextOf(drive), this.meter, level);
    this.isDriverOpen = true;
    if (this.canceller !== undefined) this.canceller.isEnabled = true;
    if (this.isWhole) {
      // Send nothing before the window begins, and nothing after the last requested request.
      await Promise.race([this.driver.stop(), this.signal.stopped]);
      const ready = this.driver.prepare(drive);
      this.announce();
      this.observer.onLevelStart?.(unit, level, false);
      await run.begin(ready);
      const quota = this.requestCount() ?? Number.POSITIVE_INFINITY;
      await Promise.race([this.driver.start(drive, quota), this.signal.stopped]);
      const result = await run.measure();
      await this.checkOnce();
      return result;
    }
    // Changing schedules waits for outstanding requests, which may never be answered.
    await Promise.race([this.driver.start(drive, Number.POSITIVE_INFINITY), this.signal.stopped]);
    this.announce();
    this.observer.onLevelStart?.(unit, level, false);
    await this.checkOnce();
    await run.begin(undefined);
    return run.measure();
  }

  private contextOf(drive: Drive): LevelContext {
    return {
      plan: this.plan,
      session: this.session,
      groups: this.parts.groups,
      driver: this.driver,
      health: this.health,
      signal: this.signal,
      peers: this.parts.peers,
      observer: this.observer,
      poller: this.poller,
      tokens: this.tokens,
      unit: this.load.search.unit,
      runStartNs: this.startNs,
      isScheduled: isScheduled(drive),
      canLanesWait: canLanesWait(drive),
      isAsync: this.prepared.callMode === "async",
      roundSize: drive.kind === "closed" ? drive.concurrency : undefined,
      checkFailures: () => this.policy.checkRatio(),
      fail: (error) => this.signal.fail(toRunError(error)),
      warnOfVersions: (model) => this.warnOfVersions(model),
    };
  }

  private warnOfVersions(model: string): void {
    if (this.manyVersioned.has(model)) return;
    this.manyVersioned.add(model);
    this.observer.onWarning?.({ kind: "many-versions", model });
  }

  /** Announces the run once, while connections open or after the load has begun. */
  private announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    endStartUp();
    this.observer.onPrepared?.(this.prepared);
  }

  /** Validates the plan once, outside measured time. */
  private async checkOnce(): Promise<void> {
    if (this.isChecked) return;
    this.isChecked = true;
    await this.parts.check();
  }

  private async warmUp(level: number, count: number, durationMs: number): Promise<void> {
    const { driver, policy, canceller, signal } = this;
    const { warmUp, warmUpDrive } = await import("./conduct/warm-up.ts");
    const drive = warmUpDrive(this.driveAt(level), count, durationMs);
    this.announce();
    this.observer.onLevelStart?.(this.load.search.unit, "concurrency" in drive ? drive.concurrency : level, true);
    this.isDriverOpen = true;
    this.tokens?.warmUp();
    const { sentCount, failedCount } = await warmUp({ driver, policy, canceller, signal, drive, count, durationMs });
    this.warmup.sentCount += sentCount;
    this.warmup.failedCount += failedCount;
  }

  private get ending(): RunEnding {
    const { session, driver, signal, policy, meter, load, prepared } = this;
    return { session, driver, signal, policy, meter, search: load.search, prepared };
  }

  private toResult(server: RunResult["server"]): RunResult {
    const { levels, phaseRun, warmup, sessions, startNs } = this;
    return composeResult(this.ending, { levels, phased: phaseRun?.finish(), warmup, sessions, server, startNs });
  }
}
