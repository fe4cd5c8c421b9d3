/**
 * Returns monotonic time in nanoseconds since this thread'"'"'s time origin: the clock of all measurements. A float64, exact below 2^53 ns
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

/** Longer timeouts overflow the timer and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after at least `delayMs` milliseconds (0 or more). */
export function sleepMs(delayMs: number): Promise<void> {
  return sleepUnless(delayMs, new Promise(() => {}));
}

/** Like {@link sleepMs}, but resolves as soon as `earlier` does. Clears the timer then, so that it does not keep the process alive. */
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
