import { type Clock, systemClock } from "../../runtime/clock.ts";

const SLICE_NS = 1e6;
const MIN_PER_SLICE = 32;

/**
 * Limits how long requests are sent in a row while responses to others may have arrived: 1 ms, or 32 requests if the thread had to wait for
 * a core. The rest is sent in the next turn of the event loop, after reading. Otherwise, 2,000 requests sent at once would delay the
 * timestamps of all their first tokens.
 */
export class SendSlice {
  private readonly clock: Clock;
  private endNs = 0;
  private sentCount = 0;

  constructor(clock = systemClock) {
    this.clock = clock;
    this.begin(clock.nowNs());
  }

  /** Begins another slice. */
  begin(nowNs: number): void {
    this.endNs = nowNs + SLICE_NS;
    this.sentCount = 0;
  }

  /** Reports whether one more request may be sent in this slice, and counts it. */
  takeOne(): boolean {
    return this.sentCount++ < MIN_PER_SLICE || this.clock.nowNs() < this.endNs;
  }
}
