import type { RunErrorKind } from "../plan/problem.ts";
import type { RunResult } from "../result/run-result.ts";
import type { CommandIo } from "./execute.ts";

/** Exit codes of scenarios and of Rampart's own commands. Compatible modes have those of their originals. */
export const EXIT = {
  passed: 0,
  internal: 1,
  usage: 64,
  assertionFailed: 65,
  unstable: 66,
  unreachable: 69,
  /** A report could not be written, to a file or to standard output: `EX_IOERR` of sysexits.h. */
  output: 74,
  interrupted: 130,
} as const;

/** The exit code of a run that ended with an error. */
export function exitCodeOf(kind: RunErrorKind): number {
  switch (kind) {
    case "unreachable":
    case "stalled":
    case "refused":
    case "failed-request":
      return EXIT.unreachable;
    case "unsupported":
      return EXIT.usage;
    case "output":
      return EXIT.output;
    case "interrupted":
      return EXIT.interrupted;
    case "internal":
      return EXIT.internal;
  }
}

/** The exit code of a command that is done; `outputExit` where all went well but for standard output, which could not be written. */
export function withOutputFailure(
  code: number,
  io: Pick<CommandIo, "outputFailure">,
  outputExit: number = EXIT.output,
): number {
  return code === EXIT.passed && io.outputFailure !== undefined ? outputExit : code;
}

/** Whether requests were answered, and none of them well: whatever such a run was for, it has not measured it. */
export function hasOnlyFailures({ completedCount, failedCount }: RunResult): boolean {
  return completedCount === 0 && failedCount > 0;
}

/** The exit code of a run that has a result. @param areAssertionsMet whether every assertion holds */
export function exitCodeOfResult(result: RunResult, areAssertionsMet: boolean): number {
  if (result.error !== undefined) return exitCodeOf(result.error.kind);
  if (result.isInterrupted) return EXIT.interrupted;
  if (!areAssertionsMet) return EXIT.assertionFailed;
  if (hasOnlyFailures(result)) return EXIT.unreachable;
  return result.levels.some(({ outcome }) => outcome === "unstable") ? EXIT.unstable : EXIT.passed;
}
