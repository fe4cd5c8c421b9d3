import { nsToUs } from "../plan/units.ts";
import { formatCsvRow } from "./markup.ts";
import type { Cell, CellQuantity, Column, ModelTable, ReportModel } from "./model/report-model.ts";
import { createModelFile } from "./model-report.ts";

/**
 * `--csv`: all tables of a report for spreadsheets, the one that answers the question first. Each table has a header and is followed by an
 * empty line. Its first column names its section. Values have all digits; names have their units.
 */

/** Creates the report. */
export const createCsvReport = createModelFile(formatCsv, "outputs.files.csv");

/** Formats the file. Lines end as RFC 4180 says. */
export function formatCsv({ sections }: ReportModel): string {
  return sections.flatMap(({ id, tables }) => tables.map((table) => formatTable(id, table))).join("\r\n");
}

/** A column of the file. */
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

/** Units of the file, and what makes values of the base unit: ns, per second, 0 to 1. */
const UNITS: Readonly<Partial<Record<CellQuantity, readonly [name: string, scale: (value: number) => number]>>> = {
  time: ["us", nsToUs],
  rate: ["per s", (value) => value],
  ratio: ["%", (value) => value * 100],
};

/** Returns the columns of a column: its values, the ends of their intervals, and whether the sample of each is too small; where a row has that. */
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
  // The last digit is what arithmetic left.
  const [, scale] = UNITS[quantity] ?? [];
  return String(Number((scale?.(value) ?? value).toPrecision(15)));
}

/** Spreadsheets run texts that begin like a formula, and a text may be from a server. */
function escapeFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
}
