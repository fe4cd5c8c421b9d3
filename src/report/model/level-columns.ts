import { metricOf } from "../../measure/metrics/catalogue.ts";
import type { MeasuredJson } from "../schema/level.ts";
import { type ReadMetric, readerOf, readerOver, type StatisticName } from "../schema/read-metrics.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import type { OverRunsJson } from "../schema/runs.ts";
import type { Cell, CellQuantity, Column } from "./report-model.ts";
import { type ColumnSpec, column, estimateCell, FAILED_COLUMN, markedIf } from "./tables.ts";

/**
 * The columns of a level, for all tables that contain levels: levels, phases, groups by tag, points of a search, each of several
 * runs, and combined runs. A new column is one entry.
 */

/** The measurements of requests: of a level, or of a part of it. */
export type Measured = Pick<MeasuredJson, "completed" | "failed" | "metrics" | "server"> &
  Partial<Pick<LevelJson, "outcome" | "limits">>;

/** A row of measured requests. */
export interface MeasuredRow {
  readonly json: Measured;
}

/** From this drop order on, columns are in wide outputs and tables of details, but not on the first screen. */
export const DETAIL_DROP_ORDER = 20;
/** From this drop order on, columns are only in files and on pages. */
export const FILE_DROP_ORDER = 40;

type LevelColumn = {
  readonly key: string;
  readonly title: string | ((words: LevelWords) => string);
  readonly quantity: CellQuantity;
  /** See `Column`; a different number if tokens have times. From {@link DETAIL_DROP_ORDER} on, the column is a detail. */
  readonly dropOrder: number | readonly [plain: number, withTimes: number];
  /** Drop order if nothing completed for a time. Default: `dropOrder` */
  readonly gapDropOrder?: number;
} & (
  | { readonly metric: readonly [key: string, statistic: StatisticName | undefined] }
  /** For a value that is not a metric of the catalogue. Combined runs have the column of its ratio instead. */
  | { readonly metric?: undefined; readonly ratio?: string; readonly cell: (json: Measured) => Cell | undefined }
);

/** Texts that depend on the measured target. */
export interface LevelWords {
  /** Unit of throughput: `infer/s`. */
  readonly unit: string;
  /** Whether responses have tokens. Then the latency is that of the whole response. */
  readonly hasTokens: boolean;
  /** Whether tokens have times, because responses are streamed. Default: `hasTokens` */
  readonly hasTokenTimes?: boolean;
  /** Keys of the columns that a search limits. They decide, so they are dropped last. Default: none */
  readonly limited?: ReadonlySet<string>;
  /** Whether nothing completed for a time at a level. Default: false */
  readonly hasGaps?: boolean;
}

/** The columns, from left to right. */
const LEVEL_COLUMNS: readonly LevelColumn[] = [
  metricColumn("sentPerSec", undefined, "sent/s", 6),
  metricColumn("throughput", undefined, ({ unit }) => unit, 1),
  metricColumn("responsesPerSec", undefined, "responses/s", [8, 26]),
  metricColumn("sequencesPerSec", undefined, "sequences/s", 9),
  metricColumn("outputTokensPerSec", undefined, "tokens/s", 1),
  metricColumn("timeToFirstToken", "p50", "TTFT p50", 4),
  metricColumn("timeToFirstToken", "p99", "TTFT p99", 2),
  metricColumn("interTokenLatency", "p50", "ITL p50", 6),
  metricColumn("interTokenLatency", "p99", "ITL p99", 3),
  metricColumn("firstResponse", "p99", "first p99", [5, 27]),
  metricColumn("betweenResponses", "mean", "between", [12, 28]),
  latencyColumn("mean", [13, 22]),
  latencyColumn("p50", [7, 20]),
  latencyColumn("p90", [11, 21]),
  latencyColumn("p95", 24),
  latencyColumn("p99", [1, 7]),
  latencyColumn("p99.9", 25),
  { ...latencyColumn("max", [14, 23]), gapDropOrder: 2 },
  metricColumn("scheduledLatency", "p99", "scheduled p99", 2),
  metricColumn("serverLatency", "mean", "server mean", 29),
  { ...FAILED_COLUMN, ratio: "errorRate" },
  metricColumn("errorRate", undefined, "errors", 30),
  column("completed", "completed", "count", 19, ({ completed }) => completed),
  column("outcome", "", "text", 0, outcomeCell),
];

function latencyColumn(statistic: StatisticName, dropOrder: LevelColumn["dropOrder"]): LevelColumn {
  return metricColumn("latency", statistic, ({ hasTokens }) => (hasTokens ? `e2e ${statistic}` : statistic), dropOrder);
}

/** Creates a column for a metric of the catalogue. @param statistic absent: the metric has one value */
function metricColumn(
  key: string,
  statistic: StatisticName | undefined,
  title: LevelColumn["title"],
  dropOrder: LevelColumn["dropOrder"],
): LevelColumn {
  return {
    key: statistic === undefined ? key : `${key}.${statistic}`,
    title,
    quantity: metricOf({ key }).quantity,
    dropOrder,
    metric: [key, statistic],
  };
}

function shownColumns(words: LevelWords): { readonly shown: Column; readonly entry: LevelColumn }[] {
  return LEVEL_COLUMNS.map((entry) => {
    const { key, title, quantity, dropOrder, gapDropOrder } = entry;
    const usual =
      typeof dropOrder === "number" ? dropOrder : dropOrder[(words.hasTokenTimes ?? words.hasTokens) ? 1 : 0];
    const least = words.hasGaps === true ? (gapDropOrder ?? usual) : usual;
    const shown = {
      key,
      title: typeof title === "string" ? title : title(words),
      quantity,
      dropOrder: words.limited?.has(key) === true ? 1 : least,
    };
    return { shown, entry };
  });
}

/** Names of the states of limits. */
export const LIMIT_TEXTS = { kept: "keeps the limits", broken: "breaks a limit", unresolved: "unresolved" } as const;
const OUTCOME_TEXTS = {
  measured: "",
  unstable: "UNSTABLE",
  partial: "PARTIAL",
  "over-limit": "over the limit",
} as const;

function outcomeCell({ outcome = "measured", limits }: Measured): Cell {
  if (limits !== undefined) {
    const { state } = limits;
    return markedIf(state !== "kept", state === "broken" ? "failed" : "unresolved", LIMIT_TEXTS[state]);
  }
  return markedIf(outcome !== "measured", "failed", OUTCOME_TEXTS[outcome]);
}

/** Returns the columns for rows of measured requests. @param first columns that name the row */
export function measuredColumns<Row extends MeasuredRow>(
  words: LevelWords,
  first: readonly ColumnSpec<Row>[],
): ColumnSpec<Row>[] {
  const rest = shownColumns(words).map(
    ({ shown, entry }): ColumnSpec<Row> =>
      entry.metric === undefined
        ? { ...shown, cell: ({ json }) => entry.cell(json) }
        : { ...shown, cell: ({ json }) => metricCell(readerOf(json.metrics), entry.metric) },
  );
  return [...first, ...rest];
}

function metricCell(
  read: ReadMetric,
  [key, statistic]: readonly [string, StatisticName | undefined],
): Cell | undefined {
  const found = read(key, statistic);
  return found && estimateCell(found, metricOf({ key }).quantity === "ratio");
}

/** Returns the metrics on the first screen of a run, by name: `latency.p99`. A count is represented by its ratio. */
export function firstScreenMetrics(hasTokenTimes: boolean): ReadonlySet<string> {
  const names = shownColumns({ unit: "", hasTokens: hasTokenTimes }).flatMap(({ shown: { key, dropOrder }, entry }) =>
    dropOrder >= DETAIL_DROP_ORDER ? [] : [ratioKeyOf(entry) ?? key],
  );
  return new Set(names);
}

function ratioKeyOf(column: LevelColumn): string | undefined {
  return column.metric === undefined ? column.ratio : undefined;
}

/** A row of combined runs. */
export interface CombinedRow {
  readonly combined: OverRunsJson;
}

/** Returns the columns for rows of combined runs, each with the mean over runs and its interval. */
export function combinedColumns<Row extends CombinedRow>(
  words: LevelWords,
  first: readonly ColumnSpec<Row>[],
): ColumnSpec<Row>[] {
  const columns = shownColumns(words);
  const rest = columns.flatMap(({ shown, entry: { metric } }): ColumnSpec<Row>[] => {
    if (metric === undefined) return [];
    const cell = ({ combined }: Row): Cell | undefined => metricCell(readerOver(combined.metrics), metric);
    const counted = columns.find(({ entry }) => ratioKeyOf(entry) === shown.key)?.shown;
    return [{ ...shown, dropOrder: (counted ?? shown).dropOrder, cell }];
  });
  return [...first, ...rest, column("runs", "runs", "count", 10, ({ combined }: Row) => combined.runs)];
}
