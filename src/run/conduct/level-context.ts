import type { DueSpan } from "../../load/drive.ts";
import type { LevelUnitName } from "../../load/level-units.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { LevelResult } from "../../result/run-result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { GaugePoller } from "../../telemetry/gauge-poller.ts";
import type { RunSignal } from "../interrupt.ts";
import type { Session } from "../open/session.ts";
import type { Peers } from "../peers/peers.ts";
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
export interface LevelContext {
  readonly plan: Plan;
  readonly session: Session;
  readonly sender: LoadSender;
  /** The clock by which the sender sends. */
  readonly clock: Clock;
  readonly signal: RunSignal;
  readonly peers: Peers;
  readonly observer: RunObserver;
  /** Scrapes GPU metrics; undefined when the plan requests none. */
  readonly poller: GaugePoller | undefined;
  /** Whether the tokens of responses are measured. */
  readonly hasTokens: boolean;
  /** Ends the run when an assertion fails; undefined when none is watched. */
  readonly abort: EarlyAbort | undefined;
  readonly unit: LevelUnitName;
  /** Start of the run, monotonic. */
  readonly runStartNs: number;
  /** Time by which the clocks of senders on other hosts are set back. Default: 0 */
  readonly delayNs?: number | undefined;
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
