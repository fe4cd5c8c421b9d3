import { messageOf, RunError, UserError } from "../../plan/problem.ts";
import { plural } from "../../plan/units.ts";
import type { FailureLog } from "../judge/failure-log.ts";
import type { SenderState } from "../send/messages.ts";
import { LevelError } from "./level-frame.ts";

/** Converts an exception during a run into an error for the user. */
export function toRunError(error: unknown): RunError {
  if (error instanceof RunError) return error;
  if (error instanceof UserError) return new RunError("unsupported", error.text, "Correct the input data.");
  if (error instanceof LevelError) {
    const hint = "Measure for longer, warm up a server that starts slowly, or find out why no request ends in time.";
    return new RunError("no-valid-requests", error.message, hint);
  }
  return new RunError("internal", messageOf(error), error instanceof Error ? (error.stack ?? "") : "");
}

/** Explains the exception that ended a search. When every request failed, that is the reason, not the length of the level. */
export function explainEnd(
  error: unknown,
  { completedCount, failedCount }: Pick<SenderState, "completedCount" | "failedCount">,
  failures: FailureLog,
): RunError {
  const explained = toRunError(error);
  if (!(error instanceof LevelError) || completedCount > 0 || failedCount === 0) return explained;
  const example = failures.list()[0]?.example ?? "";
  return explained.reword(
    `${plural(failedCount, "the only request", `all ${failedCount} requests`)} failed: ${example}`,
    "Look at the server's message.",
  );
}
