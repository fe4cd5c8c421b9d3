import type { NameOf, Text } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import { messageOf, RunError } from "../plan/problem.ts";
import { RUN_EVENTS, type RunObserver } from "../result/observer.ts";
import type { RepeatedResult } from "../result/repeated-result.ts";
import type { RunResult } from "../result/run-result.ts";
import type { FollowedRuns } from "./json/followed-runs.ts";
import type { ReportOptions } from "./json/report-json.ts";
import type { ReportModel } from "./model/report-model.ts";
import type { ReportJson } from "./schema/report-schema.ts";
import { describeWarning } from "./warning-text.ts";

/** A report: follows a run and finishes with its result. Each report is one file and one line in `report-formats.ts`. */
export interface Report extends RunObserver {
  /** Writes the data that is only known at the end. Throws `RunError` on failure. */
  finish(result: RunResult): void | Promise<void>;
  /** Writes the runs of a repeated plan, instead of `finish`. Absent: the report contains a single run. */
  finishRuns?(repeated: RepeatedResult): void | Promise<void>;
  /** Undoes partial work. Called instead of `finish` if the run could not begin. */
  discard?(): void;
  /** Called on Ctrl-C, before a message about it. */
  onInterrupt?(): void;
}

/** Receives text. */
export interface TextSink {
  out(text: string): void;
  err(text: string): void;
  /** Writes text that moves the cursor to stderr. The text contains nothing from servers, models or files. Absent: `err` receives it. */
  draw?(text: string): void;
  /** The user's front door's names of settings. Absent: settings keep their paths in the plan. */
  readonly nameOf?: NameOf | undefined;
  /** Whether `out` is a terminal with colors, which `paint` then uses. Default: false */
  readonly hasColor?: boolean | undefined;
  /** Whether `err` shows colors. Default: false */
  readonly hasErrColor?: boolean | undefined;
  /** Whether progress lines are omitted. Default: false */
  readonly isQuiet?: boolean | undefined;
  /** Number of columns of the terminal of `out`; undefined if it is not a terminal. */
  readonly outColumns?: number | undefined;
  /** Number of columns of the terminal of `err`; undefined if it is not a terminal, or is the log of a CI system. */
  readonly errColumns?: number | undefined;
}

/** Renders a report. @param json source of the model */
export type RenderReport = (model: ReportModel, json: object) => string | Promise<string>;

/** Receives the JSON of runs that have ended. */
type ShowJson = (json: ReportJson) => void | Promise<void>;

/** The JSON and the model need libraries, which are not loaded before the first request. */
const loadJson = () => import("./json/report-json.ts");

/** Creates a report from the JSON of runs and the warnings meanwhile. @param followed absent: the JSON has no charts over time */
export function createDataReport(plan: Plan, { nameOf }: TextSink, show: ShowJson, followed?: FollowedRuns): Report {
  const warned: string[] = [];
  const optionsOf = (results: readonly RunResult[]): ReportOptions => ({
    ...{ warned, nameOf },
    ...(followed === undefined ? {} : { overTime: followed.toJson(results) }),
  });
  return {
    onWarning: (warning) => {
      warned.push(describeWarning(warning, nameOf));
    },
    finish: async (result) => {
      const { toReportJson } = await loadJson();
      await show(toReportJson(plan, result, optionsOf([result])));
    },
    finishRuns: async (repeated) => {
      const { toRepeatedJson } = await loadJson();
      await show(toRepeatedJson(plan, repeated, optionsOf(repeated.runs)));
    },
  };
}

/** Creates a report that is a rendered model, built when the runs have ended. @param write receives the text */
export function createModelReport(
  plan: Plan,
  sink: TextSink,
  render: RenderReport,
  write: (text: string) => void,
  followed?: FollowedRuns,
): Report {
  const show: ShowJson = async (json) => {
    const { buildRunModel } = await import("./model/build-model.ts");
    write(await render(buildRunModel(plan, json), json));
  };
  return createDataReport(plan, sink, show, followed);
}

/** Isolates write errors: a report whose file cannot be written ends neither the run nor the other reports. */

/** A report that ignores all events after a write error. */
export interface GuardedReport extends Report {
  finish(result: RunResult): Promise<void>;
  /** A report for a single run, such as the live view, finishes with the last run. */
  finishRuns(repeated: RepeatedResult): Promise<void>;
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

/** Writes several files. @throws RunError that names those that cannot be written, after the others */
export async function writeEach<T>(items: readonly T[], write: (item: T) => void | Promise<void>): Promise<void> {
  const errors: RunError[] = [];
  for (const item of items)
    try {
      await write(item);
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      errors.push(error);
    }
  const error = joinOutputErrors(errors);
  if (error !== undefined) throw error;
}

/** Joins errors of several reports into one; undefined without errors. */
export function joinOutputErrors(errors: readonly RunError[]): RunError | undefined {
  const [first, ...others] = errors;
  if (first === undefined || others.length === 0) return first;
  const hints = new Map(errors.map(({ hint }) => [JSON.stringify(hint), hint]));
  const joined = [...hints.values()].map((hint, index): Text => [index === 0 ? "" : " ", hint]);
  return new RunError("output", errors.map(({ message }) => message).join("; "), joined);
}
