import { writeStderr, writeStdout } from "../runtime/stdio.ts";
import type { CommandIo } from "./execute.ts";

/** A CI system cancels with SIGTERM, a terminal goes with SIGHUP: what was measured is worth as much then, and has to be put in order. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Of a terminal that does not tell its width, or tells 0. */
const DEFAULT_COLUMNS = 80;

/**
 * The command line's text and Ctrl-C as this process has them.
 * @param loadApi what `"rampart"` exports to a scenario
 * @param exitNow called at the second Ctrl-C, for a run that does not end
 */
export function createProcessIo(loadApi: () => Promise<object>, exitNow: () => void): CommandIo {
  return {
    loadApi,
    out: writeStdout,
    err: writeStderr,
    // Asked for by few, and making the stream takes time.
    get errColumns() {
      return process.stderr.isTTY && process.env["TERM"] !== "dumb"
        ? process.stderr.columns || DEFAULT_COLUMNS
        : undefined;
    },
    onInterrupt: (callback, leave) => {
      let count = 0;
      const listener = (): void => {
        count++;
        if (count === 1) callback();
        else {
          leave?.();
          exitNow();
        }
      };
      for (const signal of SIGNALS) process.on(signal, listener);
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      };
    },
  };
}
