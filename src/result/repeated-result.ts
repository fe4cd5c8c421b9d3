import type { RunResult } from "./run-result.ts";

/** The result of a plan that is run several times. */
export interface RepeatedResult {
  /** In their order, one or more. Only the last one can have ended early. */
  readonly runs: readonly RunResult[];
  /** What was reached of the precision that the plan asks for; absent if it asks for none. */
  readonly precision?: RepeatPrecision;
}

/** The precision that was reached. */
export interface RepeatPrecision {
  /** How far the widest confidence interval of all levels reaches to each side, as a ratio of its mean; undefined below two runs. */
  readonly ratio: number | undefined;
  readonly isReached: boolean;
}

/** Returns the runs that ended as planned. Only these count together; the others have measured something else. */
export function completeRuns({ runs }: RepeatedResult): readonly RunResult[] {
  return runs.filter(({ isInterrupted, error }) => !isInterrupted && error === undefined);
}
