import { nsToUs } from "../plan/units.ts";
import { formatCsvRow } from "./markup.ts";
import type { Cell, CellQuantity, Column, ModelTable, ReportModel } from "./model/report-model.ts";

/**
 * `--csv`: all tables of a report for spreadsheets, beginning with the one that answers the question. Each table has a header and
 * is followed by an empty line. Its first column is the name of its section. Values have all digits; headers contain the units.
 */

/** Formats the file, with line ends as in RFC 4180. */
export function formatCsv({ sections }: ReportModel): string {
  return sections.flatMap(({ id, tables }) => tables.map((table) => formatTable(id, table))).join("\r\n");
}

interface CsvColumn {
  readonly title: string;
  readonly textOf: (cell: Cell) => string;
}

function formatTable(section: string, { title, columns, rows }: ModelTable): string {
  const cellsOf = (index: number): Cell[] => rows.map((row) => row[index] ?? {});
  const shown = columns.map((column, index) => toCsvColumns(column, cellsOf(index)));
  const name = title === "" ? section : `${section}: ${title}`;
  const header = ["section", ...shown.flat().map((column) => column.title)];
  const lines = rows.map((row) => [
    name,
    ...shown.flatMap((columns, index) => columns.map(({ textOf }) => textOf(row[index] ?? {}))),
  ]);
  return [header, ...lines].map((line) => formatCsvRow(line)).join("");
}

/** Units in the file, and conversions from the base unit: ns, per second, 0 to 1. */
const UNITS: Readonly<Partial<Record<CellQuantity, readonly [name: string, scale: (value: number) => number]>>> = {
  time: ["us", nsToUs],
  rate: ["per s", (value) => value],
  ratio: ["%", (value) => value * 100],
};

/** Returns the CSV columns of a table column: values and, if any row has them, the ends of intervals and the marks. */
function toCsvColumns({ key, quantity, unit: columnUnit }: Column, cells: readonly Cell[]): CsvColumn[] {
  const [name = columnUnit] = UNITS[quantity] ?? [];
  const unit = name === undefined ? "" : ` (${name})`;
  const end = (which: "low" | "high"): CsvColumn => ({
    title: `${key} ${which}${unit}`,
    textOf: ({ interval }) => formatNumber(interval?.[which] ?? undefined, quantity),
  });
  const isUncertain = ({ mark }: Cell): boolean => mark === "uncertain";
  return [
    { title: `${key}${unit}`, textOf: ({ value }) => formatNumber(value, quantity) },
    ...(cells.some(({ interval }) => interval !== undefined) ? [end("low"), end("high")] : []),
    ...(cells.some(isUncertain)
      ? [
          {
            title: `${key} is certain`,
            textOf: (cell: Cell) => (cell.value === undefined ? "" : String(!isUncertain(cell))),
          },
        ]
      : []),
  ];
}

function formatNumber(value: number | string | undefined, quantity: CellQuantity): string {
  if (value === undefined) return "";
  if (typeof value === "string") return escapeFormula(value);
  // The last digit is a rounding error.
  const [, scale] = UNITS[quantity] ?? [];
  return String(Number((scale?.(value) ?? value).toPrecision(15)));
}

/** Prevents spreadsheets from evaluating texts that begin like a formula, because a text may come from a server. */
function escapeFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
}
