import type { TokenLink } from "../../measure/tokens/token-thread.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunObserver } from "../../result/observer.ts";
import type { MetricsPoller } from "../../telemetry/metrics-poller.ts";
import type { Peers } from "../peers/peers.ts";
import type { RunSignal } from "../run-signal.ts";
import type { Driver } from "../send/driver.ts";
import type { Session } from "../target/session.ts";
import type { HealthMonitor } from "./health-monitor.ts";

/** What measuring a level needs. */
export interface LevelContext {
  readonly plan: Plan;
  readonly session: Session;
  readonly driver: Driver;
  readonly health: HealthMonitor;
  readonly signal: RunSignal;
  readonly peers: Peers;
  readonly observer: RunObserver;
  /** Reads the server's metrics; undefined when the plan asks for none. */
  readonly poller: MetricsPoller | undefined;
  /** Measures the tokens of answers; undefined when the plan asks for none. */
  readonly tokens: TokenLink | undefined;
  readonly unit: "concurrency" | "request-rate";
  readonly isScheduled: boolean;
  /** Lanes may have nothing to send for a while. */
  readonly canLanesWait: boolean;
  readonly isAsync: boolean;
  /** Ends the run when too many requests have failed so far. */
  checkFailures(): void;
  /** Ends the run: it cannot go on. */
  fail(error: unknown): void;
  /** Tells that several versions of the model served the window. */
  warnOfVersions(model: string): void;
}
