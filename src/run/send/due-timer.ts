import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";
import { runtimeName } from "../../runtime/runtime.ts";

/** How long before the due moment a runtime's timer must be set, because it wakes late. In nanoseconds. */
const TIMER_MARGIN_NS = runtimeName === "deno" ? 2.4e6 : 1.2e6;
/** Shorter than this a sleep is not worth its wake-up. In nanoseconds. */
const MIN_FINE_WAIT_NS = 20e3;
const HOLD_MS = 1e9;

/**
 * Wakes at a given moment: by a timer while it is far, then by a finer wait, or, where a runtime has none, by turning the event loop, so that
 * I/O goes on and no time is lost.
 */
export class DueTimer {
  private readonly onDue: () => void;
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private cancelTurn: Cancel | undefined;
  /** Counts the fine waits: those before the latest wake for nothing. */
  private waits = 0;
  /** Keeps the process alive, which fine waits do not. */
  private endHold: Cancel | undefined;
  private dueNs = Number.POSITIVE_INFINITY;

  constructor(onDue: () => void, clock = systemClock) {
    this.onDue = onDue;
    this.clock = clock;
  }

  /** Sets the moment, replacing the one set before. Infinity: never. */
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
      this.cancelTimer = clock.after(Math.floor((waitNs - TIMER_MARGIN_NS) / 1e6), () => {
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
