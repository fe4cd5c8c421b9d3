import { type FinishedTimeline, toBuckets } from "../../measure/timeline.ts";
import type { PhasePlace } from "../../result/observer.ts";
import type { PhaseResult, PhasesResult, RequestCounts } from "../../result/run-result.ts";
import { sleepUnless } from "../../runtime/clock.ts";
import type { SenderState } from "../send/messages.ts";
import { LevelRun } from "./level.ts";
import type { HandOver } from "./level-context.ts";
import type { LevelHost, LevelSequence, RanStep } from "./level-sequence.ts";
import { type Step, verdictOf } from "./step.ts";

/**
 * Phases that follow each other without a pause: requests in flight end under the next one. Each step is prepared while the previous
 * one continues.
 */
export class ContinuousPhases implements LevelSequence {
  private readonly host: LevelHost;
  private readonly results: Promise<PhaseResult>[] = [];
  /** The current step; undefined before the first one and after the last one. */
  private current: Step | undefined;
  private level: LevelRun | undefined;
  /** The step being prepared. */
  private next: Step | undefined;
  private phaseStartNs = 0;
  /** The sender's counts at the start of the current step. */
  private before: Promise<Standing> = Promise.resolve({ ...NOTHING, outstanding: 0 });

  constructor(host: LevelHost) {
    this.host = host;
  }

  async run(step: Step): Promise<RanStep> {
    const { observer, signal } = this.host.parts;
    if (this.current === undefined) await this.beginAll(step);
    if (this.current === undefined || signal.isStopped) return {};
    const { phaseIndex, phase, isWarmup } = step;
    this.host.announce();
    await this.host.checkOnce();
    observer.onLevelStart?.(phase.load.search.unit, step.level, isWarmup, this.placeOf(step));
    if (isWarmup) {
      await this.warmUp(step);
      return { next: this.current };
    }
    const result = await (this.level as LevelRun).measure();
    return { result: { ...result, phase: { index: phaseIndex, label: labelOf(step) } }, next: this.current };
  }

  private async beginAll(step: Step): Promise<void> {
    this.host.beginSending();
    await this.prepare(step);
    this.change(this.host.parts.clock.nowNs(), true);
  }

  /**
   * Returns the counts of all phases, and of requests that ended after them. Call when the sender is closed. @param timelines timelines
   * of the run
   */
  async finish(timelines: readonly FinishedTimeline[]): Promise<PhasesResult> {
    const { sender, parts } = this.host;
    // A phase that an error interrupted.
    if (this.current !== undefined) this.endPhase(this.current, parts.clock.nowNs());
    const phases = await Promise.all(this.results);
    const endNs = timelines.reduce((latest, { lastNs }) => Math.max(latest, lastNs), this.phaseStartNs);
    const counted = phases.reduce<RequestCounts>((sum, { tally }) => addTallies(sum, tally, 1), NOTHING);
    return {
      phases,
      after: addTallies(await sender.until({ kind: "now" }), counted, -1),
      timeline: toBuckets(timelines, endNs),
    };
  }

  private placeOf(step: Step): PhasePlace {
    return { index: step.phaseIndex, count: this.host.parts.load.phases.length, label: labelOf(step) };
  }

  /** Keeps up the load of an unmeasured phase. */
  private async warmUp(step: Step): Promise<void> {
    const { sender } = this.host;
    const { clock, signal, observer } = this.host.parts;
    const { mode } = step;
    if (mode.kind === "requests") {
      const sent = sender.until({ kind: "all-sent" });
      await this.prepare(step.after("kept"));
      await Promise.race([sent, signal.stopped]);
    } else {
      await sleepUnless(mode.kind === "duration" ? mode.durationMs : 0, signal.stopped, clock);
      if (!signal.isStopped) await this.prepare(step.after("kept"));
    }
    const atNs = clock.nowNs();
    await sender.drain();
    observer.onRecordsCut?.(undefined);
    this.change(atNs, false);
  }

  private async prepare(step: Step | undefined): Promise<void> {
    const { sender } = this.host;
    const { signal } = this.host.parts;
    if (step === undefined) return;
    const preparing = sender.prepare(step.load, "change").then(() => true);
    // An interrupted run must not wait for connections that never open.
    if ((await Promise.race([preparing, signal.stopped])) === true) this.next = step;
  }

  /** Ends the current step and begins the next one, synchronously: no response can arrive in between. */
  private change(atNs: number, isCut: boolean): void {
    const { current, next } = this;
    this.next = undefined;
    const { signal, observer } = this.host.parts;
    const upcoming = signal.isStopped ? undefined : next;
    if (current?.phaseIndex !== upcoming?.phaseIndex) this.endPhase(current, atNs);
    this.current = upcoming;
    if (upcoming === undefined) {
      observer.onPhase?.(undefined);
      // Requests in flight are awaited at the end of the run.
      void this.host.sender.stop();
      return;
    }
    const { mode, phase, level, isWarmup } = upcoming;
    const { unit } = phase.load.search;
    observer.onPhase?.({ ...this.placeOf(upcoming), unit, level, isWarmup });
    this.begin(upcoming, atNs, isCut && current !== undefined);
    const quota = mode.kind === "requests" ? (mode.count ?? 0) : Number.POSITIVE_INFINITY;
    // Its schedule begins with the phase, even if the previous phase took long to end.
    this.host.sender.change({ next: { quota, atNs } });
  }

  /** @param isKept whether the tokens before the step belong to a level that has just ended */
  private begin(step: Step, atNs: number, isKept: boolean): void {
    const { failureLimits, sender, abort } = this.host;
    const { isWarmup } = step;
    failureLimits.isWarmingUp = isWarmup;
    sender.change({ isWarmup });
    if (isWarmup) {
      this.level = undefined;
      abort?.pause();
      return;
    }
    this.level = new LevelRun(this.host.contextOf(step, this.handOverOf(step)), step.level);
    this.level.continueAt(atNs, isKept);
  }

  private endPhase(step: Step | undefined, atNs: number): void {
    const now = this.host.sender.until({ kind: "now" });
    if (step !== undefined) {
      const result = this.resultOf(step, { startNs: this.phaseStartNs, endNs: atNs, before: this.before, after: now });
      // The caller that awaits the results sees the error.
      result.catch(() => {});
      this.results.push(result);
    }
    this.before = now;
    this.phaseStartNs = atNs;
  }

  private async resultOf(step: Step, phase: EndedPhase): Promise<PhaseResult> {
    const { isWarmup, phaseIndex } = step;
    const runStartNs = this.host.startNs;
    const [before, after] = [await phase.before, await phase.after];
    const tally = addTallies(after, before, -1);
    if (isWarmup) this.host.addWarmup(tally);
    return {
      index: phaseIndex,
      label: labelOf(step),
      isWarmup,
      startNs: phase.startNs - runStartNs,
      endNs: phase.endNs - runStartNs,
      tally,
      openBeforeCount: before.outstanding,
      openAfterCount: after.outstanding,
    };
  }

  private handOverOf(step: Step): HandOver {
    return {
      isLast: step.after("kept") === undefined,
      prepare: (outcome) => this.prepare(step.after(verdictOf({ outcome }))),
      change: (atNs, isCut) => this.change(atNs, isCut),
    };
  }
}

/** The sender's counts at the start of a phase. */
type Standing = RequestCounts & Pick<SenderState, "outstanding">;

interface EndedPhase {
  readonly startNs: number;
  readonly endNs: number;
  readonly before: Promise<Standing>;
  readonly after: Promise<Standing>;
}

function labelOf({ phase }: Step): string {
  return phase.label ?? "";
}

const NOTHING: RequestCounts = { sentCount: 0, completedCount: 0, failedCount: 0, cancelledCount: 0 };

function addTallies(a: RequestCounts, b: RequestCounts, sign: 1 | -1): RequestCounts {
  return {
    sentCount: a.sentCount + sign * b.sentCount,
    completedCount: a.completedCount + sign * b.completedCount,
    failedCount: a.failedCount + sign * b.failedCount,
    cancelledCount: a.cancelledCount + sign * b.cancelledCount,
  };
}
