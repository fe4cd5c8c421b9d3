import { readlinkSync, writeFileSync } from "node:fs";
import { runtimeName } from "./runtime.ts";

/** Offset that is added to this thread's time. */
let offsetNs = 0;

/**
 * Returns monotonic time in nanoseconds since this thread's time origin: the clock of all measurements. A float64, exact below 2^53 ns
 * (104 days).
 */
export function nowNs(): number {
  return performance.now() * 1e6 + offsetNs;
}

let originEpochNs: bigint | undefined;

/** Returns the time origin of {@link nowNs}, in milliseconds since the Unix epoch, for {@link shareClock} on another thread. */
export function timeOriginMs(): number {
  return performance.timeOrigin - offsetNs / 1e6;
}

/** Returns the time on this thread's clock since the Unix epoch, in milliseconds. It is monotonic, so it may differ from the system's time by seconds. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}

/** A smaller difference may be the resolution of the system's time, or a pause between two readings. */
const LEAST_STEP_MS = 5;

/** Whether the system's time was set since this thread began, for example after a pause of a virtual machine: {@link wallMs} of a newer thread differs. */
export function wasTimeSet(): boolean {
  return Math.abs(Date.now() - wallMs()) >= LEAST_STEP_MS;
}

/**
 * Sets this thread's clock to that of another thread or host: {@link nowNs} is then the time since `originMs` on the clock of {@link
 * wallMs}. Call before anything is timed.
 */
export function shareClock(originMs: number): void {
  offsetNs = (performance.timeOrigin - originMs) * 1e6;
  originEpochNs = undefined;
}

/**
 * Converts a time from {@link nowNs} to wall-clock nanoseconds since the Unix epoch. @param delayNs time by which the clock that it was read
 * from is set back against this thread's. Default: it is this thread's
 */
export function toEpochNs(monotonicNs: number, delayNs = 0): bigint {
  originEpochNs ??= BigInt(Math.round(timeOriginMs() * 1e3)) * 1000n;
  return originEpochNs + BigInt(Math.round(monotonicNs + delayNs));
}

/** Calls back after a wait in nanoseconds, at most some tens of microseconds late. The event loop sleeps meanwhile. */
type FineWait = (waitNs: number, then: () => void) => void;

/** Cancels a timer that has not fired yet; otherwise it does nothing. */
export type Cancel = () => void;

/** The time and the timers for pacing and windows. Tests pass a clock whose time they set. */
export interface Clock {
  /** Monotonic nanoseconds, see {@link nowNs}. */
  nowNs(): number;
  /**
   * Calls `action` after at least `delayMs` milliseconds, of any number.
   * @param isBackground the timer does not keep the process alive; default false
   */
  after(delayMs: number, action: () => void, isBackground?: boolean): Cancel;
  /** Calls `action` every `periodMs` milliseconds. @param isBackground see {@link Clock.after} */
  every(periodMs: number, action: () => void, isBackground?: boolean): Cancel;
  /** Calls `action` in the next turn of the event loop, after everything that has arrived has been read. */
  nextTurn(action: () => void): Cancel;
  /** Waits that are finer than milliseconds; undefined if the runtime has none. */
  readonly waitFinely: FineWait | undefined;
}

/**
 * Waits with a finer resolution than `setTimeout`; undefined if the runtime cannot. Bun's event loop sleeps with nanosecond
 * resolution, and `Atomics.waitAsync` is the only API that uses it; on Node and Deno the same call has millisecond resolution. A wait
 * cannot be cancelled and does not keep the process alive.
 */
export const waitFinely: FineWait | undefined = runtimeName === "bun" ? waitByAtomics : undefined;

const TIMER_SLACK_NS = 1000;

/** Never changed and never notified, so that each wait ends by its timeout. */
let cell: Int32Array<SharedArrayBuffer> | undefined;

function waitByAtomics(waitNs: number, then: () => void): void {
  if (cell === undefined) {
    cell = new Int32Array(new SharedArrayBuffer(4));
    tightenTimers();
  }
  const wait = Atomics.waitAsync(cell, 0, 0, waitNs / 1e6);
  if (wait.async) wait.value.then(then);
  else queueMicrotask(then);
}

/** Reduces this thread's timer slack: by default, Linux may wake a thread 50 us late in order to combine wake-ups. */
function tightenTimers(): void {
  if (process.platform !== "linux") return;
  try {
    const thread = readlinkSync("/proc/thread-self");
    writeFileSync(`/proc/${thread.slice(thread.lastIndexOf("/") + 1)}/timerslack_ns`, String(TIMER_SLACK_NS));
  } catch {
    // /proc is missing or not writable
  }
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
  // Node warns about a due time that has just passed.
  start(Math.max(0, delayMs));
  return () => clearTimeout(timer);
}

/** Resolves after at least `delayMs` milliseconds; at once if it is negative. @param clock default: this thread's clock */
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

/** Time before the due time for which a timer is set, because timers fire late. In nanoseconds. */
const TIMER_MARGIN_NS = runtimeName === "deno" ? 2.4e6 : 1.2e6;
/** Minimum sleep, in nanoseconds. */
const MIN_FINE_WAIT_NS = 20e3;
const HOLD_MS = 1e9;

/**
 * Fires at a given time: uses a timer while the time is far away, then a finer wait or, if the runtime has none, `setImmediate` in a
 * loop, so that I/O continues.
 */
export class DueTimer {
  private readonly onDue: () => void;
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private cancelTurn: Cancel | undefined;
  /** Number of fine waits; only the latest one may fire. */
  private waits = 0;
  /** Keeps the process alive, because fine waits do not. */
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
