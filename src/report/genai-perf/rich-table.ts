import { wrapWords } from "../../plan/terminal-text.ts";

/** Tables like those of Python's `rich`, with its defaults and a heavy head. */

type Side = "left" | "right";

/** Formats a table. Cells can have several lines. @param title centered above the table @param side alignment of the cells */
export function formatRichTable(
  title: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  side: Side = "right",
): string {
  const widths = header.map((head, column) =>
    Math.max(head.length, ...rows.flatMap((row) => lines(row[column]).map((line) => line.length))),
  );
  const width = widths.reduce((sum, cell) => sum + cell + 3, 1);
  const rule = (left: string, dash: string, cross: string, right: string): string =>
    left + widths.map((cell) => dash.repeat(cell + 2)).join(cross) + right;
  return [
    ...wrapWords(title, width).map((line) => centre(line, width)),
    rule("┏", "━", "┳", "┓"),
    ...formatRow(header, widths, "┃", side),
    rule("┡", "━", "╇", "┩"),
    ...rows.flatMap((row) => formatRow(row, widths, "│", side)),
    rule("└", "─", "┴", "┘"),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function formatRow(row: readonly string[], widths: readonly number[], edge: string, side: Side): string[] {
  const cells = widths.map((_, column) => lines(row[column]));
  const height = Math.max(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = widths.map((width, column) => {
      const text = cells[column]?.[line] ?? "";
      return ` ${side === "left" ? text.padEnd(width) : text.padStart(width)} `;
    });
    return edge + parts.join(edge) + edge;
  });
}

function lines(cell: string | undefined): string[] {
  return (cell ?? "").split("\n");
}

function centre(text: string, width: number): string {
  return `${" ".repeat(Math.max(0, Math.floor((width - text.length) / 2)))}${text}`.padEnd(width);
}
