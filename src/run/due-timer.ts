import { nowNs } from "../runtime/clock.ts";
import { runtimeName } from "../runtime/runtime.ts";

/** How long before the due moment a runtime's timer must be set, because it wakes late. In nanoseconds. */
const TIMER_MARGIN_NS = runtimeName === "deno" ? 2.4e6 : 1.2e6;

/** Wakes at a given moment: by a timer while it is far, then by turning the event loop, so that I/O goes on and no time is lost. */
export class DueTimer {
  private readonly onDue: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private turn: ReturnType<typeof setImmediate> | undefined;
  private dueNs = Number.POSITIVE_INFINITY;

  constructor(onDue: () => void) {
    this.onDue = onDue;
  }

  /** Sets the moment, replacing the one set before. Infinity: never. */
  set(dueNs: number): void {
    this.dueNs = dueNs;
    this.arm();
  }

  clear(): void {
    this.set(Number.POSITIVE_INFINITY);
  }

  private arm(): void {
    if (this.timer !== undefined) clearTimeout(this.timer);
    this.timer = undefined;
    if (this.dueNs === Number.POSITIVE_INFINITY) {
      if (this.turn !== undefined) clearImmediate(this.turn);
      this.turn = undefined;
      return;
    }
    const waitNs = this.dueNs - nowNs() - TIMER_MARGIN_NS;
    if (waitNs >= 1e6) {
      this.timer = setTimeout(
        () => {
          this.timer = undefined;
          this.arm();
        },
        Math.floor(waitNs / 1e6),
      );
    } else {
      this.turn ??= setImmediate(() => this.poll());
    }
  }

  private poll(): void {
    this.turn = undefined;
    if (this.dueNs === Number.POSITIVE_INFINITY) return;
    if (nowNs() >= this.dueNs) {
      this.dueNs = Number.POSITIVE_INFINITY;
      this.onDue();
    } else {
      this.arm();
    }
  }
}
