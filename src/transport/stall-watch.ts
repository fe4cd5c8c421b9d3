import { nowNs } from "../runtime/clock.ts";

const MAX_CHECK_INTERVAL_MS = 1000;

/** Calls back regularly with the moment before which activity counts as none, so that a silent server cannot hang a run. */
export class StallWatch {
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param timeoutNs silence allowed, in nanoseconds; checked at least four times per timeout, at most once a second */
  constructor(timeoutNs: number, onCheck: (deadlineNs: number) => void) {
    const intervalMs = Math.max(10, Math.min(MAX_CHECK_INTERVAL_MS, timeoutNs / 4e6));
    this.#timer = setInterval(() => onCheck(nowNs() - timeoutNs), intervalMs);
    this.#timer.unref?.();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
