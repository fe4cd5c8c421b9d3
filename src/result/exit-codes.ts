import type { RunErrorCode } from "../plan/problem.ts";
import type { RunResult } from "./run-result.ts";

/** Exit codes of scenarios and of Rampart's commands. Compatible modes use the codes of the tools they replace. */
export const EXIT = {
  passed: 0,
  internal: 1,
  usage: 64,
  assertionFailed: 65,
  /** Not stable, or unresolved for another reason. */
  unstable: 66,
  unreachable: 69,
  /** A report could not be written to a file or to standard output: `EX_IOERR` of sysexits.h. */
  output: 74,
  interrupted: 130,
} as const;

/** The exit codes and the words for them, most severe first. */
const VERDICTS: readonly (readonly [code: number, word: string])[] = [
  [EXIT.internal, "DEFECT"],
  [EXIT.usage, "REFUSED"],
  [EXIT.unreachable, "UNREACHABLE"],
  [EXIT.output, "NOT WRITTEN"],
  [EXIT.interrupted, "INTERRUPTED"],
  [EXIT.assertionFailed, "FAILED"],
  [EXIT.unstable, "UNRESOLVED"],
  [EXIT.passed, "PASSED"],
];

/** Returns the most severe of the exit codes; 0 if there are none. */
export function gravestOf(codes: readonly number[]): number {
  return VERDICTS.find(([one]) => codes.includes(one))?.[0] ?? EXIT.passed;
}

/** Returns the word for how one of several runs ended. @param code undefined: the run did not start */
export function wordOfExit(code: number | undefined): string {
  return VERDICTS.find(([one]) => one === code)?.[1] ?? "not run";
}

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

/** Reports whether requests failed and none completed, at all or in the measured time. Such a run has measured nothing useful. */
export function hasOnlyFailures({ completedCount, failedCount, levels }: RunResult): boolean {
  if (failedCount === 0) return false;
  if (completedCount === 0) return true;
  return levels.some(({ window }) => window.failedCount > 0) && levels.every(({ window }) => window.requestCount === 0);
}

/** Returns the exit code of a finished command: `outputExit` if the only failure was writing to standard output. */
export function withOutputFailure(
  code: number,
  io: { readonly outputFailure?: string | undefined },
  outputExit: number = EXIT.output,
): number {
  return code === EXIT.passed && io.outputFailure !== undefined ? outputExit : code;
}
