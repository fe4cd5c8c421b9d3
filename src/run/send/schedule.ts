import type { Arrivals } from "../../load/arrivals.ts";
import { DueHeap } from "../../load/due-heap.ts";
import { Pacer } from "../../load/pacer.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";

/**
 * Like perf_analyzer, a request counts as delayed when it was due before its lane began to wait for it; waking up late does not count. This
 * tolerance is the resolution of an event loop.
 */
export const DELAY_TOLERANCE_NS = 1e6;

/** The due times of lanes. Times are the clock's nanoseconds. */
export class Schedule {
  private readonly clock: Clock;
  private readonly startNs: number;
  private readonly heap = new DueHeap();
  private readonly pacer: Pacer;
  /** Whether each lane's next request was already due when the previous one was sent. */
  private readonly behind: boolean[] = [];

  /** @param startNs start of the schedule. Default: now */
  constructor(arrivals: Arrivals, laneCount: number, clock = systemClock, startNs = clock.nowNs()) {
    this.clock = clock;
    this.startNs = startNs;
    this.pacer = new Pacer(arrivals, laneCount);
    for (let lane = 0; lane < laneCount; lane++) this.push(lane, this.nextDueNs(lane));
  }

  /** Due time of the first waiting lane; Infinity when no lane waits. */
  get firstDueNs(): number {
    return this.startNs + this.heap.firstDueNs;
  }

  /** Removes and returns the lane that is due first. */
  pop(): number {
    return this.heap.pop();
  }

  /** Adds a waiting lane. */
  push(lane: number, dueNs: number): void {
    this.heap.push(lane, dueNs - this.startNs);
  }

  /** Returns the due time of the lane's next request. Advances with each call. */
  nextDueNs(lane: number): number {
    const dueNs = this.startNs + this.pacer.nextDueNs(lane);
    this.behind[lane] = this.isLate(dueNs);
    return dueNs;
  }

  /** Returns the number of requests that are due by `atNs` and were not popped, and skips them. */
  takeDue(atNs: number): number {
    const untilNs = atNs - this.startNs;
    const lanes: number[] = [];
    while (this.heap.firstDueNs <= untilNs) lanes.push(this.heap.pop());
    const count = lanes.length + this.pacer.takeDue(untilNs);
    for (const lane of lanes) this.push(lane, this.nextDueNs(lane));
    return count;
  }

  /** Whether the lane's next request was due before the lane began to wait for it. */
  isBehind(lane: number): boolean {
    return this.behind[lane] === true;
  }

  /** Whether a request with this due time is late now. */
  isLate(dueNs: number): boolean {
    return this.clock.nowNs() - dueNs > DELAY_TOLERANCE_NS;
  }
}
