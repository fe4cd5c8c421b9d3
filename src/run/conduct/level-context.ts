import type { DueSpan } from "../../load/drive.ts";
import type { LevelUnitName } from "../../load/level-units.ts";
import type { LevelResult } from "../../result/run-result.ts";
import type { ConductorParts } from "../run-parts.ts";
import type { LoadSender } from "../send/messages.ts";
import type { EarlyAbort } from "./early-abort.ts";

/** Hand-over to the next load of a run with phases. */
export interface HandOver {
  /** Whether no load follows. */
  readonly isLast: boolean;
  /** Prepares the next load, while this one continues. */
  prepare(outcome: LevelResult["outcome"]): Promise<void>;
  /**
   * Changes to the next load. @param isCut whether the last window of this load ends at this moment, so that no time lies between the
   * two
   */
  change(atNs: number, isCut: boolean): void;
}

/** The dependencies of a level's measurement. */
export interface LevelContext
  extends Pick<
    ConductorParts,
    "plan" | "session" | "clock" | "signal" | "peers" | "observer" | "poller" | "hasTokens" | "delayNs"
  > {
  readonly sender: LoadSender;
  /** Ends the run when an assertion fails; undefined when none is watched. */
  readonly abort: EarlyAbort | undefined;
  readonly unit: LevelUnitName;
  /** Start of the run, monotonic. */
  readonly runStartNs: number;
  readonly isScheduled: boolean;
  /** Name of its phase. Absent: the load has no phases. */
  readonly phaseLabel?: string;
  /** See {@link Drive}. */
  readonly due?: DueSpan | undefined;
  /** Whether lanes may be idle. */
  readonly canLanesWait: boolean;
  readonly isAsync: boolean;
  /** Number of requests that a closed loop keeps in flight; absent for other loads, and for loops whose concurrency changes. */
  readonly roundSize?: number | undefined;
  /**
   * The load that follows without a pause, in a load with phases. Absent: the load ends, or the caller that measures the
   * level changes it.
   */
  readonly handOver?: HandOver;
  /** Ends the run when too many requests have failed. */
  checkFailures(): void;
  /** Ends the run with an error. */
  fail(error: unknown): void;
  /** Warns that several versions of the model served the window. */
  warnOfVersions(model: string): void;
}
