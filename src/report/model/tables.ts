import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { usToNs } from "../../plan/units.ts";
import type { LevelJson } from "../schema/report-schema.ts";
import type { Cell, CellMark, CellQuantity, Column, ModelTable } from "./report-model.ts";

/** How tables of a report are made: each subject has one list of columns, and a column is one entry of it. */

/** A column of a subject. `Row` is what a row is made of. */
export interface ColumnSpec<Row> extends Column {
  /** Returns the cell of a row; undefined where it has no value. */
  readonly cell: (row: Row) => Cell | undefined;
}

const EMPTY: Cell = {};

/** Makes a table. Columns without any value are left out. */
export function makeTable<Row>(title: string, specs: readonly ColumnSpec<Row>[], rows: readonly Row[]): ModelTable {
  const filled = specs
    .map(({ cell, ...column }) => ({ column, cells: rows.map((row) => cell(row) ?? EMPTY) }))
    .filter(({ cells }) => cells.some(({ value }) => value !== undefined && value !== ""));
  return {
    title,
    columns: filled.map(({ column: { key, title: heading, quantity, dropOrder } }) => ({
      key,
      title: heading,
      quantity,
      dropOrder,
    })),
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

/** An estimate with its verdict on the sample. */
interface Estimate {
  readonly value: number;
  readonly low: number | null;
  readonly high: number | null;
  /** Default: true. */
  readonly isReliable?: boolean;
  /** See `Uncertain`. Default: false. */
  readonly isRatio?: boolean;
}

/**
 * Makes the cell of an estimate: with its interval, or with the mark when its sample is too small for one and no verdict on it is certain; never
 * with both.
 */
export function estimateCell({ value, low, high, isReliable = true, isRatio = false }: Estimate): Cell {
  if (!isReliable) return { value, mark: "uncertain" };
  const found = certaintyOf({ value, low, high, isRatio });
  return found.isCertain ? { value, interval: { low: found.low, high: found.high } } : { value };
}

type LatencyJson = NonNullable<LevelJson["latency"]>;
/** Names of the percentiles of latencies. */
export type PercentileName = keyof LatencyJson["percentiles"];

const endNs = (us: number | null): number | null => (us === null ? null : usToNs(us));

/** Makes the cell of a percentile of latencies. */
export function percentileCell(latency: LatencyJson | null | undefined, name: PercentileName): Cell | undefined {
  if (latency === null || latency === undefined) return undefined;
  const { us, lowUs, highUs, isReliable, isDecided = false } = latency.percentiles[name];
  const ends = { low: endNs(lowUs), high: endNs(highUs) };
  return estimateCell({ value: usToNs(us), ...ends, isReliable: isReliable || isDecided });
}

/** Makes the cell of an average of latencies. */
export function meanCell(latency: LatencyJson | null | undefined): Cell | undefined {
  if (latency === null || latency === undefined) return undefined;
  return estimateCell({
    value: usToNs(latency.meanUs),
    low: endNs(latency.meanLowUs),
    high: endNs(latency.meanHighUs),
  });
}

type SpreadJson = NonNullable<LevelJson["tokens"]>["metrics"][string];

/** Makes the cell of a statistic of tokens or extracted values. @param scale to the base unit */
export function spreadCell(
  found: SpreadJson | undefined,
  name: keyof SpreadJson["confidence95"],
  scale: (value: number) => number = (value) => value,
): Cell | undefined {
  if (found === undefined) return undefined;
  const confidence = found.confidence95[name];
  const end = (value: number | null): number | null => (value === null ? null : scale(value));
  return estimateCell({
    value: scale(found[name]),
    low: end(confidence.low),
    high: end(confidence.high),
    isReliable: "isReliable" in confidence ? confidence.isReliable || confidence.isDecided === true : true,
  });
}

/** Marks a cell when a condition holds. */
export function markedIf(isMarked: boolean, mark: CellMark, value: number | string): Cell {
  return isMarked ? { value, mark } : { value };
}
