import { messageOf } from "../plan/problem.ts";
import { armSecondSignal } from "../runtime/process-end/second-signal.ts";
import { writeStderr, writeStdout } from "../runtime/stdio.ts";
import type { CommandIo, EndSignal } from "./execute.ts";

/** A CI system cancels with SIGTERM, and a closed terminal sends SIGHUP. In both cases, the measurements so far are reported. */
const SIGNALS: readonly EndSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Width of a terminal that reports no width, or 0. */
const DEFAULT_COLUMNS = 80;

/**
 * Creates the command line's text output and Ctrl-C handling for this process.
 * @param loadApi loads the module that a scenario imports as `"rampart"`
 * @param exitNow called at the second Ctrl-C, for a run that does not end
 */
export function createProcessIo(loadApi: () => Promise<object>, exitNow: () => void): CommandIo {
  const output = new StandardOutput();
  return {
    loadApi,
    out: (text) => output.write(text),
    pipe: (text) => output.write(text),
    err: writeStderr,
    get outputFailure() {
      return output.failure;
    },
    // Getters, because few commands need the streams and creating them takes time.
    get hasColor() {
      return showsColor(process.stdout);
    },
    get hasErrColor() {
      return showsColor(process.stderr);
    },
    get outColumns() {
      return process.stdout.isTTY ? process.stdout.columns || DEFAULT_COLUMNS : undefined;
    },
    get errColumns() {
      const { CI = "", TERM } = process.env;
      // The terminal of a CI system is a log.
      const isLog = CI !== "" && CI !== "0" && CI !== "false";
      return process.stderr.isTTY && TERM !== "dumb" && !isLog ? process.stderr.columns || DEFAULT_COLUMNS : undefined;
    },
    onInterrupt: (callback, leave) => {
      let count = 0;
      const listener = (signal: NodeJS.Signals): void => {
        count++;
        armSecondSignal([signal as EndSignal]);
        if (count === 1) callback(signal as EndSignal);
        else if (count === 2) {
          const leaving = leave?.();
          if (leaving === undefined) exitNow();
          else void leaving.finally(exitNow);
        } else exitNow();
      };
      for (const signal of SIGNALS) process.on(signal, listener);
      armSecondSignal(SIGNALS);
      return () => {
        for (const signal of SIGNALS) process.off(signal, listener);
      };
    },
  };
}

function showsColor(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = process.env;
  if (NO_COLOR !== "") return false;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0";
  // Open MPI gives each rank a terminal of its own, also where mpirun writes to a file.
  if (process.env["OMPI_COMM_WORLD_SIZE"] !== undefined) return false;
  return stream.isTTY === true && TERM !== "dumb";
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "no space left on the device",
  EDQUOT: "the disk quota is used up",
  EIO: "input/output error",
  EBADF: "it is not open",
};

/**
 * Standard output whose failure does not affect the run or its files. The failure is reported at once, and later text is written to
 * standard error, so that a table is not lost because of a full disk. After the reader has closed the pipe, text is dropped.
 */
class StandardOutput {
  failure: string | undefined;
  private isReaderGone = false;

  write(text: string): void {
    if (this.failure === undefined) this.tryToWrite(text);
    else if (!this.isReaderGone) writeStderr(text);
  }

  private tryToWrite(text: string): void {
    try {
      writeStdout(text);
    } catch (error) {
      const { code = "" } = error as { code?: string };
      this.isReaderGone = code === "EPIPE";
      this.failure = this.isReaderGone ? "its reader closed it" : (REASONS[code] ?? messageOf(error));
      const rest = this.isReaderGone ? "" : "; its text follows here";
      writeStderr(`rampart: standard output cannot be written: ${this.failure}${rest}\n`);
      this.write(text);
    }
  }
}
