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
/** A thread that is late by less was running: it had work, or waited for a core. */
const STANDSTILL_NS = 1e9;
/** Maximum number of standstills to keep; the longest ones are kept. */
const MOST_STANDSTILLS = 64;
/** Minimum number of samples for a 99th percentile. */
const P99_SAMPLES = 100;

let coreWait: CoreWait | undefined;
let isCoreWaitOpen = false;

/** A time in which a thread did not run. */
export interface Standstill {
  readonly startNs: number;
  readonly endNs: number;
}

/** Monitors how busy a thread is. The cost does not depend on how late its timers are. */
export class LoadMonitor {
  /** Called after a standstill, before anything else if {@link checkStandstill} is called first. It may block the thread. */
  onStandstill: (() => void) | undefined;
  protected readonly clock: Clock;
  private readonly isLagFree: boolean;
  private cancelTicks: Cancel | undefined;
  private lastTickNs = 0;
  private startNs = 0;
  private startCpuUs = 0;
  private longestNs = 0;
  /** Standstills since the first start, in no particular order. */
  readonly standstills: Standstill[] = [];

  /** @param isLagFree whether requests' times do not depend on this thread, so that they do not include its lag. Default: false */
  constructor(clock = systemClock, isLagFree = false) {
    this.clock = clock;
    this.isLagFree = isLagFree;
  }

  start(): void {
    const { clock } = this;
    if (this.cancelTicks === undefined && !this.isLagFree) {
      this.cancelTicks = clock.every(nsToMs(TICK_NS), () => this.tick(clock.nowNs()), true);
      this.lastTickNs = clock.nowNs();
    }
    this.startNs = clock.nowNs();
    this.startCpuUs = cpuUs();
    this.longestNs = 0;
  }

  /** Returns the load since the start, and restarts. @param endNs time at which a missing tick counts as late. Default: now */
  take(endNs?: number): Pick<ClientHealth, "cpuRatio" | "loopLagMaxNs"> {
    this.tickIfLate(endNs);
    const { wallNs, longestNs } = this;
    const usedUs = cpuUs() - this.startCpuUs;
    this.start();
    return { cpuRatio: wallNs <= 0 ? 0 : usToNs(usedUs) / wallNs, loopLagMaxNs: longestNs };
  }

  stop(): void {
    this.cancelTicks?.();
    this.cancelTicks = undefined;
  }

  /** Notes a standstill that has just ended, without waiting for the next tick. */
  checkStandstill(): void {
    const nowNs = this.clock.nowNs();
    if (this.cancelTicks !== undefined && nowNs - this.lastTickNs >= STANDSTILL_NS + TICK_NS + TIMER_GRAIN_NS)
      this.tick(nowNs);
  }

  /** Time since the start. */
  protected get wallNs(): number {
    return this.clock.nowNs() - this.startNs;
  }

  /** Counts a tick that was due and has not happened: a thread that does not run at the end of a window was late in it. */
  protected tickIfLate(endNs = this.clock.nowNs()): void {
    const isLate = endNs - this.lastTickNs > TICK_NS + TIMER_GRAIN_NS;
    if (this.cancelTicks !== undefined && isLate) this.tick(endNs);
  }

  protected tick(tickNs: number): number {
    const lagNs = Math.max(0, tickNs - this.lastTickNs - TICK_NS - TIMER_GRAIN_NS);
    this.lastTickNs = tickNs;
    this.longestNs = Math.max(this.longestNs, lagNs);
    if (lagNs < STANDSTILL_NS) return lagNs;
    this.noteStandstill({ startNs: tickNs - lagNs, endNs: tickNs });
    if (this.onStandstill === undefined) return lagNs;
    this.onStandstill();
    // The time for which it blocked the thread is no lag.
    this.lastTickNs = Math.max(tickNs, this.clock.nowNs());
    return lagNs;
  }

  private noteStandstill(standstill: Standstill): void {
    const { standstills } = this;
    standstills.push(standstill);
    if (standstills.length <= MOST_STANDSTILLS) return;
    standstills.sort((a, b) => b.endNs - b.startNs - (a.endNs - a.startNs)).pop();
  }
}

/** Monitors the measuring thread: CPU time, waits for a core, and event-loop lag. See {@link ClientHealth}. */
export class HealthMonitor extends LoadMonitor {
  private startWaitNs: number | undefined;
  private lag = new DurationTally();

  override start(): void {
    super.start();
    this.startWaitNs = coreWaitNs();
    this.lag = new DurationTally();
  }

  /** Returns the health since the start, and restarts. @param endNs see {@link LoadMonitor.take} */
  override take(endNs?: number): ClientHealth {
    this.tickIfLate(endNs);
    const { startWaitNs, wallNs } = this;
    const lag = this.lag.toSketch();
    const waitNs = startWaitNs === undefined ? undefined : (coreWaitNs() ?? startWaitNs) - startWaitNs;
    return {
      ...super.take(),
      loopLagMeanNs: lag.mean,
      ...(lag.count < P99_SAMPLES ? {} : { loopLagP99Ns: percentileAt(lag, 99) }),
      ...(waitNs === undefined || wallNs <= 0 ? {} : { coreWaitRatio: Math.min(1, waitNs / wallNs) }),
    };
  }

  /** A late tick also counts for the ticks that it skipped, because events at those times would have waited too. */
  protected override tick(tickNs: number): number {
    const lagNs = super.tick(tickNs);
    const samples = Float64Array.from({ length: 1 + Math.floor(lagNs / TICK_NS) }, (_, i) => lagNs - i * TICK_NS);
    this.lag.addAll(samples, samples.length);
    return lagNs;
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
