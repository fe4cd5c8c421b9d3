import { basename, dirname, join } from "node:path";
import { fileSystem } from "../../runtime/files.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Deno emits no exit event after an uncaught error. */
const ENDS = ["exit", "uncaughtExceptionMonitor"] as const;

/**
 * Cleans up when the process ends: calls `release` synchronously on exit; on a signal without another listener, `release` and then `close`,
 * after which the signal ends the process. Returns a function that removes the handlers.
 * @param close must settle in bounded time and never reject
 */
export function atProcessEnd(release: () => void, close: () => Promise<unknown>): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    // Another listener ends the run in an orderly way.
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
 * Removes a file's partial output, from any thread, if the process ends (also by a signal) while `work` writes it.
 * @param path path of the final file. Partial files start with it and this process's id, and end in `.part`
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
    // Without the folder there are no partial files.
  }
}
