/** Formats a row of a CSV file, with quotes where a cell needs them. @param lineEnd default: as RFC 4180 says */
export function formatCsvRow(cells: readonly string[], lineEnd: "\r\n" | "\n" = "\r\n"): string {
  const quoted = cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
  return `${quoted.join(",")}${lineEnd}`;
}
