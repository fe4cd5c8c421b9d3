import { escapeHtml } from "../markup.ts";
import type { Cell, Column, ModelTable } from "../model/report-model.ts";
import { formatCell, formatInterval, type TimeUnit, timeUnitOf } from "../model/values.ts";

/** Tables of a page: one unit a column, which its heading has. */

/** Longer texts wrap. */
const LONGEST_LINE = 24;

/** Formats a table in a panel, which scrolls when the table is wider than the page. */
export function formatTable({ title, columns, rows }: ModelTable): string {
  if (rows.length === 0) return "";
  const units = columns.map(({ quantity }, at) => (quantity === "time" ? timeUnitOf(timesOf(rows, at)) : undefined));
  const head = columns.map((column, at) => formatHeading(column, units[at]));
  const body = rows.map(
    (row) => `<tr>${columns.map((column, at) => formatValue(row[at] ?? {}, column, units[at], at)).join("")}</tr>`,
  );
  const heading = title === "" ? "" : `<h3>${escapeHtml(title)}</h3>`;
  return `<div class="panel">${heading}<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("\n")}</tbody></table></div></div>`;
}

function timesOf(rows: ModelTable["rows"], at: number): number[] {
  return rows.flatMap((row) => {
    const value = row[at]?.value;
    return typeof value === "number" ? [value] : [];
  });
}

function formatHeading({ title, quantity }: Column, unit: TimeUnit | undefined): string {
  const name = quantity === "ratio" ? "%" : (unit?.name ?? "");
  const small = name === "" ? "" : ` <small>${name}</small>`;
  return `<th scope="col"${quantity === "text" ? "" : ' class="figure"'}>${escapeHtml(title)}${small}</th>`;
}

function formatValue(cell: Cell, { quantity }: Column, unit: TimeUnit | undefined, at: number): string {
  const name = unit?.name ?? (quantity === "ratio" ? "%" : undefined);
  const without = (text: string): string => (name === undefined ? text : text.replaceAll(` ${name}`, ""));
  const text = without(formatCell(cell, quantity, unit));
  const interval = without(formatInterval(cell, quantity, unit));
  const names = [
    quantity === "text" ? "" : "figure",
    cell.mark ?? "",
    quantity === "text" && text.length > LONGEST_LINE ? "long" : "",
  ].filter((name) => name !== "");
  const look = names.length === 0 ? "" : ` class="${names.join(" ")}"`;
  const small = interval === "" ? "" : `<small>${escapeHtml(interval)}</small>`;
  return at === 0
    ? `<th scope="row"${look}>${escapeHtml(text)}${small}</th>`
    : `<td${look}>${escapeHtml(text)}${small}</td>`;
}
