import { openSync, readSync } from "node:fs";

const FILE = "/proc/thread-self/schedstat";
/** Size of three 64-bit numbers as text, with separators. */
const MOST_BYTES = 64;

/** Returns the time that a thread has waited for a core while runnable, in nanoseconds since it started. */
export type CoreWait = () => number;

/**
 * Opens the kernel's count of the calling thread's run-queue wait (`run_delay` in /proc/PID/schedstat). Each read takes a few
 * microseconds. Returns undefined if the system has no such count; only Linux has one.
 */
export function openCoreWait(): CoreWait | undefined {
  if (process.platform !== "linux") return undefined;
  const bytes = new Uint8Array(MOST_BYTES);
  const decoder = new TextDecoder();
  try {
    const file = openSync(FILE, "r");
    const read = (): number => {
      const size = readSync(file, bytes, 0, MOST_BYTES, 0);
      return Number(decoder.decode(bytes.subarray(0, size)).split(" ")[1]);
    };
    return Number.isFinite(read()) ? read : undefined;
  } catch {
    return undefined;
  }
}
