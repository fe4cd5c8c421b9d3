import { fileSystem } from "../runtime/files.ts";

/** What must be undone however the process ends. */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Deno tells no exit after an error that nobody caught. */
const ENDS = ["exit", "uncaughtExceptionMonitor"] as const;

/**
 * Undoes something when the process ends: `release` at once when it exits, and on a signal that nobody else listens to `release` and
 * then `close`, after which the signal ends the process as it would have. Returns how to stop that.
 * @param close ends in bounded time and rejects never
 */
export function atProcessEnd(release: () => void, close: () => Promise<unknown>): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // Whoever else listens ends the run in order.
    if (process.listenerCount(signal) > 1) return;
    stop();
    release();
    void close().finally(() => process.kill(process.pid, signal));
  };
  const stop = (): void => {
    for (const event of ENDS) process.off(event, release);
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const event of ENDS) process.on(event, release);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stop;
}

/** Removes an unfinished file should the process be ended (by a signal, too) while the work that writes it is under way. */
export async function removingPart<T>(path: string, work: () => Promise<T>): Promise<T> {
  const stop = atProcessEnd(
    () => fileSystem().rmSync(path, { force: true }),
    () => Promise.resolve(),
  );
  try {
    return await work();
  } finally {
    stop();
  }
}
