import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { startsCold } from "./cold-start.ts";

/** Nine times the weight of a normal thread: a mostly idle thread then gets the core as soon as it wakes up. */
const RAISED = -10;
/**
 * A thirtieth of the weight of a normal thread: on a shared core, the thread that times responses runs first. At 5, a third of the weight,
 * one in a hundred first tokens of 500 streams was late by 6 to 9 ms; at 15 by 4 ms.
 */
export const LOWERED = 15;

/**
 * Raises the calling thread's priority, so that it reads data as soon as it arrives. Linux only, and only with permission (root,
 * CAP_SYS_NICE or a nice limit); otherwise does nothing. Do not use if the server is on the same machine: beside two busy processes, the
 * server then sent first tokens 2 to 15 ms later, which a report cannot distinguish from a slow server.
 * @returns a function that restores the priority
 */
export function raiseThreadPriority(): () => void {
  return setNiceness(RAISED, (before) => before > RAISED);
}

/** Lowers the calling thread's priority, so that it does not delay the measuring thread on a shared core. Linux only. */
export function lowerThreadPriority(): void {
  setNiceness(LOWERED, (before) => before < LOWERED);
}

function setNiceness(niceness: number, isWanted: (before: number) => boolean): () => void {
  if (process.platform !== "linux" || startsCold()) return () => {};
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    const before = getPriority(thread);
    if (!isWanted(before)) return () => {};
    setPriority(thread, niceness);
    return () => setPriority(thread, before);
  } catch {
    // /proc is missing, or the system does not allow it.
    return () => {};
  }
}
