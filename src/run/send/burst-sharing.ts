import { usToNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { type CoreYield, openCoreYield } from "../../runtime/core-yield.ts";

/** Requests closer together than this belong to one burst. */
const BURST_GAP_NS = 200_000;
/** Maximum time per burst given to other threads, so that responses are not read late. */
const MAX_SHARED_NS = 5e6;
/** Above this CPU usage the core is not yielded, because this thread's own work delays it. */
const MAX_CPU_RATIO = 0.7;
const CHECK_INTERVAL_NS = 50e6;

/** The clocks of burst sharing. */
export interface BurstClock {
  /** Monotonic time. */
  nowNs(): number;
  /** CPU time of this thread. */
  cpuNs(): number;
}

/**
 * Yields the core briefly between the requests of a burst. A server on the same machine often runs on the core of the client that wakes
 * it. It would have to wait until the whole burst has been sent, some milliseconds later, and this wait would look like the server's time.
 * When no thread waits for the core, yielding costs a microsecond. After the last request, the client sleeps anyway: yielding would only
 * let busy processes delay its next read.
 */
export class BurstSharing {
  private readonly yieldCore: CoreYield;
  private readonly clock: BurstClock;
  private lastNs = Number.NEGATIVE_INFINITY;
  private sharedNs = 0;
  private checkedNs: number;
  private checkedCpuNs: number;
  private isBusy = false;

  constructor(yieldCore: CoreYield, clock: BurstClock = { nowNs, cpuNs }) {
    this.yieldCore = yieldCore;
    this.clock = clock;
    this.checkedNs = clock.nowNs();
    this.checkedCpuNs = clock.cpuNs();
  }

  /** Call before sending a request. */
  beforeSend(): void {
    const timeNs = this.clock.nowNs();
    if (timeNs - this.checkedNs > CHECK_INTERVAL_NS) this.checkCpu(timeNs);
    const isFirst = timeNs - this.lastNs > BURST_GAP_NS;
    if (isFirst) this.sharedNs = 0;
    this.lastNs = timeNs;
    if (isFirst || this.isBusy || this.sharedNs >= MAX_SHARED_NS) return;
    this.yieldCore();
    this.lastNs = this.clock.nowNs();
    this.sharedNs += this.lastNs - timeNs;
  }

  private checkCpu(timeNs: number): void {
    const usedNs = this.clock.cpuNs();
    this.isBusy = usedNs - this.checkedCpuNs > (timeNs - this.checkedNs) * MAX_CPU_RATIO;
    this.checkedNs = timeNs;
    this.checkedCpuNs = usedNs;
  }
}

/** Returns undefined when a core cannot be yielded. */
export async function openBurstSharing(): Promise<BurstSharing | undefined> {
  const yieldCore = await openCoreYield();
  return yieldCore && new BurstSharing(yieldCore);
}

function cpuNs(): number {
  const { user, system } = process.threadCpuUsage();
  return usToNs(user + system);
}
