#!/usr/bin/env node
import { runCommandLine } from "./cli/commands.ts";
import { isExecutable } from "./runtime/runtime.ts";
import { writeStderr, writeStdout } from "./runtime/stdio.ts";

/** The executable's entry: from the command line to an exit code. */

const EXIT_INTERNAL = 1;
const EXIT_INTERRUPTED = 130;

const io = {
  out: writeStdout,
  err: writeStderr,
  onInterrupt: (callback: () => void): (() => void) => {
    let count = 0;
    const listener = (): void => {
      count++;
      if (count > 1) process.exit(EXIT_INTERRUPTED);
      callback();
    };
    process.on("SIGINT", listener);
    return () => process.off("SIGINT", listener);
  },
};

const invokedAs = isExecutable ? (process.argv0.split(/[\\/]/).pop() ?? "").replace(/\.exe$/, "") : "rampart";
try {
  process.exit(await runCommandLine(invokedAs, process.argv.slice(2), io));
} catch (error) {
  writeStderr(`rampart: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(EXIT_INTERNAL);
}
