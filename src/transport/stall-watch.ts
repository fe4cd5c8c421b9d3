import { nowNs } from "../runtime/clock.ts";

const MAX_CHECK_INTERVAL_MS = 1000;

/** Calls back periodically with the deadline for activity, so that a server that sends nothing cannot hang a run. */
export class StallWatch {
  private readonly timeoutNs: number;
  private readonly onCheck: (deadlineNs: number) => void;
  private timer: ReturnType<typeof setInterval> | undefined;

  /** @param timeoutNs allowed time without activity, in nanoseconds; checked at least four times per timeout and at most once a second */
  constructor(timeoutNs: number, onCheck: (deadlineNs: number) => void) {
    this.timeoutNs = timeoutNs;
    this.onCheck = onCheck;
  }

  /** Starts the timer; later calls do nothing. Call when there is something to wait for, because setting up a timer takes time. */
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
