import type { ModelTable, Note, ReportModel, Section } from "../model/report-model.ts";
import { formatTable } from "../rampart/format.ts";

/** A comparison on a terminal: the verdict, what changed, the limits, and the notes that matter. */

const MAX_COLUMNS = 80;
const MAX_ALL_COLUMNS = 110;
const INDENT = "  ";
const MOST_NOTES = 3;
const CHECK_WORDS = { pass: "pass", fail: "FAIL", unresolved: "unresolved" } as const;

/** How a comparison is written. */
export interface ComparisonStyle {
  /** Shows all notes, and wider tables. */
  readonly isAll: boolean;
  /** How the user asks for all notes. */
  readonly allFlag: string;
}

/** Formats the model of a comparison, with a line break at its end. */
export function formatComparison(model: ReportModel, style: ComparisonStyle): string {
  const { isAll } = style;
  const { verdict, checks, sections } = model;
  const blocks = [
    [...headOf(model), ...indented(wrap(verdict.headline))],
    ...sections.flatMap((section) => formatSection(section, isAll ? MAX_ALL_COLUMNS : MAX_COLUMNS)),
    checks.flatMap(({ state, text, measured }) => indented(wrap(`${CHECK_WORDS[state]}${INDENT}${text}: ${measured}`))),
    formatNotes(model.notes, style),
  ];
  return `${blocks
    .filter(({ length }) => length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** Returns the verdict and the sides, with the facts beside them where there is room. */
function headOf({ verdict, subject }: ReportModel): string[] {
  const head = `${verdict.name.toUpperCase()}${INDENT}${subject}`;
  const facts = verdict.facts.join("   ");
  const line = `${head}   ${facts}`;
  return line.length <= MAX_COLUMNS ? [line] : [...wrap(head), `${INDENT}${facts}`];
}

function formatSection({ title, tables, lines = [] }: Section, maxColumns: number): string[][] {
  const heading = title === "" ? [] : [[title]];
  return [
    ...heading,
    ...tables.map((table) => [table.title, ...indented(formatRows(table, maxColumns).split("\n"))]),
    lines.flatMap((line) => indented(wrap(line))),
  ];
}

/** Formats a table. Columns without room are dropped, the highest order first. */
function formatRows({ columns, rows, title }: ModelTable, maxColumns: number): string {
  const cells = rows.map((row) => row.map(({ value = "" }) => String(value)));
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  // Figures are aligned to the right, whatever their units and signs.
  const aligned = cells.map((row) =>
    row.map((text, at) => (at === 0 || at === row.length - 1 ? text : text.padStart(widths[at] ?? 0))),
  );
  const header = columns.map((column, at) =>
    at === 0 || at === columns.length - 1 ? column.title : column.title.padStart(widths[at] ?? 0),
  );
  const all = formatTable(header, aligned, Number.POSITIVE_INFINITY);
  const most = Math.max(...columns.map(({ dropOrder }) => dropOrder));
  const isTooWide = all.split("\n").some((line) => line.length > maxColumns - INDENT.length);
  if (!isTooWide || most === 0) return all;
  const isKept = columns.map(({ dropOrder }) => dropOrder < most);
  const kept = rows.map((row) => row.filter((_, at) => isKept[at]));
  return formatRows({ title, columns: columns.filter((_, at) => isKept[at]), rows: kept }, maxColumns);
}

function formatNotes(notes: readonly Note[], { isAll, allFlag }: ComparisonStyle): string[] {
  const shown = isAll ? notes : notes.filter(({ severity }) => severity !== "detail").slice(0, MOST_NOTES);
  const more = notes.length - shown.length;
  return [
    ...shown.flatMap(({ text, levels }) => {
      const place = levels.length === 0 ? "" : `${levels.join(", ")}: `;
      return indented(wrap(`note${INDENT}${place}${text}`));
    }),
    ...(more === 0 ? [] : indented([`… ${more} more ${more === 1 ? "note" : "notes"}: ${allFlag}`])),
  ];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `${INDENT}${line}`);
}

/** Splits a text at spaces; lines after the first one are indented. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ (?=\S)/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= MAX_COLUMNS - INDENT.length)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : `${INDENT}${word}`);
  }
  return lines;
}
