import { nowNs } from "../runtime/clock.ts";
import { type CoreYield, openCoreYield } from "../runtime/core-yield.ts";

/** Requests that leave closer to each other than this are one burst. */
const BURST_GAP_NS = 200_000;
/** Where others have work without end, they get no more of one burst than this: answers would be read late for it. */
const MOST_SHARED_NS = 5e6;

/**
 * Gives the core away for a moment after each request. A server on the same machine is often put on the core of the client that wakes it, and
 * then has to wait until a whole burst of requests has left, some milliseconds later: that wait would look like the server's own time. Where
 * nobody waits for the core, or the server is on another machine, it costs a microsecond.
 */
export class BurstSharing {
  private readonly yieldCore: CoreYield;
  private readonly now: () => number;
  private lastNs = Number.NEGATIVE_INFINITY;
  private sharedNs = 0;

  /** @param now monotonic nanoseconds */
  constructor(yieldCore: CoreYield, now: () => number = nowNs) {
    this.yieldCore = yieldCore;
    this.now = now;
  }

  /** A request has just left. */
  sent(): void {
    const timeNs = this.now();
    if (timeNs - this.lastNs > BURST_GAP_NS) this.sharedNs = 0;
    this.lastNs = timeNs;
    if (this.sharedNs >= MOST_SHARED_NS) return;
    this.yieldCore();
    this.lastNs = this.now();
    this.sharedNs += this.lastNs - timeNs;
  }
}

/** Undefined where a core cannot be given away. */
export async function openBurstSharing(): Promise<BurstSharing | undefined> {
  const yieldCore = await openCoreYield();
  return yieldCore && new BurstSharing(yieldCore);
}
