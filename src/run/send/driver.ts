import type { DelayedRequests } from "../../result/run-result.ts";
import type { LaneOptions } from "../lanes.ts";
import type { ActiveLoad } from "./active-load.ts";
import type { DriverOptions, DriverWork } from "./driver-work.ts";
import { limitDrain } from "./end-waits.ts";
import { RequestSender } from "./request-sender.ts";

/** Starts, changes and stops the loads whose requests are sent, one load after another. Can open connections before `setWork`. */
export class Driver extends RequestSender {
  private readonly endsDrain: boolean;
  /** Number of starts and stops. It identifies outdated load changes, which are dropped. */
  private turn = 0;

  constructor(options: DriverOptions) {
    super(options);
    this.endsDrain = options.endsDrain === true;
  }

  /** Sets the lanes for a known model, before the first request. */
  setLanes(lanes: LaneOptions): void {
    this.lanes = lanes;
    this.clientLanes.laneCount = lanes.laneCount;
  }

  /** Sets the work, before the first start. */
  setWork(work: DriverWork): void {
    this.work = work;
    this.responses.keepBodies = work.needsBodies;
    this.responses.keepHeaders = work.needsHeaders;
    this.responses.createCheck = work.createCheck;
    this.requestTimeout?.start();
    this.ended.setWork(work);
    this.feed = work.feed;
    this.groups = work.groups;
    this.readsFirst = work.readsFirst === true;
  }

  /** Whether the load still sends requests: it is not stopped, and its quota is not used up. */
  get isSending(): boolean {
    return !this.isStopped && this.quota > 0;
  }

  /** Requests delayed by the current load's limit of outstanding requests. */
  get delayedByLimit(): DelayedRequests | undefined {
    return this.load.delayedByLimit;
  }

  /**
   * Prepares the start of a load. Returns a function that reports whether no other start or stop has followed. @param quota maximum
   * number of requests @param endNs end of a schedule. Default: none
   */
  begin(quota: number, endNs = Number.POSITIVE_INFINITY): () => boolean {
    this.quota = quota;
    this.endNs = endNs;
    this.isStopped = false;
    const turn = ++this.turn;
    return () => turn === this.turn;
  }

  /** Changes to another load without a pause: requests in flight end under the new load. @param begin starts the new load */
  replace(load: ActiveLoad, quota: number, begin: () => void): void {
    if (load !== this.load) this.guard(() => this.load.stop());
    this.quota = quota;
    this.endNs = Number.POSITIVE_INFINITY;
    this.use(load);
    this.guard(begin);
  }

  /** Makes this load decide when requests are sent. */
  use<L extends ActiveLoad>(load: L): L {
    this.isStopped = false;
    this.load = load;
    return load;
  }

  /** Stops sending, except for the ends of open sequences. Resolves when nothing is outstanding. */
  stop(): Promise<void> {
    this.turn++;
    return this.halt();
  }

  /** Resolves when the quota is used up and nothing is outstanding. */
  finished(): Promise<void> {
    return this.isFinished ? Promise.resolve() : this.waits.untilFinished();
  }

  /** Resolves when this number of requests has ended. A new wait resolves the previous one. */
  reachEnded(count: number): Promise<void> {
    return this.waits.untilEnded(this.endedCount, count);
  }

  /**
   * Fails outstanding requests and closes the connections. @param cancelMessage reason to cancel them instead of failing
   * them. Default: they fail
   */
  close(cancelMessage?: string): void {
    if (this.feed !== undefined) void this.stop();
    this.isClosed = true;
    if (cancelMessage !== undefined) this.cancel(cancelMessage);
    this.requestTimeout?.stop();
    this.client.close();
    this.drain();
  }

  /**
   * Cancels requests in flight, so that they count neither as completed nor as failed.
   * @param message the reason @param which "unsent": only requests that wait for a connection, or for a stream on one.
   * Default: all
   */
  cancel(message: string, which: "all" | "unsent" = "all"): void {
    for (const { slot, isActive, isSending, hasStream } of this.client.calls)
      if (isActive && (which === "all" || (isSending && !hasStream)))
        this.client.cancel(slot, { kind: "unfinished", message });
  }

  /** Judges deferred responses, and drains the records. */
  drain(): void {
    this.ended.flush();
    this.ended.drainRecords();
  }

  /** Restarts the data at its first step. */
  rewind(): void {
    this.feed?.rewind();
  }

  /** Stops sending like {@link stop}, as part of a start. */
  halt(): Promise<void> {
    this.isStopped = true;
    const waiting = this.backoff.clear();
    this.guard(() => {
      this.load.stop();
      // These slots will not retry, so end their open sequences now.
      for (const slot of waiting) this.load.next(slot);
      this.client.flush();
    });
    const drained = this.waits.untilOutstanding(this.outstandingCount, 0);
    if (!this.endsDrain || this.outstandingCount === 0) return drained;
    return limitDrain(drained, this.ended.longestNs, this.clock, (message) => this.cancel(message));
  }
}
