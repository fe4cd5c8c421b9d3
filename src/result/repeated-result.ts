import type { RunResult } from "./run-result.ts";

/** The result of a plan that is run several times. */
export interface RepeatedResult {
  /** The runs in order, at least one. Only the last can have ended early. */
  readonly runs: readonly RunResult[];
  /** Precision reached; absent if the plan asks for none. */
  readonly precision?: RepeatPrecision;
}

/** The precision that repeated runs reached. */
export interface RepeatPrecision {
  /** Half-width of the widest confidence interval of all levels, as a ratio of its mean; undefined for fewer than two runs. */
  readonly ratio: number | undefined;
  readonly isReached: boolean;
}

/** Returns the runs that ended as planned. Only these are combined, because the others measured something else. */
export function completeRuns({ runs }: RepeatedResult): readonly RunResult[] {
  return runs.filter(({ isInterrupted, error }) => !isInterrupted && error === undefined);
}
