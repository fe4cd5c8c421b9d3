import { formatDurationNs } from "../../plan/units.ts";

/** Text layout shared by Rampart's own reports. */

/** A table with aligned columns: figures right, text left. Columns without a cell are left out. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = header
    .map((title, column) => ({ title, cells: rows.map((row) => row[column] ?? "") }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""))
    .map(({ title, cells }) => {
      const width = Math.max(title.length, ...cells.map((cell) => cell.length));
      const isFigures = cells.every((cell) => /^[-\d]|^$/.test(cell));
      const pad = (text: string): string => (isFigures ? text.padStart(width) : text.padEnd(width));
      return [pad(title), "─".repeat(width), ...cells.map(pad)];
    });
  const lineCount = rows.length + 2;
  return Array.from({ length: lineCount }, (_, line) =>
    columns
      .map((column) => column[line])
      .join("  ")
      .trimEnd(),
  ).join("\n");
}

/** Microseconds in a readable unit. */
export function formatUs(us: number): string {
  return formatDurationNs(us * 1000);
}

/** A rate or count with up to four significant digits and thousands apart: `12,300`. */
export function formatCount(value: number): string {
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

/** A ratio as percent. */
export function formatPct(ratio: number): string {
  return `${Number((ratio * 100).toPrecision(3))} %`;
}
