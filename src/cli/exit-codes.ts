import type { RunErrorCode } from "../plan/problem.ts";
import { isFarBehind } from "../result/judged-levels.ts";
import type { RepeatedResult } from "../result/repeated-result.ts";
import type { RunResult } from "../result/run-result.ts";
import type { CommandIo } from "./execute.ts";

/** Exit codes of scenarios and of Rampart's own commands. Compatible modes use those of the tools they replace. */
export const EXIT = {
  passed: 0,
  internal: 1,
  usage: 64,
  assertionFailed: 65,
  unstable: 66,
  unreachable: 69,
  /** A report could not be written to a file or to standard output: `EX_IOERR` of sysexits.h. */
  output: 74,
  interrupted: 130,
} as const;

/** Returns the exit code of a run that ended with an error. */
export function exitCodeOf(code: RunErrorCode): number {
  switch (code) {
    case "unreachable":
    case "stalled":
    case "refused":
    case "failed-request":
    case "no-valid-requests":
      return EXIT.unreachable;
    case "assertion-failed":
      return EXIT.assertionFailed;
    case "host-limit":
      return EXIT.unstable;
    case "unsupported":
    case "exception":
      return EXIT.usage;
    case "output":
      return EXIT.output;
    case "interrupted":
      return EXIT.interrupted;
    case "internal":
      return EXIT.internal;
  }
}

/** Returns the exit code of a finished command: `outputExit` if the only failure was writing to standard output. */
export function withOutputFailure(
  code: number,
  io: Pick<CommandIo, "outputFailure">,
  outputExit: number = EXIT.output,
): number {
  return code === EXIT.passed && io.outputFailure !== undefined ? outputExit : code;
}

/** Reports whether requests were answered and all of them failed. Such a run has measured nothing useful. */
export function hasOnlyFailures({ completedCount, failedCount }: RunResult): boolean {
  return completedCount === 0 && failedCount > 0;
}

/** Returns the exit code of a plan that was repeated: its worst run decides. A precision that was not reached counts as unstable. */
export function exitCodeOfRuns({ runs, precision }: RepeatedResult, areAssertionsMet: boolean): number {
  const ended = runs.find(({ error, isInterrupted }) => error !== undefined || isInterrupted);
  if (ended !== undefined) return exitCodeOfResult(ended, areAssertionsMet);
  if (!areAssertionsMet) return EXIT.assertionFailed;
  const codes = runs.map((run) => exitCodeOfResult(run, true));
  const failed = codes.find((code) => code === EXIT.unreachable) ?? codes.find((code) => code !== EXIT.passed);
  return failed ?? (precision?.isReached === false ? EXIT.unstable : EXIT.passed);
}

/** Returns the exit code of a run that has a result. @param areAssertionsMet whether all assertions hold */
export function exitCodeOfResult(result: RunResult, areAssertionsMet: boolean): number {
  if (result.error !== undefined) return exitCodeOf(result.error.code);
  if (result.isInterrupted) return EXIT.interrupted;
  if (!areAssertionsMet) return EXIT.assertionFailed;
  if (hasOnlyFailures(result)) return EXIT.unreachable;
  const isUndecided = result.findMax?.isResolved === false;
  const isUnsent = result.findMax === undefined && result.levels.some(isFarBehind);
  const isUnstable = result.levels.some(({ outcome }) => outcome === "unstable");
  return isUndecided || isUnsent || isUnstable ? EXIT.unstable : EXIT.passed;
}
