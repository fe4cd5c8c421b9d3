/** Terminals and emails show this number of characters per line without wrapping. */
const MAX_COLUMNS = 80;
const GAP = "  ";
const MIN_PART_COLUMNS = 3;
/** Minimum width of a wrapped column of sentences. */
const MIN_TEXT_COLUMNS = 30;

/**
 * Formats a table with aligned columns: figures right, text left, without empty columns. When it is wider than `maxColumns` characters, the
 * widest column of sentences is wrapped, or the remaining columns follow below, each part with the first column in front.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  maxColumns = MAX_COLUMNS,
): string {
  const columns = toColumns(header, rows);
  const widths = columns.map(([title = ""]) => title.length);
  const total = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  if (total <= maxColumns) return joinColumns(columns, rows.length);
  const at = findTextColumn(header, rows);
  const room = maxColumns - total + widthOf(header, rows, at);
  if (at >= 0 && room >= MIN_TEXT_COLUMNS) {
    const wrapped = rows.flatMap((row) => wrapCell(row, at, room));
    return formatTable(header, wrapped, Number.POSITIVE_INFINITY);
  }
  const [first = [], ...others] = columns;
  const parts: string[][][] = [[]];
  let width = (widths[0] ?? 0) - GAP.length;
  for (const [index, column] of others.entries()) {
    const added = (widths[index + 1] ?? 0) + GAP.length;
    if (width + added + GAP.length > maxColumns && (parts.at(-1) as string[][]).length > 0) {
      parts.push([]);
      width = (widths[0] ?? 0) - GAP.length;
    }
    (parts.at(-1) as string[][]).push(column);
    width += added;
  }
  // Avoid a part with a single column.
  const [before, rest] = parts.slice(-2);
  while (
    before !== undefined &&
    rest !== undefined &&
    rest.length < MIN_PART_COLUMNS &&
    before.length > MIN_PART_COLUMNS
  )
    rest.unshift(before.pop() as string[]);
  return parts.map((part) => joinColumns([first, ...part], rows.length)).join("\n\n");
}

/** Returns the widest column of sentences; -1 without one. */
function findTextColumn(header: readonly string[], rows: readonly (readonly string[])[]): number {
  const isText = (at: number): boolean =>
    rows.every((row) => !/^[-\d]/.test(row[at] ?? "")) && rows.some((row) => / .* /.test(row[at] ?? ""));
  let widest = -1;
  for (let at = 0; at < header.length; at++)
    if (isText(at) && widthOf(header, rows, at) > widthOf(header, rows, widest)) widest = at;
  return widest;
}

function widthOf(header: readonly string[], rows: readonly (readonly string[])[], at: number): number {
  return Math.max(header[at]?.length ?? 0, ...rows.map((row) => row[at]?.length ?? 0));
}

/** Splits a row with one wrapped cell into several rows. */
function wrapCell(row: readonly string[], at: number, room: number): string[][] {
  const lines: string[] = [];
  for (const word of (row[at] ?? "").split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > room) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.map((line, index) => row.map((cell, column) => (column === at ? line : index === 0 ? cell : "")));
}

/** Pads the cells of each column, with the title and a rule first. */
function toColumns(header: readonly string[], rows: readonly (readonly string[])[]): string[][] {
  return header
    .map((title, column) => ({ title, cells: rows.map((row) => row[column] ?? "") }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""))
    .map(({ title, cells }) => {
      const width = Math.max(title.length, ...cells.map((cell) => cell.length));
      const isFigures = cells.every((cell) => /^[-\d]|^$/.test(cell));
      const pad = (text: string): string => (isFigures ? text.padStart(width) : text.padEnd(width));
      return [pad(title), "─".repeat(width), ...cells.map(pad)];
    });
}

function joinColumns(columns: readonly (readonly string[])[], rowCount: number): string {
  return Array.from({ length: rowCount + 2 }, (_, line) =>
    columns
      .map((column) => column[line])
      .join(GAP)
      .trimEnd(),
  ).join("\n");
}
