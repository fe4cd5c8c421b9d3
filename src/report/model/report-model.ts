import type { Interval } from "../../measure/intervals/certainty.ts";
import type { VerdictState } from "../../measure/verdict-state.ts";
import type { Plot } from "../plot.ts";
import type { NoteJson, VerdictJson } from "../schema/report-schema.ts";

/**
 * What a report says, once, as plain data: the verdict, notes, and sections of tables and charts. Builders in this folder make it of a run,
 * several runs, a sweep, a search or a comparison; renderers (text, Markdown, HTML, CSV, JUnit) show it and know no metric.
 */
export interface ReportModel {
  /** The scenario's name, or what is compared. */
  readonly name: string;
  /** What was measured: `simple, embedded target, http`. Empty where the name says it. */
  readonly subject: string;
  readonly verdict: ModelVerdict;
  /** How it was measured: the load, parameters, seeds; a line each. */
  readonly setup: readonly string[];
  /** What was asserted or checked, in the order of the plan. */
  readonly checks: readonly Check[];
  /** Merged: equal notes of several levels are one. `wrong` first. */
  readonly notes: readonly Note[];
  /** In reading order; the first one answers the question that was asked. */
  readonly sections: readonly Section[];
  /** Whether a page shows its charts as pictures, so that it is small and needs no script: for charts of a few points. Default: false. */
  readonly hasStillCharts?: boolean;
  /** The same without a table, where there is one level. */
  readonly single?: SingleLevel | undefined;
  /** What passed and what did not, one by one, as CI systems count it: a suite for each run, and one for the checks of several. */
  readonly suites: readonly Suite[];
  /** When and on what machine it was measured. Empty where that differs. */
  readonly origin: string;
  /** The plan without secrets, as plain data. Absent where there are several. */
  readonly plan?: object;
}

/** One level in a few texts. */
export interface SingleLevel {
  /** `16 in flight`, `2.0 s`, `36,695 req/s` */
  readonly facts: readonly string[];
  /** Texts that belong together: times; counts. */
  readonly lines: readonly (readonly string[])[];
}

/** Cases of one run, of the checks of several, or of a comparison. */
export interface Suite {
  readonly name: string;
  /** In ISO format. */
  readonly startedAt: string;
  readonly durationSec: number;
  readonly cases: readonly Case[];
}

/** Something that passes or does not: a check, a level, the result of a search, the responses of the server. */
export interface Case {
  readonly name: string;
  readonly timeSec: number;
  readonly state: VerdictState;
  /** What kind of problem it is when it does not pass: `assertion`, `unstable`. */
  readonly kind: string;
  /** What was measured, or why it does not pass, in one line. Empty where the name says all. */
  readonly message: string;
  /** Further lines about the message. Default: none. */
  readonly details?: readonly string[];
  /** Lines that belong to the case whatever its state is. Default: none. */
  readonly output?: readonly string[];
}

/** The worst of what happened; agrees with the exit code. `measured`: nothing was asserted. */
export type VerdictName = VerdictJson["name"];

/** How it ended. The headline is empty where the name says all. */
export interface ModelVerdict extends Pick<VerdictJson, "name" | "headline"> {
  /** Facts for the line of the verdict, such as `8.0 s` and `8,603 requests`. */
  readonly facts: readonly string[];
}

/** An assertion or a check with its result. */
export interface Check {
  readonly state: VerdictState;
  /** `p99 latency < 50 ms` */
  readonly text: string;
  /** `worst 4.65 ms at concurrency 2`, and why it is unresolved. */
  readonly measured: string;
}

/**
 * A note about numbers of the report. Details are shown with `-v` and in files. Its metric is a key with its statistic: `latency.p99`; absent, it
 * is about the load or the run. The last sentence of the text is the remedy, if there is one.
 */
export type Note = NoteJson;

/** How much a note matters. */
export type Severity = Note["severity"];

/** A part of the report. */
export interface Section {
  /** `levels`, `tokens`, `load`, `server` … */
  readonly id: string;
  /** Empty for the first section. */
  readonly title: string;
  /** Whether the first screen has it. Others are shown with `-v` and in files. */
  readonly isSummary: boolean;
  readonly tables: readonly ModelTable[];
  readonly charts: readonly Plot[];
  /** Lines without a table. Default: none. */
  readonly lines?: readonly string[];
}

/**
 * What numbers of a column are: nanoseconds, per second, a count, a mean with three digits, 0 to 1, or a plain number; or words; or `mixed`:
 * figures as texts, of a unit each.
 */
export type CellQuantity = "time" | "rate" | "count" | "mean" | "ratio" | "number" | "text" | "mixed";

/** A column. Renderers choose one unit for all of its cells. */
export interface Column {
  /** Unique in its table; equals the key of the metric with its statistic: `latency.p99`. */
  readonly key: string;
  /** With its unit where that is not a unit of time: `infer/s`. */
  readonly title: string;
  readonly quantity: CellQuantity;
  /** Unit of its numbers for files, where neither the quantity nor the key says it: `W`, `users`. */
  readonly unit?: string;
  /** Narrow outputs drop columns in descending order. 0 is never dropped. */
  readonly dropOrder: number;
  /** Key of a column below whose values a narrow output has these, instead of beside them. Absent: always beside */
  readonly below?: string;
}

/** A table. Rows have one cell for each column. */
export interface ModelTable {
  /** Empty if the section's title says it. */
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** Whether intervals are part of the result, as over several runs, so that narrow outputs show them too. Default: false. */
  readonly showsIntervals?: boolean;
  /** Whether values are means over several runs. Default: false. */
  readonly isOfRuns?: boolean;
}

/** A value of a table. */
export interface Cell {
  /** In the base unit of the column's quantity: ns, per second, a ratio from 0 to 1. Absent: there is no value. */
  readonly value?: number | string;
  /** Its 95 % interval, in the same unit; an end is null where the sample has no bound. A cell never has an interval and the mark `uncertain`. */
  readonly interval?: Interval;
  /** `uncertain`: too few independent samples to trust it. `failed`, `unresolved`, `worse`, `better`: colours of meaning. */
  readonly mark?: CellMark;
}

export type CellMark = "uncertain" | "failed" | "unresolved" | "worse" | "better";
