import type { RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";

/** A report: follows a run and is finished with its result. One file per report, one line in `reports.ts`. */
export interface Report extends RunObserver {
  /** Writes what can only be written at the end. Throws `RunError` when it cannot. */
  finish(result: RunResult): void;
  /** Takes back what was begun; called instead of `finish` when the run could not begin. */
  discard?(): void;
  /** The user pressed Ctrl-C: something will be said of it. */
  onInterrupt?(): void;
}

/** Where text goes. */
export interface TextSink {
  out(text: string): void;
  err(text: string): void;
  /** Text on stderr that moves the cursor, with nothing of servers, models or files in it. Absent: `err` takes it. */
  draw?(text: string): void;
  /** Whether `out` goes to a terminal that shows colours: then what `paint` marks is coloured. Default: false. */
  readonly hasColor?: boolean | undefined;
  /** Characters per line of the terminal that `err` goes to; undefined where that is none. */
  readonly errColumns?: number | undefined;
}
