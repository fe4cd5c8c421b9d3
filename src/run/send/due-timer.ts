import { nsToMs } from "../../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";
import { runtimeName } from "../../runtime/runtime.ts";

/** Time before the due time at which to set a timer, because timers fire late. In nanoseconds. */
const TIMER_MARGIN_NS = runtimeName === "deno" ? 2.4e6 : 1.2e6;
/** Minimum sleep, in nanoseconds. */
const MIN_FINE_WAIT_NS = 20e3;
const HOLD_MS = 1e9;

/**
 * Fires at a given time: uses a timer while it is far, then a finer wait or, when the runtime has none, `setImmediate` in a loop, so that
 * I/O continues.
 */
export class DueTimer {
  private readonly onDue: () => void;
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private cancelTurn: Cancel | undefined;
  /** Number of fine waits; only the latest may fire. */
  private waits = 0;
  /** Keeps the process alive, which fine waits do not. */
  private endHold: Cancel | undefined;
  private dueNs = Number.POSITIVE_INFINITY;

  constructor(onDue: () => void, clock = systemClock) {
    this.onDue = onDue;
    this.clock = clock;
  }

  /** Sets the time, replacing the previous one. Infinity: never. */
  set(dueNs: number): void {
    if (dueNs === this.dueNs && dueNs !== Number.POSITIVE_INFINITY) return;
    this.dueNs = dueNs;
    this.arm();
  }

  clear(): void {
    this.set(Number.POSITIVE_INFINITY);
  }

  private arm(): void {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    const { clock } = this;
    const waits = ++this.waits;
    if (this.dueNs === Number.POSITIVE_INFINITY) {
      this.rest();
      return;
    }
    const waitNs = this.dueNs - clock.nowNs();
    if (waitNs - TIMER_MARGIN_NS >= 1e6) {
      this.cancelTimer = clock.after(Math.floor(nsToMs(waitNs - TIMER_MARGIN_NS)), () => {
        this.cancelTimer = undefined;
        this.arm();
      });
    } else if (clock.waitFinely !== undefined && waitNs >= MIN_FINE_WAIT_NS) {
      this.endHold ??= clock.every(HOLD_MS, () => {});
      clock.waitFinely(waitNs, () => {
        if (waits === this.waits) this.poll();
      });
    } else {
      this.cancelTurn ??= clock.nextTurn(() => {
        this.cancelTurn = undefined;
        this.poll();
      });
    }
  }

  private rest(): void {
    this.cancelTurn?.();
    this.cancelTurn = undefined;
    this.endHold?.();
    this.endHold = undefined;
  }

  private poll(): void {
    if (this.dueNs === Number.POSITIVE_INFINITY) return;
    if (this.clock.nowNs() >= this.dueNs) {
      this.dueNs = Number.POSITIVE_INFINITY;
      this.onDue();
    } else {
      this.arm();
    }
  }
}
