import type { Drive } from "../../load/drive.ts";
import { levelAt } from "../../load/levels.ts";
import type { PreparedPhase } from "../../load/load-mode.ts";
import { Timeline } from "../../measure/timeline.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import type { PhasePlace, PhaseStart, RunObserver } from "../../result/observer.ts";
import type { LevelResult, PhaseResult, PhasesResult, PhaseTally } from "../../result/run-result.ts";
import { sleepUnless } from "../../runtime/clock.ts";
import type { FailurePolicy } from "../judge/failure-policy.ts";
import type { RunSignal } from "../run-signal.ts";
import type { Canceller } from "../send/canceller.ts";
import type { Driver } from "../send/driver.ts";
import { prepareChange } from "./change-load.ts";
import { LevelRun } from "./level.ts";
import type { HandOver, LevelContext } from "./level-context.ts";
import type { LevelMeter } from "./level-meter.ts";

/** What the phases of a run need from it. */
export interface PhaseParts {
  readonly phases: readonly PreparedPhase[];
  /** The mode of phases without their own. */
  readonly mode: MeasurementModePlan;
  readonly driver: Driver;
  readonly signal: RunSignal;
  readonly meter: LevelMeter;
  readonly observer: RunObserver;
  readonly policy: FailurePolicy;
  readonly canceller: Canceller | undefined;
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
  readonly drive: Drive;
  readonly mode: MeasurementModePlan;
}

/** Runs the phases of a load one after the other, without a pause between them. */
export class PhaseRun {
  private readonly parts: PhaseParts;
  private readonly results: PhaseResult[] = [];
  private readonly timeline: Timeline;
  /** The step that runs. */
  private current: PhaseStep | undefined;
  private run: LevelRun | undefined;
  private next: { readonly step: PhaseStep; readonly begin: (quota: number) => void } | undefined;
  private phaseStartNs = 0;
  private before: PhaseTally = NOTHING;
  private openBefore = 0;

  constructor(parts: PhaseParts) {
    this.parts = parts;
    this.timeline = new Timeline(parts.startNs);
  }

  async execute(): Promise<void> {
    const { driver, signal, meter } = this.parts;
    await this.prepare(this.stepAt(0, 0));
    meter.runTimeline = this.timeline;
    this.change(driver.clock.nowNs(), true);
    for (let step = this.current; step !== undefined && !signal.isStopped; step = this.current)
      await this.runStep(step);
  }

  /** Returns the counts of all phases, and of what ended after them, when nothing is in flight any more. */
  finish(): PhasesResult {
    const { meter, driver } = this.parts;
    meter.runTimeline = undefined;
    // A phase that an error ended.
    if (this.current !== undefined) this.endPhase(this.current, driver.clock.nowNs());
    const counted = this.results.reduce<PhaseTally>((sum, { tally }) => addTallies(sum, tally, 1), NOTHING);
    return {
      phases: this.results,
      after: addTallies(tallyOf(driver), counted, -1),
      timeline: this.timeline.finish(Math.max(this.phaseStartNs, this.timeline.lastEndNs)),
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
    const { driver, signal, observer } = this.parts;
    const { mode } = step;
    if (mode.kind === "requests") {
      const sent = this.allSent();
      await this.prepare(this.stepAfter(step, "measured"));
      await Promise.race([sent, signal.stopped]);
    } else {
      await sleepUnless(mode.kind === "duration" ? mode.durationMs : 0, signal.stopped, driver.clock);
      if (!signal.isStopped) await this.prepare(this.stepAfter(step, "measured"));
    }
    const atNs = driver.clock.nowNs();
    driver.onAllSent = undefined;
    driver.drain();
    observer.onRecordsCut?.(undefined);
    this.change(atNs, false);
  }

  private allSent(): Promise<void> {
    const { driver } = this.parts;
    return new Promise((resolve) => {
      driver.onAllSent = resolve;
      if (driver.quota <= 0) resolve();
    });
  }

  private async prepare(step: PhaseStep | undefined): Promise<void> {
    const { driver, signal } = this.parts;
    if (step === undefined) return;
    const preparing = prepareChange(driver, step.drive);
    // Connections that never open must not keep an interrupted run.
    const begin = await Promise.race([preparing, signal.stopped]);
    if (begin !== undefined) this.next = { step, begin };
  }

  /** Ends the current step and begins the next one, synchronously: no response can arrive in between. */
  private change(atNs: number, isCut: boolean): void {
    const { current, next } = this;
    this.next = undefined;
    const upcoming = this.parts.signal.isStopped ? undefined : next;
    if (current?.phaseIndex !== upcoming?.step.phaseIndex) this.endPhase(current, atNs);
    this.current = upcoming?.step;
    if (upcoming === undefined) {
      this.parts.observer.onPhase?.(undefined);
      // What is in flight is awaited at the end of the run.
      void this.parts.driver.stop();
      return;
    }
    const { step, begin } = upcoming;
    this.parts.observer.onPhase?.({ ...this.placeOf(step), ...unitAndLevelOf(step) });
    this.begin(step, atNs, isCut);
    begin(step.mode.kind === "requests" ? (step.mode.count ?? 0) : Number.POSITIVE_INFINITY);
  }

  private begin(step: PhaseStep, atNs: number, isCut: boolean): void {
    const { policy, canceller, driver, meter } = this.parts;
    const isWarmup = step.phase.plan.isWarmup === true;
    policy.isWarmingUp = isWarmup;
    if (canceller !== undefined) canceller.isEnabled = !isWarmup;
    if (isWarmup) {
      this.run = undefined;
      meter.pause();
      this.parts.contextOf(step, this.handOverOf(step)).tokens?.warmUp();
      return;
    }
    const context = this.parts.contextOf(step, this.handOverOf(step));
    if (!isCut || driver.sentCount === 0) context.tokens?.reset();
    this.run = new LevelRun(context, meter, step.level);
    this.run.continueAt(atNs);
  }

  private endPhase(step: PhaseStep | undefined, atNs: number): void {
    const { driver } = this.parts;
    const now = tallyOf(driver);
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
        openAfterCount: driver.outstanding,
      });
    }
    this.before = now;
    this.openBefore = driver.outstanding;
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
    return { phaseIndex, phase, levelIndex, level, drive: phase.load.drive(level, [], levelIndex), mode };
  }
}

function unitAndLevelOf({ phase, level }: PhaseStep): Pick<PhaseStart, "unit" | "level" | "isWarmup"> {
  return { unit: phase.load.search.unit, level, isWarmup: phase.plan.isWarmup === true };
}

const NOTHING: PhaseTally = { sentCount: 0, completedCount: 0, failedCount: 0, cancelledCount: 0 };

function tallyOf({ sentCount, ended: { completedCount, failedCount, cancelledCount } }: Driver): PhaseTally {
  return { sentCount, completedCount, failedCount, cancelledCount };
}

function addTallies(a: PhaseTally, b: PhaseTally, sign: 1 | -1): PhaseTally {
  return {
    sentCount: a.sentCount + sign * b.sentCount,
    completedCount: a.completedCount + sign * b.completedCount,
    failedCount: a.failedCount + sign * b.failedCount,
    cancelledCount: a.cancelledCount + sign * b.cancelledCount,
  };
}
