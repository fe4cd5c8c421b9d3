/** A run as its report has it, whichever tool wrote that. */

/** A value of a level, with its 95 % confidence interval within the run where the file has one. Times are nanoseconds, ratios 0 to 1. */
export interface MeasuredValue {
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  /** Of a ratio: the number of requests that it is of. Absent: not known. */
  readonly total?: number;
}

/** A level of load: what is compared with the same level of another run. */
export interface MeasuredLevel {
  /** The load in words, with its phase and the tags of its requests: `concurrency 4`. Equal for levels that can be compared. */
  readonly label: string;
  /** The label as the reports of the run name the level: `4 users`. Default: the label. */
  readonly name?: string;
  /** By the name of the metric: `throughput`, `latency.p99`. */
  readonly values: ReadonlyMap<string, MeasuredValue>;
  /** What limits the trust in it; sentences without a full stop. */
  readonly notes: readonly string[];
}

/** One whole run. */
export interface MeasuredRun {
  /** The file, and for a file of several runs the number of the run, from 1. */
  readonly source: string;
  /** The format of the file in words. */
  readonly format: string;
  /** When it began, in the file's words. Absent: not known. */
  readonly startedAt?: string;
  /** It ended early. */
  readonly isPartial: boolean;
  /** What was measured and how: a path of the plan, such as `target.model`, and its value. */
  readonly facts: ReadonlyMap<string, string>;
  readonly levels: readonly MeasuredLevel[];
  /** Set: files of this format have no confidence intervals within the run, whatever was measured. */
  readonly isSummary?: true;
  /** What the file says about requests and servers beyond the values of levels, in its own names: `sessions (3)`. Default: nothing. */
  readonly notCompared?: readonly string[];
}

/** A file to read. */
export interface RunFile {
  readonly path: string;
  /** Its first characters. */
  readonly head: string;
  /** Returns the whole text. @throws UserError when it cannot be read */
  readText(): string;
  /** Returns its JSON as an object; undefined when it is none. */
  readDocument(): Readonly<Record<string, unknown>> | undefined;
}

/** A format of files with runs. */
export interface RunFormat {
  /** In words: `AIPerf's JSON`. */
  readonly name: string;
  /** Reports whether a file has this format by its first characters, so that large files are not parsed twice. */
  detectHead?(head: string): boolean;
  /** Reports whether a file has this format by its parsed JSON. */
  detectDocument?(document: Readonly<Record<string, unknown>>): boolean;
  /** Reads all runs of a file. @throws UserError naming the file and the place */
  read(file: RunFile): readonly MeasuredRun[];
}
