import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Whether a process has ended. */
export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Sends a signal to a process and to those that it started. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal); // No such group: it has ended, or this runtime did not make one.
  }
}

/**
 * Ends a process with SIGTERM, after a while with SIGKILL, and then what is left of its group.
 * @param signal sends SIGTERM. Default: to the whole group
 */
export async function endGroup(
  child: ChildProcess,
  timeoutMs: number,
  signal: (child: ChildProcess, signal: NodeJS.Signals) => void = signalGroup,
): Promise<void> {
  if (child.pid !== undefined && !hasEnded(child)) {
    const exited = once(child, "exit");
    signal(child, "SIGTERM");
    const timer = setTimeout(() => signalGroup(child, "SIGKILL"), timeoutMs);
    await exited;
    clearTimeout(timer);
  }
  signalGroup(child, "SIGKILL");
}
