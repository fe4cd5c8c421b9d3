/**
 * The one clock of a run: monotonic nanoseconds as a float64, exact below 2^53 ns (104 days) since the process began.
 * Wall-clock time is derived from it only where an export asks for it.
 */

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

/** Timers take 31 bits of milliseconds; longer ones would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after at least `delayMs` milliseconds (0 or more); rejects never. */
export function sleepMs(delayMs: number): Promise<void> {
  return sleepUnless(delayMs, new Promise(() => {}));
}

/** As {@link sleepMs}, but also resolves with `earlier`; no timer is left then, which would keep the process alive. */
export async function sleepUnless(delayMs: number, earlier: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slept = new Promise<void>((resolve) => {
    const sleep = (restMs: number): void => {
      const stretchMs = Math.min(restMs, MAX_TIMER_MS);
      timer = setTimeout(() => (restMs > stretchMs ? sleep(restMs - stretchMs) : resolve()), stretchMs);
    };
    sleep(delayMs);
  });
  await Promise.race([slept, earlier]);
  clearTimeout(timer);
}
