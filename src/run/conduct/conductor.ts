import { canLanesWait, isScheduled, roundSizeOf } from "../../load/drive.ts";
import { hasPhases } from "../../load/phases.ts";
import { goodputsOf } from "../../measure/good-requests.ts";
import { deriveMetric } from "../../measure/metrics/read-metric.ts";
import type { BeginOptions } from "../../measure/tokens/run-tokens.ts";
import { defined } from "../../plan/objects.ts";
import { RunError, UserError } from "../../plan/problem.ts";
import { mlperfRulesOf, planOfPhase } from "../../registry/load-modes.ts";
import { addLevel, findMaxOf } from "../../result/found-levels.ts";
import type { LevelResult, PreparedRun, RunResult } from "../../result/run-result.ts";
import { nowNs } from "../../runtime/clock.ts";
import { endStartUp } from "../../runtime/runtime.ts";
import type { ServerCounters } from "../../service/server-counters.ts";
import { hostExhausted, limitReached, warnOfLevels, watchMemory } from "../host-limits.ts";
import { FailureLimits } from "../judge/failure-limits.ts";
import { watchSilence } from "../judge/silence.ts";
import { callModeOf } from "../lanes.ts";
import { cancelReason, describeEnd, type RunEnding, serverDelta, shutDown } from "../run-ending.ts";
import type { ConductorParts } from "../run-parts.ts";
import type { ClosedSender, LoadSender } from "../send/messages.ts";
import { ContinuousPhases } from "./continuous-phases.ts";
import { EarlyAbort, mayAbort } from "./early-abort.ts";
import type { HandOver, LevelContext } from "./level-context.ts";
import type { LevelHost, LevelSequence } from "./level-sequence.ts";
import { explainEnd, toRunError } from "./run-error.ts";
import { SeparateLevels } from "./separate-levels.ts";
import { runSteps, Step, withinOf } from "./step.ts";
import type { WarmUpTally } from "./warm-up.ts";

/** Conducts a run once the server has reported its model: warm-up, phases, levels and their search. */
export class Conductor implements LevelHost {
  readonly parts: ConductorParts;
  readonly sender: LoadSender;
  readonly failureLimits: FailureLimits;
  private readonly prepared: PreparedRun;
  private readonly levels: LevelResult[] = [];
  abort: EarlyAbort | undefined;
  private phased: ContinuousPhases | undefined;
  private isSending = false;
  isAnnounced = false;
  private isChecked = false;
  private readonly warmup = { sentCount: 0, failedCount: 0 };
  private readonly manyVersioned = new Set<string>();
  /** Start of the run, after a rehearsal. */
  startNs: number;

  constructor(parts: ConductorParts) {
    const { plan, observer, signal, load, session, hostLimits, senderLimits = hostLimits } = parts;
    this.parts = parts;
    this.startNs = parts.startNs;
    this.prepared = {
      plan,
      service: session.service,
      dataset: session.dataset,
      levelUnit: load.search.unit,
      warnings: [...session.warnings, ...warnOfLevels(senderLimits, load.search)],
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
        this.failureLimits.add(failure, lane, sentNs);
        if (failure.isHostExhausted === true) signal.fail(hostExhausted(senderLimits, failure));
      },
      limited: (wanted) => signal.fail(limitReached(senderLimits, wanted)),
      traced: (event) => observer.onTrace?.(event),
      broken: (error) => signal.fail(toRunError(error)),
    });
    const { sender } = this;
    this.failureLimits = new FailureLimits(plan, signal, () => sender.progress());
    observer.onProgress?.({
      delayNs: parts.delayNs,
      counts: () => sender.counts(),
      drainRecords: () => void sender.drain("judged").catch((error: unknown) => this.fail(error)),
      ...(parts.hasTokens ? { tokenTotals: () => sender.tokenTotals() } : {}),
    });
  }

  async execute(): Promise<RunResult> {
    const { plan, hostLimits, signal, observer } = this.parts;
    const unwatch = watchMemory(hostLimits, (error) => signal.fail(error));
    const unwatchSilence = watchSilence(plan, { signal, observer, progress: () => this.failureLimits.responses() });
    try {
      return await this.runAll();
    } finally {
      unwatch();
      unwatchSilence();
    }
  }

  private async runAll(): Promise<RunResult> {
    const { plan, signal, load, session, peers, hasTokens } = this.parts;
    let before: ServerCounters[] | undefined;
    // A run that has ended sends nothing more while it reads counters and waits for responses.
    void signal.stopped.then(() => this.sender.change({ quota: 0 }));
    // In the next turn, after the level has ended.
    void signal.interrupted.then(() => setImmediate(() => this.sender.cancel(cancelReason(signal) ?? "", "unsent")));
    try {
      const first = Step.first(load, plan);
      // The window cannot begin without its connections.
      if (first !== undefined && this.isWhole) void this.sender.prepare(first.load);
      await this.parts.rehearse?.();
      this.startNs = nowNs();
      const tokens = hasTokens ? tokenOptionsOf(this.parts) : undefined;
      this.sender.change({ run: { startNs: this.startNs, hasTimeline: hasPhases(load), tokens } });
      if (plan.behaviour?.skipsRunCounters !== true) before = await session.counters();
      this.watchAssertions();
      await this.runLevels(first);
      // Keep up the load until then, because other ranks still measure.
      if (!signal.isStopped) await peers.waitForEnd(signal);
    } catch (error) {
      if (error instanceof UserError) throw error;
      signal.fail(explainEnd(error, this.sender.progress(), this.failureLimits.log));
    }
    const closed = await shutDown(this.ending, this.isSending);
    return this.toResult(closed, await serverDelta(this.ending, before));
  }

  /** Watches the assertions that may end the run. */
  private watchAssertions(): void {
    const { parts, sender } = this;
    if (!mayAbort(parts.plan)) return;
    this.abort = new EarlyAbort({ ...parts, sender, fail: (error) => this.fail(error) });
  }

  private fail(error: unknown): void {
    this.parts.signal.fail(toRunError(error));
  }

  /**
   * Measures the levels of the load's phases. A load without phases is a single unnamed phase whose levels are started one by
   * one.
   */
  private async runLevels(first: Step | undefined): Promise<void> {
    const { signal, observer, poller, growth, load } = this.parts;
    let sequence: LevelSequence = new SeparateLevels(this);
    if (hasPhases(load)) {
      this.phased = new ContinuousPhases(this);
      sequence = this.phased;
    }
    const run = async (step: Step): Promise<Step | undefined> => {
      const { result: measured, next } = await sequence.run(step);
      if (measured !== undefined) {
        const result = growth === undefined ? measured : { ...measured, workers: growth.levelWorkers };
        this.failureLimits.checkEnd();
        addLevel(this.levels, result, step.repeat > 0);
        observer.onLevelEnd?.(result);
        this.checkDerived(result);
        if (next !== undefined && !signal.isStopped) await growth?.growAfter(result.window);
      }
      return next;
    };
    await runSteps(first, signal, run).finally(() => poller?.stop());
  }

  /** Ends the run when the function of a derived metric fails. */
  private checkDerived(result: LevelResult): void {
    const { derived = [], target } = this.parts.plan;
    for (const one of derived) {
      const { error } = deriveMetric(one, result, target.batchSize);
      if (error !== undefined)
        this.fail(new RunError("exception", `derive.${one.name}: ${error}`, "Correct it in the scenario."));
    }
  }

  get isWhole(): boolean {
    const { mode } = this.parts.plan.measurement;
    return mode.kind === "requests" || (mode.kind === "duration" && mode.graceMs !== undefined);
  }

  get quota(): number {
    return this.requestCount() ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the total number of requests; undefined when the load is limited by time. */
  private requestCount(): number | undefined {
    const { mode } = this.parts.plan.measurement;
    if (mode.kind !== "requests" || mode.minDurationMs !== undefined) return undefined;
    return mode.count ?? this.parts.turnCount ?? this.parts.timestampsMs.length;
  }

  contextOf({ load: { phaseIndex, draw }, phase, level }: Step, handOver?: HandOver): LevelContext {
    const { sender, abort, parts } = this;
    const drive = phase.load.drive(level, parts.timestampsMs, draw);
    return {
      ...parts,
      ...{ sender, abort, plan: planOfPhase(parts.plan, phaseIndex), unit: phase.load.search.unit },
      ...defined({ handOver, phaseLabel: phase.label }),
      runStartNs: this.startNs,
      isScheduled: isScheduled(drive),
      due: drive.kind === "scheduled" ? drive.due : undefined,
      canLanesWait: canLanesWait(drive),
      isAsync: this.prepared.callMode === "async",
      roundSize: roundSizeOf(drive),
      checkFailures: () => this.failureLimits.checkEnd(),
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
  announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    endStartUp();
    this.parts.observer.onPrepared?.(this.prepared);
  }

  async checkOnce(): Promise<void> {
    if (this.isChecked) return;
    this.isChecked = true;
    await this.parts.check?.();
  }

  addWarmup({ sentCount, failedCount }: WarmUpTally): void {
    this.warmup.sentCount += sentCount;
    this.warmup.failedCount += failedCount;
  }

  beginSending(): void {
    this.isSending = true;
  }

  private get ending(): RunEnding {
    const { sender, failureLimits, abort, prepared } = this;
    const { session, signal, observer, delayNs } = this.parts;
    return { observer, session, sender, signal, failureLimits, abort, prepared, delayNs };
  }

  /** Composes the result. The levels of a search are in ascending order. */
  private async toResult({ totals, timelines }: ClosedSender, server: RunResult["server"]): Promise<RunResult> {
    const { levels, warmup, startNs } = this;
    const { load, signal, plan } = this.parts;
    const isSearch = load.search.search === "highest";
    const within = withinOf(plan.measurement.mode);
    const phased = await this.phased?.finish(timelines);
    return {
      ...(await describeEnd(this.ending, startNs)),
      levels: isSearch ? levels.toSorted((a, b) => a.level - b.level) : levels,
      ...(isSearch ? { findMax: findMaxOf(levels, !signal.isStopped, within) } : {}),
      ...(warmup.sentCount > 0 ? { warmup } : {}),
      ...defined({ phased }),
      ...totals,
      server,
    };
  }
}

function tokenOptionsOf({ plan, observer, delayNs }: ConductorParts): BeginOptions {
  return {
    delayNs,
    keepsRequests: observer.onTokens !== undefined,
    keepsRows: mlperfRulesOf(plan) !== undefined,
    goodputs: goodputsOf(plan),
  };
}
