import type { RunTokens } from "../../measure/tokens/run-tokens.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { LevelResult } from "../../result/run-result.ts";
import type { HealthMonitor } from "../../telemetry/health-monitor.ts";
import type { MetricsPoller } from "../../telemetry/metrics-poller.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import type { Session } from "../open/session.ts";
import type { Peers } from "../peers/peers.ts";
import type { RunSignal } from "../run-signal.ts";
import type { Driver } from "../send/driver.ts";

/** The change to the next load of a run with phases. */
export interface HandOver {
  /** Whether nothing follows. */
  readonly isLast: boolean;
  /** Prepares the next load, while this one continues. */
  prepare(outcome: LevelResult["outcome"]): Promise<void>;
  /** Changes to the next load. @param isCut whether the last window of this one ends at this moment, so that nothing is between them */
  change(atNs: number, isCut: boolean): void;
}

/** The dependencies of a level's measurement. */
export interface LevelContext {
  readonly plan: Plan;
  readonly session: Session;
  /** The groups of requests to measure apart; undefined when there are none. */
  readonly groups?: RequestGroups | undefined;
  readonly driver: Driver;
  readonly health: HealthMonitor;
  readonly signal: RunSignal;
  readonly peers: Peers;
  readonly observer: RunObserver;
  /** Scrapes GPU metrics; undefined when the plan requests none. */
  readonly poller: MetricsPoller | undefined;
  /** Measures the tokens of responses; undefined when the plan requests none. */
  readonly tokens: RunTokens | undefined;
  readonly unit: "concurrency" | "request-rate";
  /** Start of the run, monotonic. */
  readonly runStartNs: number;
  readonly isScheduled: boolean;
  /** Whether lanes may be idle. */
  readonly canLanesWait: boolean;
  readonly isAsync: boolean;
  /** Number of requests that a closed loop keeps in flight; absent for other loads, and for loops that change. */
  readonly roundSize?: number | undefined;
  /** What follows without a pause, in a load with phases. Absent: the load ends, or is changed by who measures the level. */
  readonly handOver?: HandOver;
  /** Ends the run when too many requests have failed. */
  checkFailures(): void;
  /** Ends the run with an error. */
  fail(error: unknown): void;
  /** Warns that several versions of the model served the window. */
  warnOfVersions(model: string): void;
}
