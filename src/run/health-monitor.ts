import type { ClientHealth } from "../measure/window.ts";
import { nowNs } from "../runtime/clock.ts";

const TICK_MS = 20;

/** Watches the measuring thread: its CPU time and how late its timers come. */
export class HealthMonitor {
  private timer: ReturnType<typeof setInterval> | undefined;
  private lastTickNs = 0;
  private startNs = 0;
  private startCpuUs = 0;
  private lagSumNs = 0;
  private lagMaxNs = 0;
  private ticks = 0;

  /** Begins to watch, or begins anew. */
  start(): void {
    if (this.timer === undefined) {
      this.timer = setInterval(() => this.tick(), TICK_MS);
      this.timer.unref?.();
      this.lastTickNs = nowNs();
    }
    this.startNs = nowNs();
    this.startCpuUs = cpuUs();
    this.lagSumNs = 0;
    this.lagMaxNs = 0;
    this.ticks = 0;
  }

  /** The health since the start, and begins anew. */
  take(): ClientHealth {
    const wallNs = nowNs() - this.startNs;
    const usedUs = cpuUs() - this.startCpuUs;
    const health: ClientHealth = {
      cpuRatio: wallNs <= 0 ? 0 : (usedUs * 1000) / wallNs,
      loopLagMaxNs: this.lagMaxNs,
      loopLagMeanNs: this.ticks === 0 ? 0 : this.lagSumNs / this.ticks,
    };
    this.start();
    return health;
  }

  stop(): void {
    if (this.timer !== undefined) clearInterval(this.timer);
  }

  private tick(): void {
    const tickNs = nowNs();
    const lagNs = Math.max(0, tickNs - this.lastTickNs - TICK_MS * 1e6);
    this.lastTickNs = tickNs;
    this.lagSumNs += lagNs;
    if (lagNs > this.lagMaxNs) this.lagMaxNs = lagNs;
    this.ticks++;
  }
}

/** Of this thread alone: the embedded target's thread must not count. */
function cpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
