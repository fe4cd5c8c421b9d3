import { nowNs } from "./clock.ts";
import { openLibrary } from "./ffi/ffi.ts";

const CLOCK_MONOTONIC = 1;
const READINGS = 16;

/**
 * Returns the offset to add to nanoseconds of the system's monotonic clock, which all processes share, to get those of {@link nowNs}. It
 * is taken from the closest of several pairs of readings, usually within a microsecond. Linux only.
 * @throws NativeError if the system's library cannot be opened
 */
export async function readMonotonicOffsetNs(): Promise<number> {
  const symbols = { clock_gettime: { args: ["i32", "buffer"], result: "i32" } } as const;
  const { clock_gettime } = (await openLibrary(["libc.so.6", "libc.so"], symbols)).functions;
  const time = new BigInt64Array(2);
  const bytes = new Uint8Array(time.buffer);
  let offsetNs = 0;
  let closestNs = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < READINGS; reading++) {
    const beforeNs = nowNs();
    clock_gettime(CLOCK_MONOTONIC, bytes);
    const afterNs = nowNs();
    if (afterNs - beforeNs >= closestNs) continue;
    closestNs = afterNs - beforeNs;
    const [seconds = 0n, nanoseconds = 0n] = time;
    offsetNs = (beforeNs + afterNs) / 2 - Number(seconds * 1_000_000_000n + nanoseconds);
  }
  return offsetNs;
}

/**
 * Opens the system's monotonic clock, in nanoseconds: {@link nowNs} without the offset. Linux only. @throws NativeError like {@link
 * readMonotonicOffsetNs}
 */
export async function openMonotonicClock(): Promise<() => number> {
  const offsetNs = await readMonotonicOffsetNs();
  return () => nowNs() - offsetNs;
}
