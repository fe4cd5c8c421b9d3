import { nowNs } from "../../runtime/clock.ts";

/** Requests that were due and had to wait because too many were outstanding. */
export interface HeldBack {
  /** Requests that waited and were sent. */
  readonly count: number;
  /** The longest wait in nanoseconds; that of the first request which waits still counts too. */
  readonly longestNs: number;
}

/** How many requests of a schedule may be outstanding, and what waited for that. */
export class OutstandingLimit {
  readonly most: number;
  /** Whether the schedule stands still because of it. */
  private isReached = false;
  private count = 0;
  private longestNs = 0;

  constructor(most: number) {
    this.most = most;
  }

  /** Counts a request that is sent now, if it had to wait. Returns whether it had. */
  countSent(dueNs: number): boolean {
    if (!this.isReached) return false;
    this.count++;
    this.longestNs = Math.max(this.longestNs, nowNs() - dueNs);
    return true;
  }

  /** Notes whether the schedule stands still from now on. */
  note(outstanding: number): void {
    this.isReached = outstanding >= this.most;
  }

  /** @param firstDueNs when the next request is due, of those that wait or of those to come */
  heldBack(firstDueNs: number): HeldBack {
    const waitsNs = this.isReached ? nowNs() - firstDueNs : 0;
    return { count: this.count, longestNs: Math.max(this.longestNs, waitsNs) };
  }
}
