import { msToNs } from "../plan/units.ts";
import { nowNs } from "../runtime/clock.ts";

const MAX_CHECK_INTERVAL_MS = 1000;

/** A time in which this process did not run. It ended at `endNs` and lasted `lengthNs`. */
interface Pause {
  readonly endNs: number;
  readonly lengthNs: number;
}

/**
 * The times in which this process did not run: it was stopped, the host slept, or its thread was busy. They do not count against a server's
 * time limits, because data that it sent meanwhile waits in the sockets.
 */
export class Pauses {
  private readonly leastNs: number;
  private readonly pauses: Pause[] = [];
  private wasLate = false;

  /** @param leastNs a timer that is later than this shows that the process did not run */
  constructor(leastNs: number) {
    this.leastNs = leastNs;
  }

  /**
   * Records when a timer fired. Returns whether everything that has arrived until now has been read. This is false after a pause, and true
   * at the next timer, in time or not, so that a process that hardly runs still notices a silent server.
   */
  note(atNs: number, expectedNs: number): boolean {
    const lengthNs = atNs - expectedNs;
    const isLate = lengthNs > this.leastNs;
    if (isLate) this.pauses.push({ endNs: atNs, lengthNs });
    this.wasLate = isLate && !this.wasLate;
    return !this.wasLate;
  }

  /** Returns the start of the span in which this process ran for `spanNs`, until now. */
  startOf(spanNs: number, atNs: number): number {
    let startNs = atNs - spanNs;
    // Starts at the newest pause: a pause after the start moves the start back, which may reach an older pause.
    const older = this.pauses.findLastIndex((pause) => {
      if (pause.endNs < startNs) return true;
      startNs -= pause.lengthNs;
      return false;
    });
    this.pauses.splice(0, older + 1);
    return startNs;
  }
}

/** Returns the time between two checks that this process runs, in milliseconds: at least four checks per timeout. */
export function lookIntervalMs(timeoutNs: number): number {
  return Math.max(10, Math.min(MAX_CHECK_INTERVAL_MS, timeoutNs / 4e6));
}

/**
 * Calls back periodically with the deadline for activity, so that a server that sends nothing cannot block a run. Time in which
 * this process did not run does not count.
 */
export class StallWatch {
  private readonly timeoutNs: number;
  private readonly intervalMs: number;
  private readonly onCheck: (deadlineNs: number) => void;
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly pauses: Pauses;

  /** @param timeoutNs allowed time without activity, in nanoseconds; checked at least four times per timeout and at most once a second */
  constructor(timeoutNs: number, onCheck: (deadlineNs: number) => void) {
    this.timeoutNs = timeoutNs;
    this.intervalMs = lookIntervalMs(timeoutNs);
    this.pauses = new Pauses(msToNs(this.intervalMs));
    this.onCheck = onCheck;
  }

  /**
   * Starts the timer; later calls do nothing. Call only when there is something to wait for, because setting up a timer takes
   * time.
   */
  start(): void {
    if (this.timer !== undefined) return;
    let checkedNs = nowNs();
    this.timer = setInterval(() => {
      const expectedNs = checkedNs + msToNs(this.intervalMs);
      checkedNs = nowNs();
      if (this.pauses.note(checkedNs, expectedNs)) this.onCheck(this.pauses.startOf(this.timeoutNs, checkedNs));
    }, this.intervalMs);
    this.timer.unref?.();
  }

  stop(): void {
    if (this.timer !== undefined) clearInterval(this.timer);
  }
}
