import { canLanesWait, type Drive, isScheduled } from "../../load/drive.ts";
import { levelAt } from "../../load/levels.ts";
import type { PreparedPhase } from "../../load/load-mode.ts";
import { goodputsOf } from "../../measure/tokens/goodput.ts";
import { UserError } from "../../plan/problem.ts";
import { planOfPhase } from "../../registry/load-modes.ts";
import type { LevelResult, PreparedRun, RunResult } from "../../result/run-result.ts";
import { nowNs } from "../../runtime/clock.ts";
import { endStartUp } from "../../runtime/runtime.ts";
import type { ServerCounters } from "../../service/statistics.ts";
import { hostExhausted, limitReached, watchMemory } from "../host-limits.ts";
import { FailurePolicy } from "../judge/failure-policy.ts";
import { callModeOf } from "../lanes.ts";
import { cancelReason, composeResult, type RunEnding, serverDelta, shutDown } from "../run-ending.ts";
import type { ConductorParts } from "../run-parts.ts";
import type { LoadSender, LoadStep } from "../send/messages.ts";
import type { EarlyAbort } from "./early-abort.ts";
import { LevelRun } from "./level.ts";
import type { LevelContext } from "./level-context.ts";
import { repeatLevel } from "./level-repeats.ts";
import type { LevelVerdict, RunLevel } from "./level-search.ts";
import { searchLevels } from "./level-search.ts";
import { mlperfRulesOf } from "./modes/requests.ts";
import type { PhaseRun } from "./phase-run.ts";
import { explainEnd, toRunError } from "./run-error.ts";
import { isFromNothing, measureSteady } from "./steady-level.ts";
import type { WarmUpTally } from "./warm-up.ts";

/** Decides what a run does once the server has reported its model: warm-up, phases, levels and their search. */
export class Conductor {
  private readonly parts: ConductorParts;
  private readonly sender: LoadSender;
  private readonly policy: FailurePolicy;
  private readonly prepared: PreparedRun;
  private readonly levels: LevelResult[] = [];
  private abort: EarlyAbort | undefined;
  private phaseRun: PhaseRun | undefined;
  private isSending = false;
  private isAnnounced = false;
  private isChecked = false;
  /** Number of levels measured so far, repeated ones included. */
  private measuredCount = 0;
  private readonly warmup = { sentCount: 0, failedCount: 0 };
  private readonly manyVersioned = new Set<string>();
  /** Start of the run, after a rehearsal. */
  private startNs: number;

  constructor(parts: ConductorParts) {
    const { plan, observer, signal, load, session, hostLimits } = parts;
    this.parts = parts;
    this.startNs = parts.startNs;
    this.prepared = {
      plan,
      service: session.service,
      dataset: session.dataset,
      levelUnit: load.search.unit,
      warnings: session.warnings,
      callMode: callModeOf(plan, session.service),
      laneCount: parts.laneCount,
      requestCount: this.requestCount(),
    };
    this.sender = parts.createSender({
      records: (records, count) => {
        this.abort?.add(records, count);
        observer.onBatch?.(records, count);
      },
      extracted: (values, atNs, group) => this.abort?.addExtracted(values, atNs, group),
      failed: (failure, lane, sentNs) => {
        this.policy.add(failure, lane, sentNs);
        if (failure.isHostExhausted === true) signal.fail(hostExhausted(hostLimits));
      },
      limited: (wanted) => signal.fail(limitReached(hostLimits, wanted)),
      broken: (error) => signal.fail(toRunError(error)),
    });
    const { sender } = this;
    this.policy = new FailurePolicy(plan, signal, () => sender.state());
    observer.onProgress?.({ counts: () => sender.counts(), drainRecords: () => sender.drainRecords() });
  }

  async execute(): Promise<RunResult> {
    const { plan, observer, signal, load, session, peers, hasTokens } = this.parts;
    let before: ServerCounters[] | undefined;
    const unwatch = watchMemory(this.parts.hostLimits, (error) => signal.fail(error));
    // An ended run sends nothing more while it reads counters and waits for answers.
    void signal.stopped.then(() => this.sender.setQuota(0));
    // In the next turn, after the level has ended.
    void signal.interrupted.then(() => setImmediate(() => this.sender.cancel(cancelReason(signal) ?? "", "unsent")));
    try {
      const first = levelAt(load.search.levels, 0);
      if (first !== undefined) this.openAhead(first);
      await this.parts.rehearse();
      this.startNs = nowNs();
      if (hasTokens)
        this.sender.beginTokens(this.startNs, {
          keepsRequests: observer.onTokens !== undefined,
          keepsRows: mlperfRulesOf(plan) !== undefined,
          goodputs: goodputsOf(plan),
        });
      if (plan.behaviour?.skipsRunCounters !== true) before = await session.counters();
      await this.watchAssertions();
      if (load.phases === undefined) await this.runLevels();
      else await this.runPhases(load.phases);
      // Keep up the load until then, because other ranks still measure.
      if (!signal.isStopped) await peers.waitForEnd(signal);
    } catch (error) {
      if (error instanceof UserError) throw error;
      signal.fail(explainEnd(error, this.sender.state(), this.policy.log));
    }
    await shutDown(this.ending, this.isSending);
    unwatch();
    return this.toResult(await serverDelta(this.ending, before));
  }

  /** Watches the assertions that may end the run. */
  private async watchAssertions(): Promise<void> {
    const { parts, sender } = this;
    if (parts.plan.assertions.every(({ abortAfterMs }) => abortAfterMs === undefined)) return;
    const { EarlyAbort } = await import("./early-abort.ts");
    this.abort = new EarlyAbort({ ...parts, sender, fail: (error) => this.fail(error) });
  }

  private fail(error: unknown): void {
    this.parts.signal.fail(toRunError(error));
  }

  private runLevels(): Promise<void> {
    const { load, signal, plan } = this.parts;
    const { behaviour = {}, measurement } = plan;
    const isConfirmed = behaviour.measuresLevelsOnce !== true && measurement.latencyLimitMs !== null;
    const runLevel: RunLevel = (level, repeat) => this.runLevel(level, repeat);
    return searchLevels(load.search, signal, runLevel, { isConfirmed });
  }

  private async runPhases(phases: readonly PreparedPhase[]): Promise<void> {
    const { PhaseRun } = await import("./phase-run.ts");
    const { sender, policy, abort, warmup, startNs } = this;
    const { plan, signal, observer, clock, poller } = this.parts;
    this.isSending = true;
    this.phaseRun = new PhaseRun({
      ...{ phases, sender, clock, signal, abort, observer, policy, warmup, startNs },
      mode: plan.measurement.mode,
      contextOf: ({ phaseIndex, phase, level, levelIndex }, handOver) => ({
        ...this.contextOf(phase.load.drive(level, [], levelIndex)),
        plan: planOfPhase(plan, phaseIndex),
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
    await this.phaseRun.execute().finally(() => poller?.stop());
  }

  /** Opens all connections early, when the window cannot begin without them. */
  private openAhead(level: number): void {
    if (this.isWhole) void this.sender.prepare(this.stepAt(level));
  }

  /** Whether no request may be in flight at the start of a measurement, so that it contains complete requests only. */
  private get isWhole(): boolean {
    const { mode } = this.parts.plan.measurement;
    return mode.kind === "requests" || (mode.kind === "duration" && mode.graceMs !== undefined);
  }

  private stepAt(level: number): LoadStep {
    return { level, draw: this.measuredCount };
  }

  private driveAt(level: number): Drive {
    const { load, timestampsMs } = this.parts;
    return load.drive(level, timestampsMs, this.measuredCount);
  }

  /** Returns the total number of requests; undefined when time decides. */
  private requestCount(): number | undefined {
    const { mode } = this.parts.plan.measurement;
    if (mode.kind !== "requests" || mode.minDurationMs !== undefined) return undefined;
    return mode.count ?? this.parts.turnCount ?? this.parts.timestampsMs.length;
  }

  private async runLevel(level: number, repeat: number): Promise<LevelVerdict> {
    const { plan, peers, signal, observer, poller } = this.parts;
    await peers.waitForAll(signal);
    if (!this.sender.admits(this.stepAt(level))) this.announce();
    const { warmupRequests, warmupMs = 0 } = plan.measurement;
    const isWarmedUp = warmupRequests + warmupMs > 0;
    const isDrained = isFromNothing(plan, this.isWhole, isWarmedUp);
    if (isDrained && isWarmedUp && !signal.isStopped) await this.warmUp(level, warmupRequests, warmupMs);
    // Announce the run even when the very first request has already failed.
    if (signal.isInterrupted || (signal.isStopped && this.isAnnounced)) return "ended";
    const measuring = isDrained ? this.measureLevel(level) : this.measureSteady(level, warmupRequests, warmupMs);
    const result = await measuring.finally(() => poller?.stop());
    if (result === undefined) return "ended";
    this.policy.checkRatio();
    this.measuredCount++;
    if (repeat === 0) this.levels.push(result);
    else repeatLevel(this.levels, result);
    observer.onLevelEnd?.(result);
    if (result.outcome === "over-limit" || (result.limits !== undefined && result.limits.state !== "kept"))
      return "over";
    return result.outcome === "measured" ? "kept" : "ended";
  }

  private async measureSteady(level: number, count: number, durationMs: number): Promise<LevelResult | undefined> {
    const { sender, policy } = this;
    const { plan, load, signal, clock, observer } = this.parts;
    const run = new LevelRun(this.contextOf(this.driveAt(level)), level);
    this.isSending = true;
    const { mode } = plan.measurement;
    const isFirst = this.measuredCount === 0 && mode.kind === "duration";
    return measureSteady({
      firstMs: isFirst ? mode.durationMs : undefined,
      ...{ run, sender, clock, policy, signal, step: this.stepAt(level), count, durationMs },
      quota: this.requestCount() ?? Number.POSITIVE_INFINITY,
      onStart: (isWarmup) => {
        this.announce();
        observer.onLevelStart?.(load.search.unit, level, isWarmup);
        return this.checkOnce();
      },
      onLead: (tally) => this.addWarmup(tally),
    });
  }

  private async measureLevel(level: number): Promise<LevelResult> {
    const { sender } = this;
    const { load, signal, observer } = this.parts;
    const { unit } = load.search;
    const step = this.stepAt(level);
    const run = new LevelRun(this.contextOf(this.driveAt(level)), level);
    this.isSending = true;
    sender.setWarmup(false);
    if (this.isWhole) {
      // Send nothing before the window begins, and nothing after the last requested request.
      await Promise.race([sender.stop(), signal.stopped]);
      const ready = sender.prepare(step);
      this.announce();
      observer.onLevelStart?.(unit, level, false);
      await run.begin(ready);
      const quota = this.requestCount() ?? Number.POSITIVE_INFINITY;
      await Promise.race([sender.start(step, quota), signal.stopped]);
      const result = await run.measure();
      await this.checkOnce();
      return result;
    }
    // Changing schedules waits for outstanding requests, which may never be answered.
    await Promise.race([sender.start(step, Number.POSITIVE_INFINITY), signal.stopped]);
    this.announce();
    observer.onLevelStart?.(unit, level, false);
    await this.checkOnce();
    await run.begin(undefined);
    return run.measure();
  }

  private contextOf(drive: Drive): LevelContext {
    const { sender, abort, parts } = this;
    return {
      ...parts,
      sender,
      abort,
      unit: parts.load.search.unit,
      runStartNs: this.startNs,
      isScheduled: isScheduled(drive),
      canLanesWait: canLanesWait(drive),
      isAsync: this.prepared.callMode === "async",
      roundSize: drive.kind === "closed" ? drive.concurrency : undefined,
      checkFailures: () => this.policy.checkRatio(),
      fail: (error) => this.fail(error),
      warnOfVersions: (model) => this.warnOfVersions(model),
    };
  }

  private warnOfVersions(model: string): void {
    if (this.manyVersioned.has(model)) return;
    this.manyVersioned.add(model);
    this.parts.observer.onWarning?.({ kind: "many-versions", model });
  }

  /** Announces the run once, while connections open or after the load has begun. */
  private announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    endStartUp();
    this.parts.observer.onPrepared?.(this.prepared);
  }

  /** Validates the plan once, outside measured time. */
  private async checkOnce(): Promise<void> {
    if (this.isChecked) return;
    this.isChecked = true;
    await this.parts.check();
  }

  private async warmUp(level: number, count: number, durationMs: number): Promise<void> {
    const { sender, policy } = this;
    const { load, signal, clock, observer } = this.parts;
    const { warmUp, warmUpStep } = await import("./warm-up.ts");
    const step = warmUpStep(this.stepAt(level), count, durationMs);
    const drive = this.driveAt(level);
    const shown = drive.kind === "closed" ? Math.min(drive.concurrency, step.mostRequests ?? level) : level;
    this.announce();
    observer.onLevelStart?.(load.search.unit, shown, true);
    this.isSending = true;
    sender.warmUpTokens();
    this.addWarmup(await warmUp({ sender, clock, policy, signal, step, count, durationMs }));
  }

  private addWarmup({ sentCount, failedCount }: WarmUpTally): void {
    this.warmup.sentCount += sentCount;
    this.warmup.failedCount += failedCount;
  }

  private get ending(): RunEnding {
    const { sender, policy, abort, prepared } = this;
    const { session, signal, load } = this.parts;
    return { session, sender, signal, policy, abort, search: load.search, prepared };
  }

  private toResult(server: RunResult["server"]): RunResult {
    const { levels, phaseRun, warmup, startNs } = this;
    return composeResult(this.ending, { levels, phased: phaseRun?.finish(), warmup, server, startNs });
  }
}
