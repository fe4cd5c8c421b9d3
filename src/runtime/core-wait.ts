import { openSync, readSync } from "node:fs";

const FILE = "/proc/thread-self/schedstat";
/** Three numbers of 64 bits as text, and the blanks between them. */
const MOST_BYTES = 64;

/** Reads how long a thread has waited for a core while it had work, in nanoseconds since it began. */
export type CoreWait = () => number;

/**
 * Of the calling thread, from the kernel's own count (`run_delay` of /proc/PID/schedstat): the wait after each wake-up, and after each time that
 * another thread took the core away. It costs a read of a few microseconds. Undefined where the system does not count it: only Linux does.
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
