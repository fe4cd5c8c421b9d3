import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { samplesNeeded } from "../../measure/intervals/percentile-interval.ts";
import type { SpreadJson } from "../schema/metrics.ts";
import { type ReadEstimate, readStatistic, type StatisticName } from "../schema/read-metrics.ts";
import type { Cell, CellMark, CellQuantity, Column, ModelTable, Section } from "./report-model.ts";

/** Builds sections and tables of a report: each subject has one list of columns, and a column is one entry of it. */

/** Creates a section of the first screen, without contents. */
export function summary(id: string, title = ""): Section {
  return { id, title, isSummary: true, tables: [], charts: [] };
}

/** Creates a section that is not on the first screen. Tables without rows are omitted. */
export function detail(id: string, title: string, tables: readonly ModelTable[]): Section {
  return { id, title, isSummary: false, tables: tables.filter(({ rows }) => rows.length > 0), charts: [] };
}

/** A column of a subject. `Row` is the source of a row. */
export interface ColumnSpec<Row> extends Column {
  /** Returns the cell of a row; undefined if it has no value. */
  readonly cell: (row: Row) => Cell | undefined;
}

const EMPTY: Cell = {};

/** Builds a table. Columns without values are omitted. */
export function makeTable<Row>(title: string, specs: readonly ColumnSpec<Row>[], rows: readonly Row[]): ModelTable {
  const filled = specs
    .map(({ cell, ...column }) => ({ column, cells: rows.map((row) => cell(row) ?? EMPTY) }))
    .filter(({ cells }) => cells.some(({ value }) => value !== undefined && value !== ""));
  return {
    title,
    columns: filled.map(({ column }) => column),
    rows: rows.map((_, index) => filled.map(({ cells }) => cells[index] as Cell)),
  };
}

/** Creates a column. @param pick returns a value, or a cell */
export function column<Row>(
  key: string,
  title: string,
  quantity: CellQuantity,
  dropOrder: number,
  pick: (row: Row) => number | string | Cell | null | undefined,
): ColumnSpec<Row> {
  const cell = (row: Row): Cell | undefined => {
    const found = pick(row);
    if (found === null || found === undefined) return undefined;
    return typeof found === "object" ? found : { value: found };
  };
  return { key, title, quantity, dropOrder, cell };
}

/** The column with the name of a row's run. */
export const RUN_COLUMN = column<{ readonly run: string }>("run", "run", "text", 0, ({ run }) => run);

/** The column with the failed requests of a row. */
export const FAILED_COLUMN = column<{ readonly failed: number }>("failed", "failed", "count", 0, ({ failed }) =>
  markedIf(failed > 0, "failed", failed),
);

/** Creates the cell of an estimate: with its interval, or with the mark if that is not informative and no verdict is certain. */
export function estimateCell(estimate: ReadEstimate, isRatio = false): Cell {
  const { value, low, high, isReliable = true } = estimate;
  if (!isReliable) return { value, mark: "uncertain" };
  const found = certaintyOf({ value, low, high, isRatio });
  if (found.isCertain) return { value, interval: { low: found.low, high: found.high } };
  return found.doubt === "wide" ? { value, mark: "uncertain" } : { value };
}

/** Creates the cell of a statistic; undefined if it was not measured. @param scale factor to the base unit */
export function spreadCell(
  found: SpreadJson | undefined,
  statistic: StatisticName,
  scale?: (value: number) => number,
): Cell | undefined {
  const read = found && readStatistic(found, statistic, scale);
  return read && estimateCell(read);
}

/** A sample above this multiple of the size that its percentile needs is not too small by size alone. */
const MANY_TIMES = 10;

/**
 * Explains why values are marked, without a full stop; undefined if none is.
 * @param explained metrics with a note, with their statistics, which need no other explanation. Default: none
 */
export function explainMark(tables: readonly ModelTable[], explained: readonly string[] = []): string | undefined {
  const marked = tables.flatMap(({ columns, rows, isOfRuns = false }) => {
    const countAt = columns.findIndex(({ key }) => key === "completed" || key === "count");
    return rows.flatMap((row) =>
      row.flatMap(({ mark }, at) =>
        mark === "uncertain"
          ? [{ key: columns[at]?.key ?? "", isOfRuns, count: Number(row[countAt]?.value ?? 0) }]
          : [],
      ),
    );
  });
  if (marked.every(({ key }) => explained.includes(key))) return undefined;
  if (marked.every(({ isOfRuns }) => isOfRuns))
    return "the runs differ too much, or are too few, to be sure of it: add runs";
  const isMany = marked.some(({ key, count }) => {
    const [, percentile = "50"] = /(?:^|\.)p([\d.]+)$/.exec(key) ?? [];
    return count >= MANY_TIMES * samplesNeeded(Number(percentile));
  });
  return isMany
    ? "it moved too much, or has too few independent requests: measure longer"
    : "too few independent requests to be sure of it: measure longer";
}

/** Creates a cell, marked if a condition is true. */
export function markedIf(isMarked: boolean, mark: CellMark, value: number | string): Cell {
  return isMarked ? { value, mark } : { value };
}

/** Reports whether a section has visible content. */
export function hasContent({ tables, charts, lines = [] }: Section): boolean {
  return tables.length + charts.length + lines.length > 0;
}
