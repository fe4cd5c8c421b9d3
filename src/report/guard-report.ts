import type { Text } from "../plan/messages.ts";
import { messageOf, RunError } from "../plan/problem.ts";
import { RUN_EVENTS } from "../result/observer.ts";
import type { RepeatedResult } from "../result/repeated-result.ts";
import type { RunResult } from "../result/run-result.ts";
import type { Report } from "./report.ts";

/** Isolates write errors: a report whose file cannot be written ends neither the run nor the other reports. */

/** A report that ignores all events after a write error. */
export interface GuardedReport extends Report {
  finish(result: RunResult): Promise<void>;
  /** A report for one run, such as the live view, finishes with the last one. */
  finishRuns(repeated: RepeatedResult): Promise<void>;
  /** The write error, if any. */
  readonly error: RunError | undefined;
}

const EVENTS = [...RUN_EVENTS, "onInterrupt"] as const satisfies readonly (keyof Report)[];

/** Keeps write errors of a report. Other errors are defects and propagate. @param onError called with the first error, during the run */
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
    finish: async (result: RunResult) => {
      try {
        if (failure === undefined) await report.finish(result);
      } catch (error) {
        fail(error);
      }
    },
    finishRuns: async (repeated: RepeatedResult) => {
      try {
        if (failure === undefined) await finishRuns(report, repeated);
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

async function finishRuns(report: Report, repeated: RepeatedResult): Promise<void> {
  const last = repeated.runs.at(-1);
  if (report.finishRuns !== undefined) await report.finishRuns(repeated);
  else if (last !== undefined) await report.finish(last);
}

/** Discards partial files, for example on a full disk. */
function discardQuietly(report: Report): void {
  try {
    report.discard?.();
  } catch {
    // The original error matters more.
  }
}

function toOutputError(error: unknown): RunError {
  if (error instanceof RunError) {
    if (error.code === "output") return error;
    throw error;
  }
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") throw error;
  return new RunError("output", `a report cannot be written: ${messageOf(error)}`, "Is the disk full?");
}

/** Joins errors of several reports into one; undefined without errors. */
export function joinOutputErrors(errors: readonly RunError[]): RunError | undefined {
  const [first, ...others] = errors;
  if (first === undefined || others.length === 0) return first;
  const hints = new Map(errors.map(({ hint }) => [JSON.stringify(hint), hint]));
  const joined = [...hints.values()].map((hint, index): Text => [index === 0 ? "" : " ", hint]);
  return new RunError("output", errors.map(({ message }) => message).join("; "), joined);
}
