import { metricOf } from "../../measure/metrics/catalogue.ts";
import { BUNCHED_RATIO } from "../../measure/tokens/metrics.ts";
import type { MeasuredJson } from "../schema/level.ts";
import type { MetricsJson, OverMetricsJson } from "../schema/metrics.ts";
import { type ReadEstimate, readMetric, readOver, type StatisticName } from "../schema/read-metrics.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import type { OverRunsJson } from "../schema/runs.ts";
import type { Cell, CellQuantity } from "./report-model.ts";
import { type ColumnSpec, column, estimateCell, markedIf } from "./tables.ts";

/**
 * The columns of a level, for all tables that have them: levels, phases, groups by tag, points of a search, each of several runs, and runs
 * together. A new column is one entry.
 */

/** What requests measured: those of a level, or of a part of it. */
export type Measured = Pick<MeasuredJson, "completed" | "failed" | "metrics" | "server"> &
  Partial<Pick<LevelJson, "outcome" | "limits">>;

/** A row of measured requests. */
export interface MeasuredRow {
  readonly json: Measured;
}

/** Wide outputs, and tables of details, have columns from here on. The first screen has not. */
export const DETAIL_DROP_ORDER = 20;
/** Columns of files and pages only from here on. */
export const FILE_DROP_ORDER = 40;

interface LevelColumn {
  readonly key: string;
  readonly title: string | ((words: LevelWords) => string);
  readonly quantity: CellQuantity;
  /** See `Column`; another number where responses have tokens. From {@link DETAIL_DROP_ORDER} on it is a detail. */
  readonly dropOrder: number | readonly [plain: number, withTokens: number];
  /** Instead, where nothing completed for a time. Default: no difference */
  readonly gapDropOrder?: number;
  readonly cell: (json: Measured) => Cell | undefined;
  /** The value over several runs, in its base unit. Absent: runs together do not have it. */
  readonly over?: (json: OverRunsJson) => ReadEstimate | undefined;
}

/** Texts that depend on what is measured. */
export interface LevelWords {
  /** Of throughput: `infer/s`. */
  readonly unit: string;
  /** Whether responses have tokens. Then latency is that of the whole response. */
  readonly hasTokens: boolean;
  /** Whether nothing completed for a time at some level. Default: false. */
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
  {
    key: "failed",
    title: "failed",
    quantity: "count",
    dropOrder: 0,
    cell: ({ failed }) => markedIf(failed > 0, "failed", failed),
  },
  metricColumn("errorRate", undefined, "errors", 30),
  {
    key: "completed",
    title: "completed",
    quantity: "count",
    dropOrder: 19,
    cell: ({ completed }) => ({ value: completed }),
  },
  { key: "outcome", title: "", quantity: "text", dropOrder: 0, cell: outcomeCell },
];

function latencyColumn(statistic: StatisticName, dropOrder: LevelColumn["dropOrder"]): LevelColumn {
  return metricColumn("latency", statistic, ({ hasTokens }) => (hasTokens ? `e2e ${statistic}` : statistic), dropOrder);
}

/** A column of a metric of the catalogue. @param statistic absent: the metric has one value */
function metricColumn(
  key: string,
  statistic: StatisticName | undefined,
  title: LevelColumn["title"],
  dropOrder: LevelColumn["dropOrder"],
): LevelColumn {
  const { quantity } = metricOf({ key });
  const cellOf = (found: ReadEstimate | undefined): Cell | undefined =>
    found && estimateCell(found, quantity === "ratio");
  return {
    key: statistic === undefined ? key : `${key}.${statistic}`,
    title,
    quantity,
    dropOrder,
    cell: ({ metrics }) => (isCutAt(metrics, key) ? undefined : cellOf(readMetric(metrics, key, statistic))),
    over: ({ metrics }) => (isCutOver(metrics, key) ? undefined : readOver(metrics, key, statistic)),
  };
}

const BUNCHED = "bunchedRatio";

/** Whether a metric of a level shows how responses were cut, not how fast tokens were made. Tables and charts then leave it out. */
export function isCutAt(metrics: MetricsJson, key: string): boolean {
  return isCut(key, readMetric(metrics, BUNCHED, "mean"));
}

/** Like {@link isCutAt}, of several runs together. */
export function isCutOver(metrics: OverMetricsJson, key: string): boolean {
  return isCut(key, readOver(metrics, BUNCHED, "mean"));
}

function isCut(key: string, bunched: ReadEstimate | undefined): boolean {
  return key === "interTokenLatency" && bunched !== undefined && bunched.value >= BUNCHED_RATIO;
}

/** A column as it is shown. */
interface ShownColumn extends Omit<LevelColumn, "title" | "dropOrder" | "gapDropOrder"> {
  readonly title: string;
  readonly dropOrder: number;
}

function shownColumns(words: LevelWords): ShownColumn[] {
  return LEVEL_COLUMNS.map(({ title, dropOrder, gapDropOrder, ...rest }) => {
    const usual = typeof dropOrder === "number" ? dropOrder : dropOrder[words.hasTokens ? 1 : 0];
    return {
      ...rest,
      title: typeof title === "string" ? title : title(words),
      dropOrder: words.hasGaps === true ? (gapDropOrder ?? usual) : usual,
    };
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
    ({ key, title, quantity, dropOrder, cell }): ColumnSpec<Row> => ({
      key,
      title,
      quantity,
      dropOrder,
      cell: ({ json }) => cell(json),
    }),
  );
  return [...first, ...rest];
}

/** Returns the metrics on the first screen of a run, by name: `latency.p99`. Its count of failed requests is the error rate. */
export function firstScreenMetrics(hasTokens: boolean): ReadonlySet<string> {
  const names = shownColumns({ unit: "", hasTokens }).flatMap(({ key, dropOrder }) =>
    dropOrder >= DETAIL_DROP_ORDER ? [] : [key === "failed" ? "errorRate" : key],
  );
  return new Set(names);
}

/** A row of runs together. */
export interface CombinedRow {
  readonly combined: OverRunsJson;
}

/** Returns the columns for rows of several runs together, each with the mean over runs and its interval. */
export function combinedColumns<Row extends CombinedRow>(
  words: LevelWords,
  first: readonly ColumnSpec<Row>[],
): ColumnSpec<Row>[] {
  const rest = shownColumns(words).flatMap(({ key, title, quantity, dropOrder, over }): ColumnSpec<Row>[] => {
    if (over === undefined) return [];
    const cell = ({ combined }: Row): Cell | undefined => {
      const found = over(combined);
      return found && estimateCell(found, quantity === "ratio");
    };
    // Failures of runs together have no count.
    return [{ key, title, quantity, dropOrder: key === "errorRate" ? 0 : dropOrder, cell }];
  });
  return [...first, ...rest, column("runs", "runs", "count", 10, ({ combined }: Row) => combined.runs)];
}
