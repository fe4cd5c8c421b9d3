/**
 * The one clock of a run: monotonic nanoseconds as a float64, exact below 2^53 ns (104 days) since the process began.
 * Wall-clock time is derived from it only where an export asks for it.
 */

import { type FineWait, waitFinely } from "./fine-wait.ts";

/** Monotonic time in nanoseconds since the start of this thread's time origin. */
export function nowNs(): number {
  return performance.now() * 1e6;
}

let originEpochNs: bigint | undefined;

/** Wall-clock time, in nanoseconds since the Unix epoch, of a moment taken with {@link nowNs} on this thread. */
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

/** Timers take 31 bits of milliseconds; longer ones would fire at once. */
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

/** Resolves after at least `delayMs` milliseconds (0 or more); rejects never. @param clock default: this thread's */
export function sleepMs(delayMs: number, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

/** As {@link sleepMs}, but also resolves with `earlier`; no timer is left then, which would keep the process alive. */
export async function sleepUnless(delayMs: number, earlier: Promise<unknown>, clock = systemClock): Promise<void> {
  let cancel: Cancel = () => {};
  const slept = new Promise<void>((resolve) => {
    cancel = clock.after(delayMs, resolve);
  });
  await Promise.race([slept, earlier]);
  cancel();
}
