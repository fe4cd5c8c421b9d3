import { levelAt } from "../../load/levels.ts";
import type { PreparedPhase } from "../../load/load-mode.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import type { PhasePlace, PhaseStart, RunObserver } from "../../result/observer.ts";
import type { LevelResult, PhaseResult, PhasesResult, PhaseTally } from "../../result/run-result.ts";
import { type Clock, sleepUnless } from "../../runtime/clock.ts";
import type { RunSignal } from "../interrupt.ts";
import type { FailurePolicy } from "../judge/failure-policy.ts";
import type { LoadSender, LoadStep } from "../send/messages.ts";
import type { EarlyAbort } from "./early-abort.ts";
import { LevelRun } from "./level.ts";
import type { HandOver, LevelContext } from "./level-context.ts";

/** What the phases of a run need from it. */
export interface PhaseParts {
  readonly phases: readonly PreparedPhase[];
  /** The mode of phases without their own. */
  readonly mode: MeasurementModePlan;
  readonly sender: LoadSender;
  readonly clock: Clock;
  readonly signal: RunSignal;
  readonly abort: EarlyAbort | undefined;
  readonly observer: RunObserver;
  readonly policy: FailurePolicy;
  /** Counts of warm-up requests, to which those of warm-up phases are added. */
  readonly warmup: { sentCount: number; failedCount: number };
  /** Start of the run. */
  readonly startNs: number;
  /** Creates the context of a level. */
  contextOf(step: PhaseStep, handOver: HandOver): LevelContext;
  /** Called after the load has begun, and before its first level is announced. */
  onBegun(): Promise<void>;
  onResult(result: LevelResult): void;
}

/** One level of a phase. */
export interface PhaseStep {
  readonly phaseIndex: number;
  readonly phase: PreparedPhase;
  readonly levelIndex: number;
  readonly level: number;
  readonly load: LoadStep;
  readonly mode: MeasurementModePlan;
}

/** Runs the phases of a load one after the other, without a pause between them. */
export class PhaseRun {
  private readonly parts: PhaseParts;
  private readonly results: PhaseResult[] = [];
  /** The step that runs. */
  private current: PhaseStep | undefined;
  private run: LevelRun | undefined;
  /** The step that is prepared. */
  private next: PhaseStep | undefined;
  private phaseStartNs = 0;
  private before: PhaseTally = NOTHING;
  private openBefore = 0;

  constructor(parts: PhaseParts) {
    this.parts = parts;
  }

  async execute(): Promise<void> {
    const { sender, clock, signal, startNs } = this.parts;
    await this.prepare(this.stepAt(0, 0));
    sender.beginRunTimeline(startNs);
    this.change(clock.nowNs(), true);
    for (let step = this.current; step !== undefined && !signal.isStopped; step = this.current)
      await this.runStep(step);
  }

  /** Returns the counts of all phases, and of what ended after them, when nothing is in flight any more. */
  finish(): PhasesResult {
    const { sender, clock } = this.parts;
    // A phase that an error ended.
    if (this.current !== undefined) this.endPhase(this.current, clock.nowNs());
    const counted = this.results.reduce<PhaseTally>((sum, { tally }) => addTallies(sum, tally, 1), NOTHING);
    return {
      phases: this.results,
      after: addTallies(sender.state(), counted, -1),
      timeline: sender.takeRunTimeline(this.phaseStartNs),
    };
  }

  private async runStep(step: PhaseStep): Promise<void> {
    const { observer, onBegun, onResult } = this.parts;
    const { phase, phaseIndex } = step;
    const { unit, level, isWarmup } = unitAndLevelOf(step);
    await onBegun();
    observer.onLevelStart?.(unit, level, isWarmup, this.placeOf(step));
    if (isWarmup) {
      await this.warmUp(step);
      return;
    }
    const result = await (this.run as LevelRun).measure();
    onResult({ ...result, phase: { index: phaseIndex, label: phase.label } });
  }

  private placeOf({ phaseIndex, phase }: PhaseStep): PhasePlace {
    return { index: phaseIndex, count: this.parts.phases.length, label: phase.label };
  }

  /** Keeps up the load of a phase that is not measured. */
  private async warmUp(step: PhaseStep): Promise<void> {
    const { sender, clock, signal, observer } = this.parts;
    const { mode } = step;
    if (mode.kind === "requests") {
      const sent = sender.untilAllSent();
      await this.prepare(this.stepAfter(step, "measured"));
      await Promise.race([sent, signal.stopped]);
    } else {
      await sleepUnless(mode.kind === "duration" ? mode.durationMs : 0, signal.stopped, clock);
      if (!signal.isStopped) await this.prepare(this.stepAfter(step, "measured"));
    }
    const atNs = clock.nowNs();
    sender.drain();
    observer.onRecordsCut?.(undefined);
    this.change(atNs, false);
  }

  private async prepare(step: PhaseStep | undefined): Promise<void> {
    const { sender, signal } = this.parts;
    if (step === undefined) return;
    const preparing = sender.prepareChange(step.load).then(() => true);
    // Connections that never open must not keep an interrupted run.
    if ((await Promise.race([preparing, signal.stopped])) === true) this.next = step;
  }

  /** Ends the current step and begins the next one, synchronously: no response can arrive in between. */
  private change(atNs: number, isCut: boolean): void {
    const { current, next } = this;
    this.next = undefined;
    const upcoming = this.parts.signal.isStopped ? undefined : next;
    if (current?.phaseIndex !== upcoming?.phaseIndex) this.endPhase(current, atNs);
    this.current = upcoming;
    if (upcoming === undefined) {
      this.parts.observer.onPhase?.(undefined);
      // What is in flight is awaited at the end of the run.
      void this.parts.sender.stop();
      return;
    }
    const { mode } = upcoming;
    this.parts.observer.onPhase?.({ ...this.placeOf(upcoming), ...unitAndLevelOf(upcoming) });
    this.begin(upcoming, atNs, isCut);
    this.parts.sender.change(mode.kind === "requests" ? (mode.count ?? 0) : Number.POSITIVE_INFINITY);
  }

  private begin(step: PhaseStep, atNs: number, isCut: boolean): void {
    const { policy, sender, abort } = this.parts;
    const isWarmup = step.phase.plan.isWarmup === true;
    policy.isWarmingUp = isWarmup;
    sender.setWarmup(isWarmup);
    if (isWarmup) {
      this.run = undefined;
      abort?.pause();
      sender.pauseCounting();
      sender.warmUpTokens();
      return;
    }
    if (!isCut || sender.state().sentCount === 0) sender.resetTokens();
    this.run = new LevelRun(this.parts.contextOf(step, this.handOverOf(step)), step.level);
    this.run.continueAt(atNs);
  }

  private endPhase(step: PhaseStep | undefined, atNs: number): void {
    const now = this.parts.sender.state();
    if (step !== undefined) {
      const { label, plan } = step.phase;
      const tally = addTallies(now, this.before, -1);
      if (plan.isWarmup === true) {
        this.parts.warmup.sentCount += tally.sentCount;
        this.parts.warmup.failedCount += tally.failedCount;
      }
      this.results.push({
        index: step.phaseIndex,
        label,
        isWarmup: plan.isWarmup === true,
        startNs: this.phaseStartNs - this.parts.startNs,
        endNs: atNs - this.parts.startNs,
        tally,
        openBeforeCount: this.openBefore,
        openAfterCount: now.outstanding,
      });
    }
    this.before = now;
    this.openBefore = now.outstanding;
    this.phaseStartNs = atNs;
  }

  private handOverOf(step: PhaseStep): HandOver {
    return {
      isLast: this.stepAfter(step, "measured") === undefined,
      prepare: (outcome) => this.prepare(this.stepAfter(step, outcome)),
      change: (atNs, isCut) => this.change(atNs, isCut),
    };
  }

  /** Returns the next level of the phase, or the first of the next phase. A level that is not stable ends its phase, not the run. */
  private stepAfter({ phaseIndex, levelIndex }: PhaseStep, outcome: LevelResult["outcome"]): PhaseStep | undefined {
    const sibling = outcome === "measured" ? this.stepAt(phaseIndex, levelIndex + 1) : undefined;
    return sibling ?? this.stepAt(phaseIndex + 1, 0);
  }

  private stepAt(phaseIndex: number, levelIndex: number): PhaseStep | undefined {
    const phase = this.parts.phases[phaseIndex];
    const level = phase && levelAt(phase.load.search.levels, levelIndex);
    if (phase === undefined || level === undefined) return undefined;
    const { mode = this.parts.mode } = phase.plan;
    const load = { phaseIndex, level, draw: levelIndex };
    return { phaseIndex, phase, levelIndex, level, load, mode };
  }
}

function unitAndLevelOf({ phase, level }: PhaseStep): Pick<PhaseStart, "unit" | "level" | "isWarmup"> {
  return { unit: phase.load.search.unit, level, isWarmup: phase.plan.isWarmup === true };
}

const NOTHING: PhaseTally = { sentCount: 0, completedCount: 0, failedCount: 0, cancelledCount: 0 };

function addTallies(a: PhaseTally, b: PhaseTally, sign: 1 | -1): PhaseTally {
  return {
    sentCount: a.sentCount + sign * b.sentCount,
    completedCount: a.completedCount + sign * b.completedCount,
    failedCount: a.failedCount + sign * b.failedCount,
    cancelledCount: a.cancelledCount + sign * b.cancelledCount,
  };
}
