import { nowNs } from "../../runtime/clock.ts";
import { waitFinely } from "../../runtime/fine-wait.ts";
import { runtimeName } from "../../runtime/runtime.ts";

/** Time before the due time at which to set a timer, because timers fire late. In nanoseconds. */
const TIMER_MARGIN_NS = runtimeName === "deno" ? 2.4e6 : 1.2e6;
/** Minimum sleep, in nanoseconds. */
const MIN_FINE_WAIT_NS = 20e3;
const HOLD_MS = 1e9;
/** Longer timeouts overflow the timer and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Fires at a given time: uses a timer while it is far, then a finer wait or, when the runtime has none, `setImmediate` in a loop, so that
 * I/O continues.
 */
export class DueTimer {
  private readonly onDue: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private turn: ReturnType<typeof setImmediate> | undefined;
  /** Number of fine waits; only the latest may fire. */
  private waits = 0;
  /** Keeps the process alive, which fine waits do not. */
  private hold: ReturnType<typeof setInterval> | undefined;
  private dueNs = Number.POSITIVE_INFINITY;

  constructor(onDue: () => void) {
    this.onDue = onDue;
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
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.timer = undefined;
    const waits = ++this.waits;
    if (this.dueNs === Number.POSITIVE_INFINITY) {
      this.rest();
      return;
    }
    const waitNs = this.dueNs - nowNs();
    if (waitNs - TIMER_MARGIN_NS >= 1e6) {
      this.timer = setTimeout(
        () => {
          this.timer = undefined;
          this.arm();
        },
        Math.min(MAX_TIMER_MS, Math.floor((waitNs - TIMER_MARGIN_NS) / 1e6)),
      );
    } else if (waitFinely !== undefined && waitNs >= MIN_FINE_WAIT_NS) {
      this.hold ??= setInterval(() => {}, HOLD_MS);
      waitFinely(waitNs, () => {
        if (waits === this.waits) this.poll();
      });
    } else {
      this.turn ??= setImmediate(() => {
        this.turn = undefined;
        this.poll();
      });
    }
  }

  private rest(): void {
    if (this.turn !== undefined) clearImmediate(this.turn);
    this.turn = undefined;
    if (this.hold !== undefined) clearInterval(this.hold);
    this.hold = undefined;
  }

  private poll(): void {
    if (this.dueNs === Number.POSITIVE_INFINITY) return;
    if (nowNs() >= this.dueNs) {
      this.dueNs = Number.POSITIVE_INFINITY;
      this.onDue();
    } else {
      this.arm();
    }
  }
}
