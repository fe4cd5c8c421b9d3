import { formatDurationNs } from "../../plan/units.ts";

/** Text layout shared by Rampart's own reports. */

/** A table with aligned columns: the first left, the others right. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] as number) : cell.padStart(widths[column] as number),
      )
      .join("  ")
      .trimEnd();
  return [line(header), widths.map((width) => "─".repeat(width)).join("  "), ...rows.map(line)].join("\n");
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
