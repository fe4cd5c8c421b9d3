import type { RowResult } from "./row.ts";

/** Writes the matrix as a table of Markdown with its date. @param date `2026-11-23` */
export function formatMatrix(results: readonly RowResult[], date: string): string {
  const head = ["server", "version", "protocol", "measured", "what the server lacks, or why it is not measured"];
  const rows = results.map(({ server, version, protocol, works, lacks }) => [server, version, protocol, works, lacks]);
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(escapeCell).join(" | ")} |`);
  const measured = results.filter(({ isMeasured }) => isMeasured).length;
  return [`On ${date}: ${measured} of ${results.length} are measured.`, "", ...lines].join("\n");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
