import { msToNs } from "../plan/units.ts";
import { nowNs } from "../runtime/clock.ts";

const MAX_CHECK_INTERVAL_MS = 1000;

/** A check this many intervals after the previous one means that the process did not run in between. */
const LATE_INTERVALS = 2;

/** A time in which this process did not run: at `endNs`, for `lengthNs`. */
interface Pause {
  readonly endNs: number;
  readonly lengthNs: number;
}

/**
 * Calls back periodically with the deadline for activity, so that a server that sends nothing cannot hang a run. Time in which this
 * process did not run does not count: what the server sent meanwhile waits in the sockets, and timers run before they are read.
 */
export class StallWatch {
  private readonly timeoutNs: number;
  private readonly intervalMs: number;
  private readonly onCheck: (deadlineNs: number) => void;
  private timer: ReturnType<typeof setInterval> | undefined;
  private checkedNs = 0;
  private readonly pauses: Pause[] = [];

  /** @param timeoutNs allowed time without activity, in nanoseconds; checked at least four times per timeout and at most once a second */
  constructor(timeoutNs: number, onCheck: (deadlineNs: number) => void) {
    this.timeoutNs = timeoutNs;
    this.intervalMs = Math.max(10, Math.min(MAX_CHECK_INTERVAL_MS, timeoutNs / 4e6));
    this.onCheck = onCheck;
  }

  /** Starts the timer; later calls do nothing. Call when there is something to wait for, because setting up a timer takes time. */
  start(): void {
    if (this.timer !== undefined) return;
    this.checkedNs = nowNs();
    this.timer = setInterval(() => this.onCheck(this.deadlineAt(nowNs())), this.intervalMs);
    this.timer.unref?.();
  }

  stop(): void {
    if (this.timer !== undefined) clearInterval(this.timer);
  }

  /** Returns the time since which there must have been activity, when the check runs at `atNs`. */
  private deadlineAt(atNs: number): number {
    const elapsedNs = atNs - this.checkedNs;
    const intervalNs = msToNs(this.intervalMs);
    this.checkedNs = atNs;
    // One interval of it counts, so that a process that hardly runs notices a silent server too.
    if (elapsedNs > LATE_INTERVALS * intervalNs) this.pauses.push({ endNs: atNs, lengthNs: elapsedNs - intervalNs });
    let deadlineNs = atNs - this.timeoutNs;
    // From the newest: a pause after the deadline moves the deadline back, which may reach an older pause.
    const older = this.pauses.findLastIndex((pause) => {
      if (pause.endNs < deadlineNs) return true;
      deadlineNs -= pause.lengthNs;
      return false;
    });
    this.pauses.splice(0, older + 1);
    return deadlineNs;
  }
}
