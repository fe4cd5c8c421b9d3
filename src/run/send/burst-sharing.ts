import { nowNs } from "../../runtime/clock.ts";
import { type CoreYield, openCoreYield } from "../../runtime/core-yield.ts";

/** Requests that leave closer to each other than this are one burst. */
const BURST_GAP_NS = 200_000;
/** Where others have work without end, they get no more of one burst than this: answers would be read late for it. */
const MOST_SHARED_NS = 5e6;
/** A thread that is busier than this has nothing to give away: its own work decides how late answers are. */
const MOST_BUSY_RATIO = 0.7;
const LOOK_EVERY_NS = 50e6;

/** Where a burst's times come from. */
export interface BurstClock {
  /** Monotonic. */
  nowNs(): number;
  /** CPU time of this thread. */
  cpuNs(): number;
}

/**
 * Gives the core away for a moment after each request. A server on the same machine is often put on the core of the client that wakes it, and
 * then has to wait until a whole burst of requests has left, some milliseconds later: that wait would look like the server's own time. Where
 * nobody waits for the core, or the server is on another machine, it costs a microsecond.
 */
export class BurstSharing {
  private readonly yieldCore: CoreYield;
  private readonly clock: BurstClock;
  private lastNs = Number.NEGATIVE_INFINITY;
  private sharedNs = 0;
  private lookedNs: number;
  private lookedCpuNs: number;
  private isBusy = false;

  constructor(yieldCore: CoreYield, clock: BurstClock = { nowNs, cpuNs }) {
    this.yieldCore = yieldCore;
    this.clock = clock;
    this.lookedNs = clock.nowNs();
    this.lookedCpuNs = clock.cpuNs();
  }

  /** A request has just left. */
  sent(): void {
    const timeNs = this.clock.nowNs();
    if (timeNs - this.lookedNs > LOOK_EVERY_NS) this.look(timeNs);
    if (timeNs - this.lastNs > BURST_GAP_NS) this.sharedNs = 0;
    this.lastNs = timeNs;
    if (this.isBusy || this.sharedNs >= MOST_SHARED_NS) return;
    this.yieldCore();
    this.lastNs = this.clock.nowNs();
    this.sharedNs += this.lastNs - timeNs;
  }

  private look(timeNs: number): void {
    const usedNs = this.clock.cpuNs();
    this.isBusy = usedNs - this.lookedCpuNs > (timeNs - this.lookedNs) * MOST_BUSY_RATIO;
    this.lookedNs = timeNs;
    this.lookedCpuNs = usedNs;
  }
}

/** Undefined where a core cannot be given away. */
export async function openBurstSharing(): Promise<BurstSharing | undefined> {
  const yieldCore = await openCoreYield();
  return yieldCore && new BurstSharing(yieldCore);
}

function cpuNs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) * 1000;
}
