import type { Arrivals } from "../../load/arrivals.ts";
import { DueHeap } from "../../load/due-heap.ts";
import { Pacer } from "../../load/pacer.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";

/**
 * As in perf_analyzer a request is delayed when it was due before its lane came to wait for it; being woken late is no delay. This much is
 * the grain of an event loop.
 */
const DELAY_TOLERANCE_NS = 1e6;

/** Which lane is due when, from the moment it is made. Times are the clock's nanoseconds. */
export class Schedule {
  private readonly clock: Clock;
  private readonly startNs: number;
  private readonly heap = new DueHeap();
  private readonly pacer: Pacer;
  /** By lane: whether its next request was already due when the one before it was sent. */
  private readonly behind: boolean[] = [];

  constructor(arrivals: Arrivals, laneCount: number, clock = systemClock) {
    this.clock = clock;
    this.startNs = clock.nowNs();
    this.pacer = new Pacer(arrivals, laneCount);
    for (let lane = 0; lane < laneCount; lane++) this.push(lane, this.nextDueNs(lane));
  }

  /** When the first of the waiting lanes is due; infinity when none waits. */
  get firstDueNs(): number {
    return this.startNs + this.heap.firstDueNs;
  }

  /** Takes out the lane that is due first. */
  pop(): number {
    return this.heap.pop();
  }

  /** Lets a lane wait for its time. */
  push(lane: number, dueNs: number): void {
    this.heap.push(lane, dueNs - this.startNs);
  }

  /** When the lane's next request is due; a new time with each call. */
  nextDueNs(lane: number): number {
    const dueNs = this.startNs + this.pacer.nextDueNs(lane);
    this.behind[lane] = this.isLate(dueNs);
    return dueNs;
  }

  /** Whether the lane's next request was due before the lane came to wait for it. */
  isBehind(lane: number): boolean {
    return this.behind[lane] === true;
  }

  /** Whether a request that was due then is late by now. */
  isLate(dueNs: number): boolean {
    return this.clock.nowNs() - dueNs > DELAY_TOLERANCE_NS;
  }
}
