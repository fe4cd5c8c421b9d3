import { writeStderr, writeStdout } from "../runtime/stdio.ts";
import type { CommandIo } from "./execute.ts";

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
    onInterrupt: (callback) => {
      let count = 0;
      const listener = (): void => {
        count++;
        if (count > 1) exitNow();
        else callback();
      };
      // A CI system cancels with SIGTERM: what was measured is worth as much then.
      process.on("SIGINT", listener);
      process.on("SIGTERM", listener);
      return () => {
        process.off("SIGINT", listener);
        process.off("SIGTERM", listener);
      };
    },
  };
}
