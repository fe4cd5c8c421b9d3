import type { Plan } from "../../plan/plan.ts";
import { messageOf, RunError, UserError } from "../../plan/problem.ts";
import { setting } from "../../plan/setting-names.ts";
import { LevelError } from "../level/level.ts";
import type { EndedCounts } from "../send/ended-requests.ts";
import type { FailureLog } from "./failure-log.ts";

/** Converts an exception during a run into an error for the user. */
export function toRunError(error: unknown): RunError {
  if (error instanceof RunError) return error;
  if (error instanceof UserError) return new RunError("unsupported", error.message, "Correct the input data.");
  if (error instanceof LevelError)
    return new RunError(
      "failed-request",
      error.message,
      `Raise ${setting("measurement.mode.windowMs")}, or find out why no request ends in time.`,
    );
  return new RunError("internal", messageOf(error), error instanceof Error ? (error.stack ?? "") : "");
}

/**
 * Explains the exception that ended a search. perf_analyzer reports a window without a success as too short, even when every request
 * fails; the other styles report the failures.
 */
export function explainEnd(
  error: unknown,
  { outputs }: Plan,
  { completedCount, failedCount }: EndedCounts,
  failures: FailureLog,
): RunError {
  if (!(error instanceof LevelError) || outputs.style === "perf_analyzer") return toRunError(error);
  if (completedCount > 0 || failedCount === 0)
    return new RunError(
      "failed-request",
      "no request ended while a level was measured",
      "Measure it for longer, or look why no request ends in time.",
    );
  const example = failures.list()[0]?.example ?? "";
  return new RunError(
    "failed-request",
    `all ${failedCount} requests failed: ${example}`,
    "Look at what the server says.",
  );
}
