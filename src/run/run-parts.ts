import type { PreparedLoad } from "../load/load-mode.ts";
import type { TokenLink } from "../measure/tokens/token-thread.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunObserver } from "../result/observer.ts";
import type { MetricsPoller } from "../telemetry/metrics-poller.ts";
import type { Peers } from "./peers/peers.ts";
import type { RunSignal } from "./run-signal.ts";
import type { Canceller } from "./send/canceller.ts";
import type { Driver } from "./send/driver.ts";
import type { RequestFeed } from "./send/feed.ts";
import type { Session } from "./target/session.ts";

/** What the beginning of a run made, for the rest of it. */
export interface RunParts {
  readonly plan: Plan;
  readonly observer: RunObserver;
  readonly signal: RunSignal;
  readonly load: PreparedLoad;
  readonly session: Session;
  readonly feed: RequestFeed;
  readonly driver: Driver;
  /** Gives up some of the requests; undefined when the plan asks for none. */
  readonly canceller: Canceller | undefined;
  /** Reads the server's metrics; undefined when the plan asks for none. */
  readonly poller: MetricsPoller | undefined;
  /** Measures the tokens of answers; undefined when the plan asks for none. */
  readonly tokens: TokenLink | undefined;
  readonly peers: Peers;
  /** What is done while connections are opened and accepted, before the first request. */
  readonly rehearse: (() => Promise<void>) | undefined;
  /** Before the first request. With a rehearsal the run begins after it instead. */
  readonly startNs: number;
  /** Rejects when the plan is not sound. */
  check(): Promise<unknown>;
}
