import { nowNs } from "../runtime/clock.ts";
import type { ClientHealth } from "../measure/window.ts";

const TICK_MS = 20;

/** Watches the measuring thread: its CPU time and how late its timers come. */
export class HealthMonitor {
  readonly #timer: ReturnType<typeof setInterval>;
  #lastTickNs = nowNs();
  #startNs = nowNs();
  #startCpuUs = cpuUs();
  #lagSumNs = 0;
  #lagMaxNs = 0;
  #ticks = 0;

  constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#timer.unref?.();
  }

  /** The health since the last call (or the start), and begins anew. */
  take(): ClientHealth {
    const wallNs = nowNs() - this.#startNs;
    const usedUs = cpuUs() - this.#startCpuUs;
    const health: ClientHealth = {
      cpuRatio: wallNs <= 0 ? 0 : (usedUs * 1000) / wallNs,
      loopLagMaxNs: this.#lagMaxNs,
      loopLagMeanNs: this.#ticks === 0 ? 0 : this.#lagSumNs / this.#ticks,
    };
    this.#startNs = nowNs();
    this.#startCpuUs = cpuUs();
    this.#lagSumNs = 0;
    this.#lagMaxNs = 0;
    this.#ticks = 0;
    return health;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const tickNs = nowNs();
    const lagNs = Math.max(0, tickNs - this.#lastTickNs - TICK_MS * 1e6);
    this.#lastTickNs = tickNs;
    this.#lagSumNs += lagNs;
    if (lagNs > this.#lagMaxNs) this.#lagMaxNs = lagNs;
    this.#ticks++;
  }
}

/** Of this thread alone: the embedded target's thread must not count. */
function cpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
