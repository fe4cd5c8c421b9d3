import { messageOf, RunError } from "../plan/problem.ts";
import type { Report } from "./report.ts";

/** A report whose file cannot be written costs the user neither the run nor the other reports. */

/** A report that hears of nothing more once something it writes has failed. */
export interface GuardedReport extends Report {
  /** Why it could not be written; undefined while all is well. */
  readonly error: RunError | undefined;
}

const EVENTS = [
  "onProgress",
  "onBatch",
  "onTrace",
  "onWarning",
  "onPrepared",
  "onLevelStart",
  "onWindow",
  "onEmptyWindow",
  "onAllStable",
  "onLevelEnd",
  "onRecord",
  "onFailed",
  "onRecordsCut",
  "onInterrupt",
] as const satisfies readonly (keyof Report)[];

/**
 * Keeps what a report throws because of its files. Anything else is a defect and passes.
 * @param onError told of the first error, while the run lasts
 */
export function guardReport(report: Report, onError: (error: RunError) => void): GuardedReport {
  let failure: RunError | undefined;
  const fail = (error: unknown): void => {
    failure = toOutputError(error);
    discardQuietly(report);
  };
  const guarded: Record<string, unknown> = {
    get error() {
      return failure;
    },
    finish: (result: Parameters<Report["finish"]>[0]) => {
      try {
        if (failure === undefined) report.finish(result);
      } catch (error) {
        fail(error);
      }
    },
    discard: () => {
      if (failure === undefined) report.discard?.();
    },
  };
  for (const name of EVENTS) {
    const event = report[name] as ((...values: unknown[]) => void) | undefined;
    if (event === undefined) continue;
    guarded[name] = (...values: unknown[]): void => {
      if (failure !== undefined) return;
      try {
        event.apply(report, values);
      } catch (error) {
        fail(error);
        onError(failure as unknown as RunError);
      }
    };
  }
  return guarded as unknown as GuardedReport;
}

/** What is left of a file on a full disk is of no use. */
function discardQuietly(report: Report): void {
  try {
    report.discard?.();
  } catch {
    // The reason why it failed says more.
  }
}

function toOutputError(error: unknown): RunError {
  if (error instanceof RunError && error.kind === "output") return error;
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") throw error;
  return new RunError("output", `a report cannot be written: ${messageOf(error)}`, "Is the disk full?");
}

/** Joins errors of several reports into one; undefined when there are no errors. */
export function joinOutputErrors(errors: readonly RunError[]): RunError | undefined {
  const [first, ...others] = errors;
  if (first === undefined || others.length === 0) return first;
  return new RunError("output", errors.map(({ message }) => message).join("; "), first.hint);
}
