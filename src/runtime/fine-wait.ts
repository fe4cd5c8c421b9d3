import { readlinkSync, writeFileSync } from "node:fs";
import { runtimeName } from "./runtime.ts";

/** Calls back after a wait in nanoseconds, never much before and some tens of microseconds late; the event loop sleeps until then. */
export type FineWait = (waitNs: number, then: () => void) => void;

/**
 * Waits finer than the milliseconds of `setTimeout`; absent where a runtime has none. Bun's event loop sleeps to the nanosecond, and this is
 * the one way to tell it when to wake; Node and Deno give the same call a thread's timer of milliseconds. A wait cannot be called off and
 * does not keep the process alive.
 */
export const waitFinely: FineWait | undefined = runtimeName === "bun" ? waitByAtomics : undefined;

const TIMER_SLACK_NS = 1000;

/** Never changed and never notified: each wait on it ends by its time-out. */
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

/** Linux lets a thread's sleeps end 50 us late, so that wake-ups can be shared; where it cannot be told otherwise they do. */
function tightenTimers(): void {
  if (process.platform !== "linux") return;
  try {
    const thread = readlinkSync("/proc/thread-self");
    writeFileSync(`/proc/${thread.slice(thread.lastIndexOf("/") + 1)}/timerslack_ns`, String(TIMER_SLACK_NS));
  } catch {
    // no /proc, or one that cannot be written
  }
}
