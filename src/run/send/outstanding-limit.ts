import type { DelayedRequests } from "../../result/run-result.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";

/** A limit on a schedule's outstanding requests, and statistics of the delayed ones. */
export class OutstandingLimit {
  readonly max: number;
  private readonly clock: Clock;
  /** Whether the schedule waits because of it. */
  private isReached = false;
  private count = 0;
  private longestNs = 0;

  constructor(max: number, clock = systemClock) {
    this.clock = clock;
    this.max = max;
  }

  /** Counts a request sent now if it was delayed. Returns whether it was. */
  countSent(dueNs: number): boolean {
    if (!this.isReached) return false;
    this.count++;
    this.longestNs = Math.max(this.longestNs, this.clock.nowNs() - dueNs);
    return true;
  }

  /** Updates whether the schedule waits. */
  note(outstanding: number): void {
    this.isReached = outstanding >= this.max;
  }

  /** @param firstDueNs due time of the next request, waiting or future */
  delayedByLimit(firstDueNs: number): DelayedRequests {
    const waitsNs = this.isReached ? this.clock.nowNs() - firstDueNs : 0;
    return { count: this.count, longestNs: Math.max(this.longestNs, waitsNs) };
  }
}
