import { formatRange, MARK } from "../rampart/confidence-notes.ts";
import { formatUs } from "../rampart/format.ts";
import type { LevelJson } from "../schema/report-schema.ts";

/** Tables that several reports show, as data. Every number is from the JSON report. */

/** A cell: its text, or a text with a look, or with a smaller line, such as an interval, where there is room for it. */
export type TableCell =
  | string
  | { readonly text: string; readonly look?: "bad" | "good" | "text" | "wide"; readonly small?: string };

/** A table with its title. Columns without a text can be left out. */
export interface ResultTable {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly TableCell[])[];
  /** Sentences below it. */
  readonly notes?: readonly string[];
}

/** What tables and charts need to name things. */
export interface NamedLevel {
  /** With its run, where there are several: `run 2, concurrency 4`. */
  readonly name: string;
  readonly json: LevelJson;
}

/** Returns the text of a cell. */
export function textOf(cell: TableCell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}

type LatencyJson = NonNullable<LevelJson["latency"]>;

/** Formats a percentile with its interval, or with a mark when there are too few samples; `-` without latencies. */
export function percentileCell(latency: LatencyJson | null, name: keyof LatencyJson["percentiles"]): TableCell {
  if (latency === null) return "-";
  const { us, lowUs, highUs, isReliable } = latency.percentiles[name];
  return isReliable ? withRange(formatUs(us), lowUs, highUs, formatUs) : `${formatUs(us)}${MARK}`;
}

/** Formats an average with its interval; `-` without latencies. */
export function averageCell(latency: LatencyJson | null): TableCell {
  return latency === null ? "-" : withRange(formatUs(latency.meanUs), latency.meanLowUs, latency.meanHighUs, formatUs);
}

/** Adds an interval to a text, if it has both ends. */
export function withRange(
  text: string,
  low: number | null,
  high: number | null,
  format: (value: number) => string,
): TableCell {
  return low === null || high === null ? text : { text, small: formatRange(format(low), format(high)) };
}
