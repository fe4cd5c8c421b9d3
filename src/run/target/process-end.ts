import { basename, dirname, join } from "node:path";
import { fileSystem } from "../../runtime/files.ts";

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

/**
 * Removes the unfinished parts of a file, in whichever thread it is written, should the process be ended (by a signal, too) while the work
 * that writes it is under way.
 * @param path the file's own path: its parts begin with it and this process's id, and end in `.part`
 */
export async function removingPart<T>(path: string, work: () => Promise<T>): Promise<T> {
  const stop = atProcessEnd(
    () => removeParts(path),
    () => Promise.resolve(),
  );
  try {
    return await work();
  } finally {
    stop();
  }
}

function removeParts(path: string): void {
  const { readdirSync, rmSync } = fileSystem();
  const folder = dirname(path);
  const start = `${basename(path)}.${process.pid}.`;
  try {
    for (const name of readdirSync(folder))
      if (name.startsWith(start) && name.endsWith(".part")) rmSync(join(folder, name), { force: true });
  } catch {
    // Without the folder there are no parts.
  }
}
