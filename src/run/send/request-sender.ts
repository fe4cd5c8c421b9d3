import type { Sequences } from "../../load/sequences.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { Call } from "../../transport/call.ts";
import type { Lanes, LoadClient, ResponseNeeds } from "../../transport/client.ts";
import { isConnectionFailure } from "../../transport/failure.ts";
import type { WireRequest } from "../../transport/request.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import { type LaneOptions, OPENED_AHEAD } from "../lanes.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import { Backoff, RequestTimeout } from "./backoff-and-timeout.ts";
import type { BurstSharing } from "./burst-sharing.ts";
import type { Canceller } from "./canceller.ts";
import type { DriverOptions, DriverWork } from "./driver-work.ts";
import { EndWaits } from "./end-waits.ts";
import { EndedRequests } from "./ended-requests.ts";
import type { Feed, RequestFeed } from "./feed.ts";
import { Slots } from "./slots.ts";

/** Sends nothing: the load before the first one. */
const NO_LOAD: ActiveLoad = { activeLanes: 0, next: () => {}, stop: () => {} };

/** Sends each request when the load decides so, and reports its end to the load. Does not measure. */
export class RequestSender implements Sender {
  /** Number of requests passed to the client. */
  sentCount = 0;
  quota = Number.POSITIVE_INFINITY;
  endNs = Number.POSITIVE_INFINITY;
  lastDueNs = 0;
  /**
   * Called before a request is sent, for a load whose quota is set once its end is known. @param intendedNs NaN: the request is
   * due now
   */
  onSend: ((intendedNs: number) => void) | undefined;
  /** Called when the last request of the quota is sent. */
  onAllSent: (() => void) | undefined;
  readonly slots = new Slots();
  readonly clock: Clock;
  lanes: LaneOptions;
  protected work: DriverWork | undefined;
  /** Settings that the client reads before its first request. */
  protected readonly responses: ResponseNeeds = { keepBodies: true };
  protected readonly clientLanes: Lanes;
  feed: Feed | undefined;
  protected groups: RequestGroups | undefined;
  /** Used only by the driver to send. */
  readonly client: LoadClient;
  /** Yields the core while a burst of requests is sent. */
  sharing: BurstSharing | undefined;
  /** Counts and records ended requests. */
  readonly ended: EndedRequests;
  private readonly canceller: Canceller | undefined;
  private readonly beforeEvent: DriverOptions["beforeEvent"];
  protected readonly requestTimeout: RequestTimeout | undefined;
  readonly maxOutstanding: number;
  /** Whether a closed loop reads everything that has arrived before it sends. */
  readsFirst = false;
  load: ActiveLoad = NO_LOAD;
  protected isStopped = true;
  protected isClosed = false;
  protected readonly backoff: Backoff;
  private opening: Promise<unknown> = Promise.resolve();
  protected outstandingCount = 0;
  protected readonly waits = new EndWaits();

  constructor(options: DriverOptions) {
    const { requestTimeoutNs, createClient, canceller, onConnectFailure, clock = systemClock } = options;
    this.clock = clock;
    this.lanes = options;
    this.clientLanes = { laneCount: options.laneCount };
    this.canceller = canceller;
    this.beforeEvent = options.beforeEvent;
    this.maxOutstanding = options.maxOutstanding ?? Number.POSITIVE_INFINITY;
    this.client = createClient({
      responses: this.responses,
      lanes: this.clientLanes,
      stallTimeoutNs: options.stallTimeoutNs,
      maxResponseBytes: options.maxResponseBytes,
      connectionsPerSec: options.connectionsPerSec,
      onConnectFailure,
      onDone: (call) => this.done(call),
      onSent: canceller === undefined ? undefined : (call) => canceller.sent(call),
      onResponse: (call) => {
        // Called for each chunk of a stream; few loads need it.
        if (this.load.onResponse !== undefined) this.guard(() => this.load.onResponse?.(call.slot, call.messageCount));
      },
    });
    this.backoff = new Backoff((slot) => {
      this.guard(() => this.load.next(slot));
      this.client.flush();
    }, clock);
    this.ended = new EndedRequests(this.client, clock);
    this.requestTimeout =
      requestTimeoutNs === undefined ? undefined : new RequestTimeout(this.client, requestTimeoutNs, clock);
    canceller?.attach((slot, failure) => this.client.cancel(slot, failure));
  }

  get laneCount(): number {
    return this.lanes.laneCount;
  }

  get isSync(): boolean {
    return this.lanes.isSync;
  }

  get sequences(): Sequences | undefined {
    return this.feed?.sequences;
  }

  get outstanding(): number {
    return this.outstandingCount;
  }

  /** Number of requests that have ended, whether or not they were judged yet. */
  get endedCount(): number {
    return this.sentCount - this.outstandingCount;
  }

  get activeLanes(): number {
    return this.load.activeLanes;
  }

  /** Stops sending the current load, except for the ends of open sequences. */
  endSending(): void {
    this.quota = 0;
  }

  /**
   * Ends sending because a load needs more outstanding requests than allowed. @param wanted their number, for a load that was not started
   */
  endAtLimit(wanted?: number): void {
    this.endSending();
    this.work?.listener.limited(wanted);
  }

  setActiveLanes(count: number): void {
    this.feed?.setActiveLanes(Math.min(count, this.laneCount));
  }

  shareSteps(): void {
    this.feed?.shareSteps();
  }

  /** Resolves when the connections are open, including those of earlier calls. */
  async reserve(count: number): Promise<void> {
    const allowed = Math.min(count, this.maxOutstanding);
    if (allowed > this.client.calls.length) this.opening = Promise.all([this.opening, this.client.reserve(allowed)]);
    await this.opening;
  }

  skipRemaining(count: number): void {
    this.quota -= count;
    this.settle();
  }

  isIdle(slot: number): boolean {
    return this.client.calls[slot]?.isActive !== true && !this.backoff.isWaiting(slot);
  }

  send(slot: number, sequence: number, intendedNs: number, isDelayed: boolean): void {
    if (this.quota <= 0 || this.isClosed) return;
    if (this.outstandingCount >= this.maxOutstanding) {
      this.endAtLimit();
      return;
    }
    this.onSend?.(intendedNs);
    if (intendedNs > this.lastDueNs) this.lastDueNs = intendedNs;
    if (--this.quota <= 0) this.onAllSent?.();
    this.slots.schedule(slot, intendedNs, isDelayed);
    this.dispatch(slot, sequence, (this.feed as Feed).next(slot % this.laneCount, sequence, slot));
    this.canceller?.add(this.client.calls[slot] as Call);
  }

  sendEnd(slot: number, sequence: number): void {
    if (this.isClosed) return;
    this.slots.schedule(slot, Number.NaN, false);
    this.dispatch(slot, sequence, (this.feed as RequestFeed).end(slot % this.laneCount, sequence, slot));
  }

  flush(): void {
    this.client.flush();
  }

  waitForOutstanding(atMost: number): Promise<void> {
    return this.waits.untilOutstanding(this.outstandingCount, atMost);
  }

  /** Runs an event-loop callback and ends the run on an exception, which would otherwise be lost. */
  guard(action: () => void): void {
    try {
      this.beforeEvent?.();
      action();
    } catch (error) {
      if (this.work === undefined) throw error;
      this.work.listener.broken(error);
    }
  }

  private dispatch(slot: number, sequence: number, request: WireRequest): void {
    const feed = this.feed as Feed;
    this.sentCount++;
    this.outstandingCount++;
    this.slots.fill(slot, feed, sequence);
    this.groups?.countSent(feed.step);
    if (slot >= this.client.calls.length) void this.client.reserve(Math.min(this.slots.count, slot + OPENED_AHEAD));
    this.sharing?.beforeSend();
    this.client.send(slot, request, feed.stamp);
  }

  private done(call: Call): void {
    const work = this.work as DriverWork;
    // Like `guard`, without allocating a closure per request.
    try {
      this.beforeEvent?.();
      this.conclude(call);
    } catch (error) {
      work.listener.broken(error);
    } finally {
      this.settle();
    }
  }

  private conclude(call: Call): void {
    const { slot } = call;
    const { load, slots } = this;
    this.outstandingCount--;
    this.canceller?.ended(slot);
    const failure = this.ended.add(call, slots, slot % this.laneCount);
    if (failure === undefined) {
      this.backoff.reset(slot);
      load.onResponse?.(slot, call.messageCount);
    } else load.onFailed?.(slot);
    const isLost = failure !== undefined && isConnectionFailure(failure) && !this.isStopped;
    if (!isLost || !this.backoff.wait(slot)) load.next(slot);
  }

  /** Resolves waits for the ends of requests. */
  private settle(): void {
    this.waits.check(this.outstandingCount, this.endedCount);
    if (!this.waits.isFinishAwaited || !this.isFinished) return;
    this.ended.flush();
    this.waits.finish();
  }

  protected get isFinished(): boolean {
    return this.outstandingCount === 0 && (this.quota <= 0 || this.activeLanes === 0);
  }
}
