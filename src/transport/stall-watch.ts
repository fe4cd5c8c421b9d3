import { nowNs } from "../runtime/clock.ts";

const MAX_CHECK_INTERVAL_MS = 1000;

/** Calls back regularly with the moment before which activity counts as none, so that a silent server cannot hang a run. */
export class StallWatch {
  private readonly timeoutNs: number;
  private readonly onCheck: (deadlineNs: number) => void;
  private timer: ReturnType<typeof setInterval> | undefined;

  /** @param timeoutNs silence allowed, in nanoseconds; checked at least four times per timeout, at most once a second */
  constructor(timeoutNs: number, onCheck: (deadlineNs: number) => void) {
    this.timeoutNs = timeoutNs;
    this.onCheck = onCheck;
  }

  /** Begins to watch; later calls do nothing. To be called once there is something to wait for: a timer takes time to set up. */
  start(): void {
    if (this.timer !== undefined) return;
    const intervalMs = Math.max(10, Math.min(MAX_CHECK_INTERVAL_MS, this.timeoutNs / 4e6));
    this.timer = setInterval(() => this.onCheck(nowNs() - this.timeoutNs), intervalMs);
    this.timer.unref?.();
  }

  stop(): void {
    if (this.timer !== undefined) clearInterval(this.timer);
  }
}
