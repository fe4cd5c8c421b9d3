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

/** The last part of a path, without `.exe`: under which name a link to the executable was called. */
function executableName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return name.endsWith(".exe") ? name.slice(0, -4) : name;
}

const invokedAs = isExecutable ? executableName(process.argv0) : "rampart";
try {
  process.exit(await runCommandLine(invokedAs, process.argv.slice(2), io));
} catch (error) {
  writeStderr(`rampart: internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(EXIT_INTERNAL);
}
