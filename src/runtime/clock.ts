import { type FineWait, waitFinely } from "./fine-wait.ts";
import { runtimeName } from "./runtime.ts";

/**
 * Returns monotonic time in nanoseconds since this thread's time origin: the clock of all measurements. A float64, exact below 2^53 ns
 * (104 days).
 */
export function nowNs(): number {
  return performance.now() * 1e6;
}

let originEpochNs: bigint | undefined;

/** Converts a time from {@link nowNs} on this thread to wall-clock nanoseconds since the Unix epoch. */
export function toEpochNs(monotonicNs: number): bigint {
  originEpochNs ??= BigInt(Math.round(performance.timeOrigin * 1e3)) * 1000n;
  return originEpochNs + BigInt(Math.round(monotonicNs));
}

/** Cancels a timer that has not fired yet; otherwise it does nothing. */
export type Cancel = () => void;

/** The time and the timers that pacing and windows run on. Tests hand in one whose time they set. */
export interface Clock {
  /** Monotonic nanoseconds, see {@link nowNs}. */
  nowNs(): number;
  /**
   * Calls `action` after at least `delayMs` milliseconds, however many.
   * @param isBackground the timer does not keep the process alive; default false
   */
  after(delayMs: number, action: () => void, isBackground?: boolean): Cancel;
  /** Calls `action` every `periodMs` milliseconds. @param isBackground see {@link Clock.after} */
  every(periodMs: number, action: () => void, isBackground?: boolean): Cancel;
  /** Calls `action` in the next turn of the event loop, after what has arrived is read. */
  nextTurn(action: () => void): Cancel;
  /** Waits finer than milliseconds; undefined where the runtime has none. */
  readonly waitFinely: FineWait | undefined;
}

/** The clock of this thread. */
export const systemClock: Clock = {
  nowNs,
  after: startTimer,
  every: (periodMs, action, isBackground = false) => {
    const interval = setInterval(action, periodMs);
    if (isBackground) interval.unref?.();
    return () => clearInterval(interval);
  },
  nextTurn: (action) => {
    const immediate = setImmediate(action);
    return () => clearImmediate(immediate);
  },
  waitFinely,
};

/** Longer timeouts overflow the timer and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function startTimer(delayMs: number, action: () => void, isBackground = false): Cancel {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (restMs: number): void => {
    timer = setTimeout(
      () => (restMs > MAX_TIMER_MS ? start(restMs - MAX_TIMER_MS) : action()),
      Math.min(restMs, MAX_TIMER_MS),
    );
    if (isBackground) timer.unref?.();
  };
  start(delayMs);
  return () => clearTimeout(timer);
}

/** Resolves after at least `delayMs` milliseconds (0 or more). @param clock default: this thread's */
export function sleepMs(delayMs: number, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

/** Like {@link sleepMs}, but resolves as soon as `earlier` does. Clears the timer then, so that it does not keep the process alive. */
export async function sleepUnless(delayMs: number, earlier: Promise<unknown>, clock = systemClock): Promise<void> {
  let cancel: Cancel = () => {};
  const slept = new Promise<void>((resolve) => {
    cancel = clock.after(delayMs, resolve);
  });
  await Promise.race([slept, earlier]);
  cancel();
}

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
