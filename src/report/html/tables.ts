import { escapeHtml } from "../plots/page.ts";
import { MARK } from "../rampart/confidence-notes.ts";
import { type ResultTable, type TableCell, textOf } from "../tables/result-table.ts";

/** Tables of the page. */

/** A number with its unit, or nothing. */
const FIGURE = /^(?:[-\d]\S*(?: \S{1,9})?)?$/;

/** Formats a table that scrolls when it is wider than the page. Columns without a text are left out. */
export function formatTable(header: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const kept = header.flatMap((_, column) => (rows.some((row) => textOf(row[column]) !== "") ? [column] : []));
  const isFigures = (column: number): boolean => rows.every((row) => FIGURE.test(textOf(row[column])));
  const figures = new Set(kept.filter((column) => column > 0 && isFigures(column)));
  const look = (column: number): string => (figures.has(column) ? ' class="figure"' : "");
  const head = kept.map((column) => `<th scope="col"${look(column)}>${escapeHtml(header[column] ?? "")}</th>`);
  const body = rows.map(
    (row) => `<tr>${kept.map((column) => formatCell(row[column], figures.has(column))).join("")}</tr>`,
  );
  return `<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}

function formatCell(cell: TableCell | undefined, isFigure: boolean): string {
  const text = escapeHtml(textOf(cell));
  const own = typeof cell === "object" ? cell : undefined;
  const small = own?.small === undefined ? "" : `<small>${escapeHtml(own.small)}</small>`;
  const names = [...(isFigure ? ["figure"] : []), ...(own?.look === undefined ? [] : [own.look])].join(" ");
  return `<td${names === "" ? "" : ` class="${names}"`}>${text}${small}</td>`;
}

/** Formats a section; empty without content. @param id for links to it */
export function formatSection(id: string, title: string, content: string): string {
  return content === "" ? "" : `<section id="${id}"><h2>${escapeHtml(title)}</h2>\n${content}\n</section>`;
}

/** Formats a panel around content. */
export function formatPanel(content: string, title = ""): string {
  const head = title === "" ? "" : `<h3>${escapeHtml(title)}</h3>`;
  return `<div class="panel">${head}${content}</div>`;
}

/** Formats tables as panels, without those that have no rows. */
export function formatResultTables(tables: readonly ResultTable[]): string {
  return tables
    .filter(({ rows }) => rows.length > 0)
    .map(({ title, header, rows, notes = [] }) => {
      const note = notes.length === 0 ? "" : `<p class="note">${escapeHtml(notes.join(" "))}</p>`;
      return formatPanel(`${formatTable(header, rows)}${note}`, title);
    })
    .join("");
}

/** Explains the mark of percentiles with too few samples. */
export const MARK_NOTE = `<p class="note">Ranges are 95 % confidence intervals. ${MARK} too few samples to trust.</p>`;
