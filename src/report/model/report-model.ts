import type { Interval } from "../../measure/intervals/certainty.ts";
import type { VerdictState } from "../../measure/verdict-state.ts";
import type { Plot } from "../plot.ts";
import type { NoteJson, VerdictJson } from "../schema/report-schema.ts";

/**
 * The content of a report as plain data: the verdict, notes, and sections of tables and charts. Builders in this folder create it
 * from a run, several runs, a sweep, a search or a comparison; renderers (text, Markdown, HTML, CSV, JUnit) show it and contain no
 * code for single metrics.
 */
export interface ReportModel {
  /** The scenario's name, or the compared runs. */
  readonly name: string;
  /** The measured target: `simple, embedded target, http`. Empty if the name contains it. */
  readonly subject: string;
  readonly verdict: ModelVerdict;
  /** The settings of the measurement: the load, parameters, seeds; one per line. */
  readonly setup: readonly string[];
  /** Assertions and checks, in the order of the plan. */
  readonly checks: readonly Check[];
  /** Merged notes: equal notes of several levels are one. `wrong` first. */
  readonly notes: readonly Note[];
  /** In reading order; the first section answers the question. */
  readonly sections: readonly Section[];
  /** Whether a page shows its charts as pictures, so that it is small and needs no script: for charts with few points. Default: false */
  readonly hasStillCharts?: boolean;
  /** The level without a table, if there is only one. */
  readonly single?: SingleLevel | undefined;
  /** Passed and failed cases for CI systems: a suite for each run, and for several runs one for their checks. */
  readonly suites: readonly Suite[];
  /** Time and machine of the measurement. Empty if they differ. */
  readonly origin: string;
  /** The plan without secrets, as plain data. Absent if there are several plans. */
  readonly plan?: object;
}

/** One level in a few texts. */
export interface SingleLevel {
  /** `16 in flight`, `2.0 s`, `36,695 req/s` */
  readonly facts: readonly string[];
  /** Groups of texts: times; counts. */
  readonly lines: readonly (readonly string[])[];
}

/** Cases of one run, of the checks of several runs, or of a comparison. */
export interface Suite {
  readonly name: string;
  /** In ISO format. */
  readonly startedAt: string;
  readonly durationSec: number;
  readonly cases: readonly Case[];
}

/** A case that passes or fails: a check, a level, the result of a search, the responses of the server. */
export interface Case {
  readonly name: string;
  readonly timeSec: number;
  readonly state: VerdictState;
  /** Kind of problem if it does not pass: `assertion`, `unstable`. */
  readonly kind: string;
  /** The measured value, or the reason why it does not pass, in one line. Empty if the name is sufficient. */
  readonly message: string;
  /** Further lines of the message. Default: none */
  readonly details?: readonly string[];
  /** Output of the case, whatever its state. Default: none */
  readonly output?: readonly string[];
}

/** The worst of the findings; consistent with the exit code. `measured`: there were no assertions. */
export type VerdictName = VerdictJson["name"];

/** The verdict. The headline is empty if the name is sufficient. */
export interface ModelVerdict extends Pick<VerdictJson, "name" | "headline"> {
  /** Facts for the line of the verdict, such as `8.0 s` and `8,603 requests`. */
  readonly facts: readonly string[];
}

/** An assertion or a check with its result. */
export interface Check {
  readonly state: VerdictState;
  /** `p99 latency < 50 ms` */
  readonly text: string;
  /** `worst 4.65 ms at concurrency 2`, and the reason if it is unresolved. */
  readonly measured: string;
}

/**
 * A note about numbers of the report. Details are shown with `-v` and in files. Its metric is a key with its statistic:
 * `latency.p99`; absent if it is about the load or the run. The last sentence of the text is the remedy, if there is one.
 */
export type Note = NoteJson;

/** Severity of a note. */
export type Severity = Note["severity"];

/** A part of the report. */
export interface Section {
  /** `levels`, `tokens`, `load`, `server` … */
  readonly id: string;
  /** Empty for the first section. */
  readonly title: string;
  /** Whether it is on the first screen. Others are shown with `-v` and in files. */
  readonly isSummary: boolean;
  readonly tables: readonly ModelTable[];
  readonly charts: readonly Plot[];
  /** Lines of text without a table. Default: none */
  readonly lines?: readonly string[];
}

/**
 * Kind of values in a column: nanoseconds, per second, a count, a mean with three digits, 0 to 1, or a plain number; or words; or
 * `mixed`: numbers as text, each with its unit.
 */
export type CellQuantity = "time" | "rate" | "count" | "mean" | "ratio" | "number" | "text" | "mixed";

/** A column. Renderers choose one unit for all its cells. */
export interface Column {
  /** Unique in its table; equal to the key of the metric with its statistic: `latency.p99`. */
  readonly key: string;
  /** With its unit, unless that is a unit of time: `infer/s`. */
  readonly title: string;
  readonly quantity: CellQuantity;
  /** Unit of its numbers for files, if neither the quantity nor the key contains it: `W`, `users`. */
  readonly unit?: string;
  /** Narrow outputs drop columns in descending order. 0: never dropped. */
  readonly dropOrder: number;
  /** Key of a column. A narrow output shows these values below that column's values instead of beside them. Absent: always beside */
  readonly below?: string;
}

/** A table. Each row has one cell for each column. */
export interface ModelTable {
  /** Empty if the section's title is sufficient. */
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Whether intervals are part of the result, as for several runs, so that narrow outputs show them too. Default: false */
  readonly showsIntervals?: boolean;
  /** Whether values are means over several runs. Default: false */
  readonly isOfRuns?: boolean;
}

/** A value of a table. */
export interface Cell {
  /** In the base unit of the column's quantity: ns, per second, a ratio from 0 to 1. Absent: there is no value. */
  readonly value?: number | string;
  /** The 95 % interval in the same unit; an end without a bound is null. Never beside the mark `uncertain`. */
  readonly interval?: Interval;
  /** `uncertain`: too few independent samples to trust it. `failed`, `unresolved`, `worse`, `better`: colours with a meaning. */
  readonly mark?: CellMark;
}

export type CellMark = "uncertain" | "failed" | "unresolved" | "worse" | "better";
