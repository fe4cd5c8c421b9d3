import type { DelayedRequests } from "../../result/run-result.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";

/** How many requests of a schedule may be outstanding, and what waited for that. */
export class OutstandingLimit {
  readonly most: number;
  private readonly clock: Clock;
  /** Whether the schedule stands still because of it. */
  private isReached = false;
  private count = 0;
  private longestNs = 0;

  constructor(most: number, clock = systemClock) {
    this.clock = clock;
    this.most = most;
  }

  /** Counts a request that is sent now, if it had to wait. Returns whether it had. */
  countSent(dueNs: number): boolean {
    if (!this.isReached) return false;
    this.count++;
    this.longestNs = Math.max(this.longestNs, this.clock.nowNs() - dueNs);
    return true;
  }

  /** Notes whether the schedule stands still from now on. */
  note(outstanding: number): void {
    this.isReached = outstanding >= this.most;
  }

  /** @param firstDueNs when the next request is due, of those that wait or of those to come */
  delayedByLimit(firstDueNs: number): DelayedRequests {
    const waitsNs = this.isReached ? this.clock.nowNs() - firstDueNs : 0;
    return { count: this.count, longestNs: Math.max(this.longestNs, waitsNs) };
  }
}
