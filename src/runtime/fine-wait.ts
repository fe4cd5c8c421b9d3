import { readlinkSync, writeFileSync } from "node:fs";
import { runtimeName } from "./runtime.ts";

/** Calls back after a wait in nanoseconds, some tens of microseconds late at most. The event loop sleeps meanwhile. */
export type FineWait = (waitNs: number, then: () => void) => void;

/**
 * Waits with a finer resolution than `setTimeout`; undefined when the runtime cannot. Bun's event loop sleeps with nanosecond
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
