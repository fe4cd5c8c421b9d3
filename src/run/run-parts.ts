import type { PhasedLoad } from "../load/load-mode.ts";
import type { Share } from "../load/share.ts";
import type { Measurement } from "../measure/measurement.ts";
import type { RunTokens } from "../measure/tokens/run-tokens.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunObserver } from "../result/observer.ts";
import type { LevelWorkers } from "../result/run-result.ts";
import type { Clock } from "../runtime/clock.ts";
import type { RequestContent } from "../service/content.ts";
import type { GaugePoller } from "../telemetry/gauge-poller.ts";
import type { Call } from "../transport/call.ts";
import type { Failure } from "../transport/failure.ts";
import type { RequestGroups } from "./groups/request-groups.ts";
import type { HostLimits } from "./host-limits.ts";
import type { RunSignal } from "./interrupt.ts";
import type { ContentCheck } from "./judge/content-check.ts";
import type { Session } from "./open/session.ts";
import type { Peers } from "./peers/peers.ts";
import type { Canceller } from "./send/canceller.ts";
import type { Driver } from "./send/driver.ts";
import type { Feed } from "./send/feed.ts";
import type { LoadSender, SenderListener } from "./send/messages.ts";
import type { Slots } from "./send/slots.ts";

/** Parts of a run that both the conductor and the sender need. */
export interface RunParts {
  readonly plan: Plan;
  readonly observer: RunObserver;
  readonly load: PhasedLoad;
  readonly session: Session;
  /** Groups of requests that are measured separately; undefined when there are none. */
  readonly groups?: RequestGroups | undefined;
  /** Time by which the clocks of senders on other hosts are set back. Default: 0 */
  readonly delayNs?: number | undefined;
}

/** Receives each judged request, for a remote conductor. */
export interface JudgedRequests {
  readonly needsBodies: boolean;
  /** @param content content of the request, unless it follows from its step of the data */
  add(call: Call, slots: Slots, failure: Failure | undefined, content?: RequestContent): void;
}

/** Dependencies of a sender in this thread. */
export interface SenderParts extends RunParts {
  readonly feed: Feed;
  readonly driver: Driver;
  /** Creates the scenario's check of responses, for a target's plan. Absent: the scenario has none. */
  readonly createCheck?: ((plan: Plan) => ContentCheck) | undefined;
  /** Cancels some of the requests; undefined when the plan requests none. */
  readonly canceller: Canceller | undefined;
  /** Measures the tokens of responses; undefined when the plan requests none. */
  readonly tokens: RunTokens | undefined;
  /** The sender's share of the load. Default: all of it. */
  readonly share?: Share | undefined;
  /** Receives each judged request. Default: no remote conductor wants single requests. */
  readonly requests?: JudgedRequests | undefined;
}

/** Dependencies of the conductor of a run. */
export interface ConductorParts extends RunParts {
  readonly signal: RunSignal;
  /** Opens the sender. @param listener receives ended requests and errors */
  createSender(listener: SenderListener): LoadSender;
  /** The clock by which the sender sends. */
  readonly clock: Clock;
  readonly laneCount: number;
  /** Number of turns of all sessions. Absent: the load has no sessions. */
  readonly turnCount?: number | undefined;
  /** Due time of each step, when the load follows the data. */
  readonly timestampsMs: readonly number[];
  /** Whether tokens are measured. */
  readonly hasTokens: boolean;
  /** Limits on the run's use of its host. */
  readonly hostLimits: HostLimits;
  /** Limits on the senders' use of their hosts. Default: `hostLimits`. */
  readonly senderLimits?: HostLimits | undefined;
  /** Scrapes GPU metrics; undefined when the plan requests none. */
  readonly poller: GaugePoller | undefined;
  readonly peers: Peers;
  /** Runs while connections are opened, before the run begins. Absent: remote senders have rehearsed while they were opened. */
  rehearse?: (() => Promise<void>) | undefined;
  /** Start of the run, before the first request. A rehearsal delays it. */
  readonly startNs: number;
  /** Rejects when the plan is not valid. Absent: the plan was checked before. */
  check?: (() => Promise<unknown>) | undefined;
  /** Decides how many threads send a level. Absent: the number is constant. */
  readonly growth?: SenderGrowth | undefined;
}

/** Decides between levels how many threads send. */
export interface SenderGrowth {
  /** Threads of the level being measured. */
  readonly levelWorkers: LevelWorkers;
  /** Adds a thread after a level if needed. Resolves when the next level can begin. */
  growAfter(window: Measurement): Promise<void>;
}
