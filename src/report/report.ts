import type { NameOf } from "../plan/messages.ts";
import type { RunObserver } from "../result/observer.ts";
import type { RepeatedResult } from "../result/repeated-result.ts";
import type { RunResult } from "../result/run-result.ts";

/** A report: follows a run and finishes with its result. Each report is one file and one line in `report-formats.ts`. */
export interface Report extends RunObserver {
  /** Writes what can only be written at the end. Throws `RunError` on failure. */
  finish(result: RunResult): void | Promise<void>;
  /** Writes the runs of a plan that is repeated, instead of `finish`. Absent: the report holds a single run. */
  finishRuns?(repeated: RepeatedResult): void | Promise<void>;
  /** Undoes partial work. Called instead of `finish` when the run could not begin. */
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
  /** The user's front door's names of settings. Absent: they keep their paths in the plan. */
  readonly nameOf?: NameOf | undefined;
  /** Whether `out` is a terminal with colors, which `paint` then uses. Default: false. */
  readonly hasColor?: boolean | undefined;
  /** Whether `err` shows colors. Default: false. */
  readonly hasErrColor?: boolean | undefined;
  /** Whether progress lines are left out. Default: false. */
  readonly isQuiet?: boolean | undefined;
  /** Columns of the terminal behind `err`, whose text can be redrawn; undefined if it is not a terminal, or the log of a CI system. */
  readonly errColumns?: number | undefined;
}
