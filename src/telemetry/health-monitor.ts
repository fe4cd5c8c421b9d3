import type { ClientHealth } from "../measure/measurement.ts";
import { percentileAt } from "../measure/sketch.ts";
import { DurationTally } from "../measure/tally/duration-tally.ts";
import { nsToMs, usToNs } from "../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../runtime/clock.ts";
import { type CoreWait, openCoreWait } from "../runtime/core-wait.ts";
import { runtimeName } from "../runtime/runtime.ts";

const TICK_NS = 20e6;
/** Timer resolution on an idle machine: nanoseconds on Bun's event loop, milliseconds on Node's and Deno's. */
const TIMER_GRAIN_NS = runtimeName === "bun" ? 0.1e6 : 1e6;
/** Minimum number of samples for a 99th percentile. */
const P99_SAMPLES = 100;

let coreWait: CoreWait | undefined;
let isCoreWaitOpen = false;

/** Monitors the measuring thread: CPU time, waits for a core, and event-loop lag. See {@link ClientHealth}. */
export class HealthMonitor {
  private readonly clock: Clock;
  private readonly isLagFree: boolean;
  private cancelTicks: Cancel | undefined;
  private lastTickNs = 0;
  private startNs = 0;
  private startCpuUs = 0;
  private startWaitNs: number | undefined;
  private lag = new DurationTally();

  /** @param isLagFree whether requests' times do not depend on this thread, so that its lag is not in them. Default: false */
  constructor(clock = systemClock, isLagFree = false) {
    this.clock = clock;
    this.isLagFree = isLagFree;
  }

  /** Starts or restarts monitoring. */
  start(): void {
    const { clock } = this;
    if (this.cancelTicks === undefined && !this.isLagFree) {
      this.cancelTicks = clock.every(nsToMs(TICK_NS), () => this.tick(clock.nowNs()), true);
      this.lastTickNs = clock.nowNs();
    }
    this.startNs = clock.nowNs();
    this.startCpuUs = cpuUs();
    this.startWaitNs = coreWaitNs();
    this.lag = new DurationTally();
  }

  /** Returns the health since the start, and restarts. */
  take(): ClientHealth {
    const { startWaitNs } = this;
    const lag = this.lag.toSketch();
    const wallNs = this.clock.nowNs() - this.startNs;
    const usedUs = cpuUs() - this.startCpuUs;
    const waitNs = startWaitNs === undefined ? undefined : (coreWaitNs() ?? startWaitNs) - startWaitNs;
    const health: ClientHealth = {
      cpuRatio: wallNs <= 0 ? 0 : usToNs(usedUs) / wallNs,
      loopLagMaxNs: lag.max,
      loopLagMeanNs: lag.mean,
      ...(lag.count < P99_SAMPLES ? {} : { loopLagP99Ns: percentileAt(lag, 99) }),
      ...(waitNs === undefined || wallNs <= 0 ? {} : { coreWaitRatio: Math.min(1, waitNs / wallNs) }),
    };
    this.start();
    return health;
  }

  stop(): void {
    this.cancelTicks?.();
  }

  /** A late tick also counts for the ticks that it skipped, because events at those times would have waited too. */
  private tick(tickNs: number): void {
    const lagNs = Math.max(0, tickNs - this.lastTickNs - TICK_NS - TIMER_GRAIN_NS);
    this.lastTickNs = tickNs;
    const samples = Float64Array.from({ length: 1 + Math.floor(lagNs / TICK_NS) }, (_, i) => lagNs - i * TICK_NS);
    this.lag.addAll(samples, samples.length);
  }
}

/** CPU time of this thread only, without the embedded target's thread. */
function cpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** Only the main thread measures, so one open file is enough. */
function coreWaitNs(): number | undefined {
  if (!isCoreWaitOpen) coreWait = openCoreWait();
  isCoreWaitOpen = true;
  return coreWait?.();
}
