import { escapeHtml } from "../plots/page.ts";
import { MARK } from "../rampart/confidence-notes.ts";

/** Tables of the page. */

/** A cell: its text, or a text with a class of the page's style, or with a smaller line below it. */
export type Cell =
  | string
  | { readonly text: string; readonly look?: "bad" | "good" | "text" | "wide"; readonly small?: string };

/** A number with its unit, or nothing. */
const FIGURE = /^(?:[-\d]\S*(?: \S{1,9})?)?$/;

/** Formats a table that scrolls when it is wider than the page. Columns without a text are left out. */
export function formatTable(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const kept = header.flatMap((_, column) => (rows.some((row) => textOf(row[column]) !== "") ? [column] : []));
  const isFigures = (column: number): boolean => rows.every((row) => FIGURE.test(textOf(row[column])));
  const look = (column: number): string => (column > 0 && isFigures(column) ? ' class="figure"' : "");
  const head = kept.map((column) => `<th scope="col"${look(column)}>${escapeHtml(header[column] ?? "")}</th>`);
  const body = rows.map((row) => `<tr>${kept.map((column) => formatCell(row[column], look(column))).join("")}</tr>`);
  return `<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}

function formatCell(cell: Cell | undefined, look: string): string {
  const text = escapeHtml(textOf(cell));
  const own = typeof cell === "object" ? cell : undefined;
  const small = own?.small === undefined ? "" : `<small>${escapeHtml(own.small)}</small>`;
  return `<td${own?.look === undefined ? look : ` class="${own.look}"`}>${text}${small}</td>`;
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
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

/** Explains the mark of percentiles with too few samples. */
export const MARK_NOTE = `<p class="note">Ranges are 95 % confidence intervals. ${MARK} too few samples to trust.</p>`;
