import type { LevelResult } from "../../result/run-result.ts";
import type { FailureLimits } from "../judge/failure-limits.ts";
import type { ConductorParts } from "../run-parts.ts";
import type { LoadSender } from "../send/messages.ts";
import type { EarlyAbort } from "./early-abort.ts";
import type { HandOver, LevelContext } from "./level-context.ts";
import type { Step } from "./step.ts";
import type { WarmUpTally } from "./warm-up.ts";

/** Runs the levels of a run, one after the other. */
export interface LevelSequence {
  run(step: Step): Promise<RanStep>;
}

/** Outcome of a step. */
export interface RanStep {
  /** Absent: the step is a warm-up, or the run ended before it was measured. */
  readonly result?: LevelResult | undefined;
  /** The step that follows. Absent: this was the last one. */
  readonly next?: Step | undefined;
}

/** The run that the levels belong to. */
export interface LevelHost {
  readonly parts: ConductorParts;
  readonly sender: LoadSender;
  readonly failureLimits: FailureLimits;
  /** Ends the run when an assertion fails; undefined when none is watched. */
  readonly abort: EarlyAbort | undefined;
  readonly startNs: number;
  /** Number of requests to send; infinite when the load is limited by time. */
  readonly quota: number;
  /** Whether no request may be in flight at the start of a measurement, so that it contains complete requests only. */
  readonly isWhole: boolean;
  /** Whether the run was announced. */
  readonly isAnnounced: boolean;
  contextOf(step: Step, handOver?: HandOver): LevelContext;
  announce(): void;
  /** Validates the plan once, outside measured time. */
  checkOnce(): Promise<void>;
  /** Called just before the sender starts to send. */
  beginSending(): void;
  addWarmup(tally: WarmUpTally): void;
}
