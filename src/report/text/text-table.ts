import { wrapWords } from "../../plan/terminal-text.ts";
import { DETAIL_DROP_ORDER, FILE_DROP_ORDER } from "../model/level-columns.ts";
import type { Cell, Column, ModelTable } from "../model/report-model.ts";
import { formatCell, formatInterval, formatValue, type TimeUnit, unitsOf } from "../model/values.ts";

/** Tables on a terminal with one unit per column. Columns without room are dropped, or moved below the one they belong to. */

const WIDE_GAP = 3;
const NARROW_GAP = 2;
/** Minimum width of a wrapped column of texts. */
const LEAST_TEXT = 16;
/** Texts are wrapped to this width before a column is dropped. */
const NARROW_TEXT = 24;

/** A formatted table, and the columns without room. */
interface TextTable {
  readonly lines: readonly string[];
  readonly dropped: readonly Column[];
}

interface TableStyle {
  readonly maxColumns: number;
  readonly format: (cell: Cell, column: Column, unit: TimeUnit | undefined) => string;
  /** Returns the text below that of a cell. Default: none */
  readonly formatBelow?: TableStyle["format"];
  /** Highest `dropOrder` of the columns shown. Default: below that of details */
  readonly mostDropOrder?: number;
}

interface TextColumn {
  readonly column: Column;
  readonly texts: readonly string[];
  readonly width: number;
}

/** Formats a table. */
export function formatTextTable(table: ModelTable, style: TableStyle): TextTable {
  const { maxColumns, mostDropOrder = DETAIL_DROP_ORDER - 1 } = style;
  const units = unitsOf(table);
  const all = table.columns.map((column, index) => {
    const cells = table.rows.map((row) => row[index] ?? {});
    return toTextColumn(column, cells, units[index], style);
  });
  const isEmpty = ({ texts }: TextColumn): boolean => texts.every((text) => text === "");
  const wanted = all.filter((one) => one.column.dropOrder <= mostDropOrder && !isEmpty(one));
  const fits = (columns: readonly TextColumn[], textWidth: number): boolean => {
    const narrowed = columns.map((one) => narrow(one, textWidth));
    return widthOf(narrowed, NARROW_GAP) <= maxColumns;
  };
  const folded = fold(wanted);
  const isFolded = folded.length < wanted.length && !fits(wanted, NARROW_TEXT) && fits(folded, LEAST_TEXT);
  let shown = isFolded ? folded : wanted;
  while (!isFolded && !fits(shown, NARROW_TEXT)) {
    const last = shown.reduce<TextColumn | undefined>(
      (found, one) => (one.column.dropOrder > (found?.column.dropOrder ?? 0) ? one : found),
      undefined,
    );
    if (last === undefined) break;
    shown = shown.filter((one) => one !== last);
  }
  const gap = widthOf(shown, WIDE_GAP) <= maxColumns ? WIDE_GAP : NARROW_GAP;
  const lines = layOut(wrapTexts(shown, gap, maxColumns), gap);
  const isShown = ({ column }: TextColumn): boolean =>
    shown.some((one) => one.column === column || (isFolded && one.column.key === column.below));
  const dropped = all.filter((one) => !isShown(one) && !isEmpty(one)).map(({ column }) => column);
  return { lines, dropped };
}

/** Formats the value of a cell, with its mark. */
export function valueText(cell: Cell, { quantity }: Column, unit: TimeUnit | undefined): string {
  return formatCell(cell, quantity, unit);
}

/** Formats the reach of a cell's interval on both sides: `±0.04`; the interval itself if the sides differ. Empty without an interval. */
export function reachText({ value, interval }: Cell, { quantity }: Column, unit: TimeUnit | undefined): string {
  const { low = null, high = null } = interval ?? {};
  if (typeof value !== "number" || low === null || high === null || high === low) return "";
  const half = (high - low) / 2;
  const withoutUnit = (text: string): string => text.replace(/ (?:us|ms|s|min)$/, "");
  if (Math.abs(high + low - 2 * value) > 0.1 * half)
    return withoutUnit(formatInterval({ value, interval: { low, high } }, quantity, unit));
  const reach = Number((half / (unit?.ns ?? 1)).toPrecision(2));
  return `±${trimZeros(withoutUnit(formatValue(reach, quantity === "time" ? "rate" : quantity)))}`;
}

/** Leaves out zeros at the end of a fraction: `1.2` for `1.20`. */
function trimZeros(text: string): string {
  return text.replace(/(\.\d*?)0+(?=$| )/, "$1").replace(/\.(?=$| )/, "");
}

function toTextColumn(
  column: Column,
  cells: readonly Cell[],
  unit: TimeUnit | undefined,
  { format, formatBelow }: TableStyle,
): TextColumn {
  const texts = cells.flatMap((cell) => [
    format(cell, column, unit),
    ...(formatBelow === undefined ? [] : [formatBelow(cell, column, unit)]),
  ]);
  // Marks are placed beside the numbers, so that the numbers stay aligned.
  const hasMark = texts.some((text) => text.endsWith("*"));
  const aligned = hasMark ? texts.map((text) => (text.endsWith("*") || text === "" ? text : `${text} `)) : texts;
  return { column, texts: aligned, width: Math.max(column.title.length, ...aligned.map(({ length }) => length)) };
}

function widthOf(columns: readonly TextColumn[], gap: number): number {
  return columns.reduce((sum, { width }) => sum + width + gap, -gap);
}

function narrow(one: TextColumn, textWidth: number): TextColumn {
  const { quantity, title, key } = one.column;
  if (quantity !== "text") return one;
  return { ...one, width: Math.min(one.width, NAME_KEYS.has(key) ? textWidth : Math.max(textWidth, title.length)) };
}

/** Moves columns that may be below others there. */
function fold(columns: readonly TextColumn[]): readonly TextColumn[] {
  const hostOf = ({ column: { below } }: TextColumn) => columns.find(({ column: { key } }) => key === below);
  return columns.flatMap((one) => {
    if (hostOf(one) !== undefined) return [];
    const under = columns.find((other) => hostOf(other) === one);
    if (under === undefined) return [one];
    const texts = one.texts.map((text, row) => `${text}\n${under.texts[row] ?? ""}`.trimEnd());
    return [{ ...one, texts, width: Math.max(one.width, ...under.texts.map(({ length }) => length)) }];
  });
}

/** Makes the widest texts narrower if the table is too wide: names are shortened, other texts are wrapped. */
function wrapTexts(columns: readonly TextColumn[], gap: number, maxColumns: number): readonly TextColumn[] {
  const over = widthOf(columns, gap) - maxColumns;
  if (over <= 0) return columns;
  const [widest] = columns.filter(({ column }) => column.quantity === "text").toSorted((a, b) => b.width - a.width);
  if (widest === undefined || widest.width <= LEAST_TEXT) return columns;
  const width = Math.max(LEAST_TEXT, widest.width - over);
  const narrowed = columns.map((one) => (one === widest ? shortenNames({ ...one, width }) : one));
  return width === LEAST_TEXT ? wrapTexts(narrowed, gap, maxColumns) : narrowed;
}

/** Shortens the names of rows to the width of their column, unless rows would then have the same name. */
function shortenNames(one: TextColumn): TextColumn {
  const { column, texts, width } = one;
  if (!NAME_KEYS.has(column.key)) return one;
  const short = texts.map((text) => shorten(text, width));
  const isClear = new Set(short).size === new Set(texts).size;
  return { ...one, column: { ...column, title: shorten(column.title, width) }, texts: isClear ? short : texts };
}

/** Cuts out the middle of a name that is too long, because names usually differ at one of their ends. */
function shorten(name: string, width: number): string {
  const end = Math.floor((width - 1) / 2);
  return name.length <= width ? name : `${name.slice(0, width - 1 - end)}…${name.slice(name.length - end)}`;
}

function layOut(columns: readonly TextColumn[], gap: number): string[] {
  const join = (cells: readonly string[]): string => cells.join(" ".repeat(gap)).trimEnd();
  const pad = ({ column: { quantity, title }, width }: TextColumn, text: string, isLast: boolean): string =>
    quantity === "text" && !(title === "" && isLast)
      ? text.padEnd(width)
      : quantity === "text"
        ? text
        : text.padStart(width);
  const head = join(columns.map((one, index) => pad(one, one.column.title, index === columns.length - 1)));
  const rowCount = columns[0]?.texts.length ?? 0;
  const rows = Array.from({ length: rowCount }, (_, row) => {
    const cells = columns.map((one) => (one.texts[row] ?? "").split("\n").flatMap((text) => wrapText(text, one.width)));
    const height = Math.max(1, ...cells.map(({ length }) => length));
    return Array.from({ length: height }, (_unused, line) =>
      join(columns.map((one, index) => pad(one, cells[index]?.[line] ?? "", index === columns.length - 1))),
    );
  }).flat();
  const lines = rows.filter((line) => line !== "");
  return head === "" ? lines : [head, ...lines];
}

/** Available width for words and for tables. */
export interface Room {
  readonly maxColumns: number;
  readonly tableColumns: number;
}

/** Formats a table, with its title. */
export function tableLines(table: ModelTable, maxColumns: number, mostDropOrder?: number) {
  const below = table.showsIntervals === true ? { formatBelow: reachText } : {};
  const most = mostDropOrder === undefined ? {} : { mostDropOrder };
  const { lines, dropped } = formatTextTable(table, { maxColumns, format: valueText, ...below, ...most });
  return { lines: [...(table.title === "" ? [] : wrapText(table.title, maxColumns)), ...lines], dropped };
}

/** Formats a table with all columns that fit, then the names of the others, then the intervals of the rows that have any. */
export function detailedBlocks(table: ModelTable, { maxColumns, tableColumns }: Room, indent: number): string[][] {
  const { lines, dropped } = tableLines(table, tableColumns - indent, FILE_DROP_ORDER - 1);
  const left = dropped
    .filter(({ dropOrder }) => dropOrder < FILE_DROP_ORDER)
    .map(({ title }) => title.replaceAll(" ", NO_BREAK));
  const rest = left.length === 0 ? "" : `a wider terminal and files also have: ${left.join(", ")}`;
  const block = [...lines, ...(rest === "" ? [] : wrapText(rest, maxColumns - indent))];
  const intervals = table.showsIntervals === true ? [] : intervalLines(table, dropped, tableColumns - indent);
  return intervals.length === 0 ? [block] : [block, ["95 % confidence", ...intervals]];
}

/** Formats the intervals of a table, for the columns and rows that have any. @param dropped columns that the table does not show */
function intervalLines(table: ModelTable, dropped: readonly Column[], maxColumns: number): readonly string[] {
  const hidden = new Set(dropped.map(({ key }) => key));
  const units = unitsOf(table);
  const isName = ({ key }: Column): boolean => NAME_KEYS.has(key);
  const textAt = (row: readonly Cell[], at: number): string => {
    const column = table.columns[at];
    return column === undefined || isName(column) || hidden.has(column.key)
      ? ""
      : formatInterval(row[at] ?? {}, column.quantity, units[at]);
  };
  const rows = table.rows.filter((row) => table.columns.some((_, at) => textAt(row, at) !== ""));
  const kept = table.columns.flatMap((column, at) =>
    isName(column) || rows.some((row) => textAt(row, at) !== "") ? [at] : [],
  );
  if (rows.length === 0) return [];
  const columns = kept.map((at) => {
    const column = table.columns[at] as Column;
    return isName(column) ? { ...column, dropOrder: 0 } : { ...column, dropOrder: Math.max(1, column.dropOrder) };
  });
  const cells = rows.map((row) =>
    kept.map((at): Cell => (isName(table.columns[at] as Column) ? (row[at] ?? {}) : { value: textAt(row, at) })),
  );
  const format = (cell: Cell, column: Column, unit: TimeUnit | undefined): string =>
    typeof cell.value === "string" ? cell.value : valueText(cell, column, unit);
  return formatTextTable(
    { title: "", columns, rows: cells },
    { maxColumns, format, mostDropOrder: FILE_DROP_ORDER - 1 },
  ).lines;
}

/** Columns that name a row. */
const NAME_KEYS: ReadonlySet<string> = new Set(["run", "level", "tag", "phase", "part", "metric", "model", "gpu"]);

/** Matches a space between a number and its unit, or between a comparison and its number, which must stay on one line. */
const UNIT = /(?<=\d\*?) (?=(?:%|us|ms|s|min|\w+\/s|bytes|kB|MB|GB)(?:[\s.,;:)"]|$))|(?<=[<>≤≥=]) (?=\d)/g;
const NO_BREAK = "\u00a0";

/** Splits a text into lines of at most this many characters, at spaces if there are any. All lines are indented like the first. */
export function wrapText(text: string, width: number): string[] {
  if (text.length <= width) return [text.replaceAll(NO_BREAK, " ")];
  const bare = text.trimStart();
  // The text may be a server's, and its indent as long as the line.
  const indent = " ".repeat(Math.min(text.length - bare.length, width >> 1));
  const room = width - indent.length;
  const joined = bare.replace(UNIT, NO_BREAK);
  const words = joined.split(" ").flatMap((one) => one.match(new RegExp(`.{1,${room}}`, "gu")) ?? [""]);
  return wrapWords(words.join(" "), room).map((line) => indent + line.replaceAll(NO_BREAK, " "));
}
