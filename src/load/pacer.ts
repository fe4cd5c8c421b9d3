import type { Arrivals } from "./arrivals.ts";

/** Deals arrivals to lanes in turn: arrival `i` is lane `i % laneCount`'s, as perf_analyzer's worker threads share a schedule. */
export class Pacer {
  private readonly arrivals: Arrivals;
  private readonly queues: number[][];
  private nextLane = 0;

  constructor(arrivals: Arrivals, laneCount: number) {
    this.arrivals = arrivals;
    this.queues = Array.from({ length: laneCount }, () => []);
  }

  /** When the lane's next request is due, in nanoseconds since the level began. Each call gives the next one. */
  nextDueNs(lane: number): number {
    const queue = this.queues[lane] as number[];
    while (queue.length === 0) {
      (this.queues[this.nextLane] as number[]).push(this.arrivals());
      this.nextLane = (this.nextLane + 1) % this.queues.length;
    }
    return queue.shift() as number;
  }
}
