import { nowNs } from "../../runtime/clock.ts";
import { waitFinely } from "../../runtime/fine-wait.ts";
import { runtimeName } from "../../runtime/runtime.ts";

/** How long before the due moment a runtime's timer must be set, because it wakes late. In nanoseconds. */
const TIMER_MARGIN_NS = runtimeName === "deno" ? 2.4e6 : 1.2e6;
/** Shorter than this a sleep is not worth its wake-up. In nanoseconds. */
const MIN_FINE_WAIT_NS = 20e3;
const HOLD_MS = 1e9;
/** Timers take 31 bits of milliseconds; a longer one would wake at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Wakes at a given moment: by a timer while it is far, then by a finer wait, or, where a runtime has none, by turning the event loop, so that
 * I/O goes on and no time is lost.
 */
export class DueTimer {
  private readonly onDue: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private turn: ReturnType<typeof setImmediate> | undefined;
  /** Counts the fine waits: those before the latest wake for nothing. */
  private waits = 0;
  /** Keeps the process alive, which fine waits do not. */
  private hold: ReturnType<typeof setInterval> | undefined;
  private dueNs = Number.POSITIVE_INFINITY;

  constructor(onDue: () => void) {
    this.onDue = onDue;
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
