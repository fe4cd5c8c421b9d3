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
import type { Call } from "../transport/client.ts";
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

/** What both sides of a run need: the one that decides, and the one that sends. */
export interface RunParts {
  readonly plan: Plan;
  readonly observer: RunObserver;
  readonly load: PhasedLoad;
  readonly session: Session;
  /** The groups of requests to measure apart; undefined when there are none. */
  readonly groups?: RequestGroups | undefined;
}

/** Hears of each judged request, for a conductor elsewhere. */
export interface JudgedRequests {
  /** Whether it needs the bodies of responses. */
  readonly needsBodies: boolean;
  /** @param content that of the request, unless it follows from its step of the data */
  add(call: Call, slots: Slots, failure: Failure | undefined, content?: RequestContent): void;
}

/** What a sender of this thread needs. */
export interface SenderParts extends RunParts {
  readonly feed: Feed;
  readonly driver: Driver;
  /** Creates the check of responses that the scenario makes, for a target's plan. Absent: it makes none. */
  readonly createCheck?: ((plan: Plan) => ContentCheck) | undefined;
  /** Cancels some of the requests; undefined when the plan requests none. */
  readonly canceller: Canceller | undefined;
  /** Measures the tokens of responses; undefined when the plan requests none. */
  readonly tokens: RunTokens | undefined;
  /** What the sender owns of the load. Default: all of it. */
  readonly share?: Share | undefined;
  /** Hears of each judged request. Default: nobody wants single requests elsewhere. */
  readonly requests?: JudgedRequests | undefined;
}

/** What the conductor of a run needs. */
export interface ConductorParts extends RunParts {
  readonly signal: RunSignal;
  /** Opens what sends. @param listener hears of what ends */
  createSender(listener: SenderListener): LoadSender;
  /** The one by which the sender sends. */
  readonly clock: Clock;
  /** Number of lanes of the sender. */
  readonly laneCount: number;
  /** Number of turns of all sessions. Absent: the load has no sessions. */
  readonly turnCount?: number | undefined;
  /** Due time of each step, when the load follows the data. */
  readonly timestampsMs: readonly number[];
  /** Whether tokens are measured. */
  readonly hasTokens: boolean;
  /** What the run may use of its host. */
  readonly hostLimits: HostLimits;
  /** What the senders may use of their hosts. Default: `hostLimits`. */
  readonly senderLimits?: HostLimits | undefined;
  /** Scrapes GPU metrics; undefined when the plan requests none. */
  readonly poller: GaugePoller | undefined;
  readonly peers: Peers;
  /** Runs while connections are opened, before the run begins. Absent: nothing, senders elsewhere have rehearsed when they are open. */
  rehearse?: (() => Promise<void>) | undefined;
  /** Start of the run, before the first request. A rehearsal moves it. */
  readonly startNs: number;
  /** Rejects when the plan is not valid. Absent: it was checked before. */
  check?: (() => Promise<unknown>) | undefined;
  /** Decides how many threads send a level. Absent: it is always the same number. */
  readonly growth?: SenderGrowth | undefined;
}

/** Decides between levels how many threads send. */
export interface SenderGrowth {
  /** For the level that is measured. */
  readonly levelWorkers: LevelWorkers;
  /** Perhaps adds a thread after a level. Resolves when the next level can begin. */
  growAfter(window: Measurement): Promise<void>;
}
