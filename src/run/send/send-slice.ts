import { type Clock, systemClock } from "../../runtime/clock.ts";

const SLICE_NS = 1e6;
const LEAST_IN_SLICE = 32;

/**
 * Bounds how long requests leave one after the other while answers of others may have arrived: for a millisecond, or 32 requests where the thread had
 * to wait for a core. A sender with more requests goes on in the next turn of the event loop, after the answers that have arrived are read: 2,000 requests at once would
 * make the first tokens of all of them look late by what it takes to send the rest.
 */
export class SendSlice {
  private readonly clock: Clock;
  private readonly endNs: number;
  private sentCount = 0;

  constructor(clock = systemClock) {
    this.clock = clock;
    this.endNs = clock.nowNs() + SLICE_NS;
  }

  /** Whether one more may be sent in this slice; counts it. */
  takeOne(): boolean {
    return this.sentCount++ < LEAST_IN_SLICE || this.clock.nowNs() < this.endNs;
  }
}
