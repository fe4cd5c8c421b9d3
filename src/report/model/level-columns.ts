import { nameOfMetric, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { usToNs } from "../../plan/units.ts";
import type { LevelJson, ReportJson } from "../schema/report-schema.ts";
import type { Cell, CellQuantity } from "./report-model.ts";
import {
  type ColumnSpec,
  column,
  estimateCell,
  markedIf,
  meanCell,
  type PercentileName,
  percentileCell,
  spreadCell,
} from "./tables.ts";

/**
 * The columns of a level, for all tables that have them: levels, phases, groups by tag, points of a search, each of several runs, and runs
 * together. A new column is one entry.
 */

type GroupJson = NonNullable<LevelJson["groups"]>[number];

/** What requests measured: those of a level, or of a part of it. */
export type Measured = Omit<GroupJson, "tags"> & Partial<Pick<LevelJson, "outcome" | "limits">>;

/** What runs measured together at one level, or at their highest loads. */
export type Combined = Omit<
  Extract<ReportJson, { runs: unknown }>["combination"]["levels"][number],
  "unit" | "level" | "phase"
>;

/** A row of measured requests. */
export interface MeasuredRow {
  readonly json: Measured;
}

/** Wide outputs, and tables of details, have columns from here on. The first screen has not. */
export const DETAIL_DROP_ORDER = 20;

interface LevelColumn {
  readonly key: string;
  readonly title: string | ((words: LevelWords) => string);
  readonly quantity: CellQuantity;
  /** See `Column`; another number where answers have tokens. From {@link DETAIL_DROP_ORDER} on it is a detail. */
  readonly dropOrder: number | readonly [plain: number, withTokens: number];
  readonly cell: (json: Measured) => Cell | undefined;
  /** The value over several runs, in the unit of the JSON report. Absent: runs together do not have it. */
  readonly over?: (json: Combined) => Combined["inferPerSec"];
}

/** Texts that depend on what is measured. */
export interface LevelWords {
  /** Of throughput: `infer/s`. */
  readonly unit: string;
  /** Whether answers have tokens. Then latency is that of the whole answer. */
  readonly hasTokens: boolean;
}

/** The columns, from left to right. */
const LEVEL_COLUMNS: readonly LevelColumn[] = [
  {
    key: "sentPerSec",
    title: "sent/s",
    quantity: "rate",
    dropOrder: 6,
    cell: ({ sentPerSec, scheduledLatency }) => (scheduledLatency === undefined ? undefined : { value: sentPerSec }),
  },
  {
    key: "throughput",
    title: ({ unit }) => unit,
    quantity: "rate",
    dropOrder: 1,
    cell: ({ inferPerSec: value, inferPerSecLow: low, inferPerSecHigh: high }) => estimateCell({ value, low, high }),
    over: ({ inferPerSec }) => inferPerSec,
  },
  {
    key: "responsesPerSec",
    title: "responses/s",
    quantity: "rate",
    dropOrder: [8, 26],
    cell: ({ responsesPerSec }) => plainCell(responsesPerSec),
  },
  {
    key: "sequencesPerSec",
    title: "sequences/s",
    quantity: "rate",
    dropOrder: 9,
    cell: ({ sequencesPerSec }) => plainCell(sequencesPerSec),
  },
  {
    key: "outputTokensPerSec",
    title: "tokens/s",
    quantity: "rate",
    dropOrder: 1,
    cell: ({ tokens }) => plainCell(tokens?.outputTokensPerSec),
    over: ({ tokens }) => tokens?.outputTokensPerSec,
  },
  tokenColumn("timeToFirstTokenNs", "TTFT", "p50", 4),
  tokenColumn("timeToFirstTokenNs", "TTFT", "p99", 2),
  tokenColumn("interTokenLatencyNs", "ITL", "p50", 5),
  tokenColumn("interTokenLatencyNs", "ITL", "p99", 3),
  {
    key: "firstResponse.p99",
    title: "first p99",
    quantity: "time",
    dropOrder: [5, 27],
    cell: ({ firstResponse }) => percentileCell(firstResponse, "p99"),
    over: ({ firstResponseUs }) => firstResponseUs?.p99,
  },
  {
    key: "betweenResponses.mean",
    title: "between",
    quantity: "time",
    dropOrder: [12, 28],
    cell: ({ betweenResponsesMeanUs: us }) => plainCell(us === undefined ? undefined : usToNs(us)),
  },
  {
    key: "latency.mean",
    title: ({ hasTokens }) => (hasTokens ? "e2e mean" : "mean"),
    quantity: "time",
    dropOrder: [13, 22],
    cell: ({ latency }) => meanCell(latency),
    over: ({ latencyUs }) => latencyUs.mean,
  },
  latencyColumn("p50", [7, 20]),
  latencyColumn("p90", [11, 21]),
  latencyColumn("p95", 24),
  latencyColumn("p99", [1, 6]),
  latencyColumn("p99.9", 25),
  {
    key: "latency.max",
    title: ({ hasTokens }) => (hasTokens ? "e2e max" : "max"),
    quantity: "time",
    dropOrder: [14, 23],
    cell: ({ latency }) => plainCell(latency === null ? undefined : usToNs(latency.maxUs)),
  },
  {
    key: "scheduledLatency.p99",
    title: "due p99",
    quantity: "time",
    dropOrder: 2,
    cell: ({ scheduledLatency }) => percentileCell(scheduledLatency, "p99"),
    over: ({ scheduledLatencyUs }) => scheduledLatencyUs?.p99,
  },
  {
    key: "serverLatency.mean",
    title: "server mean",
    quantity: "time",
    dropOrder: 29,
    cell: ({ server }) =>
      server === undefined || server.successCount === 0 ? undefined : { value: server.successNs / server.successCount },
  },
  {
    key: "failed",
    title: "failed",
    quantity: "count",
    dropOrder: 0,
    cell: ({ failed }) => markedIf(failed > 0, "failed", failed),
  },
  {
    key: "errorRatio",
    title: "errors",
    quantity: "ratio",
    dropOrder: 30,
    cell: ({ errorRatio }) => ({ value: errorRatio }),
    over: ({ errorRatio }) => errorRatio,
  },
  {
    key: "requests",
    title: "requests",
    quantity: "count",
    dropOrder: 19,
    cell: ({ requests }) => ({ value: requests }),
  },
  { key: "outcome", title: "", quantity: "text", dropOrder: 0, cell: outcomeCell },
];

function latencyColumn(name: PercentileName, dropOrder: LevelColumn["dropOrder"]): LevelColumn {
  return {
    key: `latency.${name}`,
    title: ({ hasTokens }) => (hasTokens ? `e2e ${name}` : name),
    quantity: "time",
    dropOrder,
    cell: ({ latency }) => percentileCell(latency, name),
    over: ({ latencyUs }) => latencyUs[name],
  };
}

function tokenColumn(metric: TokenMetric, label: string, name: "p50" | "p99", dropOrder: number): LevelColumn {
  const of = nameOfMetric(metric);
  return {
    key: `${of}.${name}`,
    title: `${label} ${name}`,
    quantity: "time",
    dropOrder,
    cell: ({ tokens }) => spreadCell(tokens?.metrics[`${of}Us`], name, usToNs),
    over: ({ tokens }) => tokens?.metrics[`${of}Us`]?.[name],
  };
}

function plainCell(value: number | null | undefined): Cell | undefined {
  return value === undefined || value === null ? undefined : { value };
}

/** A column as it is shown. */
interface ShownColumn extends Omit<LevelColumn, "title" | "dropOrder"> {
  readonly title: string;
  readonly dropOrder: number;
}

function shownColumns(words: LevelWords): ShownColumn[] {
  return LEVEL_COLUMNS.map(({ title, dropOrder, ...rest }) => ({
    ...rest,
    title: typeof title === "string" ? title : title(words),
    dropOrder: typeof dropOrder === "number" ? dropOrder : dropOrder[words.hasTokens ? 1 : 0],
  }));
}

/** Names of the states of limits. */
const LIMIT_TEXTS = { kept: "keeps the limits", broken: "breaks a limit", unresolved: "unresolved" } as const;
const OUTCOME_TEXTS = {
  measured: "",
  unstable: "UNSTABLE",
  partial: "PARTIAL",
  "over-limit": "over the limit",
} as const;

function outcomeCell({ outcome = "measured", limits }: Measured): Cell {
  if (limits !== undefined) return markedIf(limits.state !== "kept", "failed", LIMIT_TEXTS[limits.state]);
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

/** A row of runs together. */
export interface CombinedRow {
  readonly combined: Combined;
}

/** Returns the columns for rows of several runs together, each with the mean over runs and its interval. */
export function combinedColumns<Row extends CombinedRow>(
  words: LevelWords,
  first: readonly ColumnSpec<Row>[],
): ColumnSpec<Row>[] {
  const rest = shownColumns(words).flatMap(({ key, title, quantity, dropOrder, over }): ColumnSpec<Row>[] => {
    if (over === undefined) return [];
    const scale = quantity === "time" ? usToNs : (value: number): number => value;
    const end = (value: number | null): number | null => (value === null ? null : scale(value));
    const cell = ({ combined }: Row): Cell | undefined => {
      const found = over(combined);
      const ends = found && { low: end(found.low), high: end(found.high) };
      return ends && estimateCell({ value: scale(found.mean), ...ends, isRatio: quantity === "ratio" });
    };
    // Failures of runs together have no count.
    return [{ key, title, quantity, dropOrder: key === "errorRatio" ? 0 : dropOrder, cell }];
  });
  return [...first, ...rest, column("runs", "runs", "count", 10, ({ combined }: Row) => combined.runs)];
}
