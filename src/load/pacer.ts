import type { Arrivals } from "./arrivals.ts";

/** Above this many arrivals, the rest is computed from their mean gap. */
const MOST_COUNTED = 1_000_000;

/** Distributes arrivals to lanes round robin, like perf_analyzer's worker threads: arrival `i` goes to lane `i % laneCount`. */
export class Pacer {
  private readonly arrivals: Arrivals;
  private readonly queues: number[][];
  private nextLane = 0;

  constructor(arrivals: Arrivals, laneCount: number) {
    this.arrivals = arrivals;
    this.queues = Array.from({ length: laneCount }, () => []);
  }

  /** Returns the due time of the lane's next request, in nanoseconds since the level began. Advances with each call. */
  nextDueNs(lane: number): number {
    const queue = this.queues[lane] as number[];
    while (queue.length === 0) {
      (this.queues[this.nextLane] as number[]).push(this.arrivals());
      this.nextLane = (this.nextLane + 1) % this.queues.length;
    }
    return queue.shift() as number;
  }

  /**
   * Returns the number of arrivals up to a time that no lane has taken, and skips them. Numbers above a million are
   * estimated.
   */
  takeDue(untilNs: number): number {
    let count = 0;
    for (const [lane, queue] of this.queues.entries()) {
      const later = queue.filter((dueNs) => dueNs > untilNs);
      count += queue.length - later.length;
      this.queues[lane] = later;
    }
    const firstNs = this.arrivals();
    let dueNs = firstNs;
    let drawn = 0;
    for (; dueNs <= untilNs && drawn < MOST_COUNTED; drawn++) dueNs = this.arrivals();
    if (dueNs <= untilNs) return count + Math.round((drawn * (untilNs - firstNs)) / (dueNs - firstNs));
    (this.queues[this.nextLane] as number[]).push(dueNs);
    this.nextLane = (this.nextLane + 1) % this.queues.length;
    return count + drawn;
  }
}
