import type { Arrivals } from "./arrivals.ts";

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
}
