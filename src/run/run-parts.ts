import type { PreparedLoad } from "../load/load-mode.ts";
import type { RunTokens } from "../measure/tokens/run-tokens.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunObserver } from "../result/observer.ts";
import type { MetricsPoller } from "../telemetry/metrics-poller.ts";
import type { RequestGroups } from "./groups/request-groups.ts";
import type { HostLimits } from "./host-limits.ts";
import type { ContentCheck } from "./judge/content-check.ts";
import type { Session } from "./open/session.ts";
import type { Peers } from "./peers/peers.ts";
import type { RunSignal } from "./run-signal.ts";
import type { Canceller } from "./send/canceller.ts";
import type { Driver } from "./send/driver.ts";
import type { Feed } from "./send/feed.ts";

/** What the start of a run has created, for the rest of it. */
export interface RunParts {
  readonly plan: Plan;
  readonly observer: RunObserver;
  readonly signal: RunSignal;
  readonly load: PreparedLoad;
  readonly session: Session;
  readonly feed: Feed;
  /** The groups of requests to measure apart; undefined when there are none. */
  readonly groups?: RequestGroups | undefined;
  /** Creates the check of answers that the scenario makes, for a target's plan. Absent: it makes none. */
  readonly createCheck?: ((plan: Plan) => ContentCheck) | undefined;
  readonly driver: Driver;
  /** What the run may use of its host. */
  readonly hostLimits: HostLimits;
  /** Cancels some of the requests; undefined when the plan requests none. */
  readonly canceller: Canceller | undefined;
  /** Scrapes GPU metrics; undefined when the plan requests none. */
  readonly poller: MetricsPoller | undefined;
  /** Measures the tokens of responses; undefined when the plan requests none. */
  readonly tokens: RunTokens | undefined;
  readonly peers: Peers;
  /** Runs while connections are opened, before the first request. */
  readonly rehearse: () => Promise<void>;
  /** Start of the run, before the first request. A rehearsal moves it. */
  readonly startNs: number;
  /** Rejects when the plan is not valid. */
  check(): Promise<unknown>;
}
