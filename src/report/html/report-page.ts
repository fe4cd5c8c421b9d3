import { countOf, plural } from "../../plan/units.ts";
import { VERSION } from "../../runtime/this-program.ts";
import { escapeHtml } from "../markup.ts";
import type { Cell, Check, Column, ModelTable, Note, ReportModel, Section, Severity } from "../model/report-model.ts";
import { explainMark, hasContent } from "../model/tables.ts";
import { formatCell, formatInterval, MARK, type TimeUnit, unitsOf } from "../model/values.ts";
import type { Plot } from "../plot.ts";
import { readChartLibrary } from "../plots/chart-library.ts";
import { toChartOption } from "../plots/chart-option.ts";
import { hasHollow, legendOf } from "../plots/series-look.ts";
import { timeLineHeightPx } from "../plots/time-line-option.ts";
import {
  createStillDrawer,
  formatDocument,
  formatFigure,
  formatHeader,
  formatPlace,
  formatScripts,
  STILL_SCRIPT,
} from "./page-frame.ts";

/** `--html`: a report as one HTML file that works without a network, a server or other files. */

/** Formats a page, without secrets. */
export async function formatPage(model: ReportModel): Promise<string> {
  return formatReportPage(model, await readChartLibrary());
}

/** Formats a page, without secrets. @param library ECharts' code */
export function formatReportPage(model: ReportModel, library: string): string {
  const { verdict, origin, plan } = model;
  const plots = model.sections.flatMap(({ charts }) => charts);
  const isStill = model.hasStillCharts === true;
  const draw = createStillDrawer(library);
  const figure = (plot: Plot, isSummary: boolean): string => {
    const height = heightOf(plot, isSummary);
    const still = draw(plot, height, !isStill);
    return formatFigure(
      plot,
      isStill ? still : formatPlace(plot, plots.indexOf(plot), height, still),
      formatLegend(plot, isStill),
    );
  };
  const [first, ...rest] = model.sections.filter(hasContent);
  // The results, in words, precede the checks of them.
  const found = first?.title === "" ? (first.lines ?? []) : [];
  const shown = [
    ...(first === undefined ? [] : [formatSection(found.length === 0 ? first : { ...first, lines: [] }, figure)]),
    formatNotes(model.notes),
    ...rest.map((section) => formatSection(section, figure)),
  ];
  const subtitle = [model.subject, ...model.setup].filter((text) => text !== "").join(" · ");
  const body = `${formatHeader(model.name, subtitle)}
<div class="panel verdict ${verdict.name}"><b>${verdict.name.toUpperCase()}</b><span>${escapeHtml(verdict.headline)}</span>${formatFacts(model)}</div>
${formatLines(found)}
${formatChecks(model.checks)}
<main>
${shown.join("\n")}
${formatPlan(plan)}
</main>
<footer>Rampart ${escapeHtml(VERSION)}${origin === "" ? "" : `, ${escapeHtml(origin)}`}</footer>`;
  const options = (): object[] => plots.map((plot) => toChartOption(plot, "page"));
  return formatDocument(
    `${model.name}: ${verdict.name}`,
    body,
    isStill ? STILL_SCRIPT : formatScripts(options(), library),
  );
}

function formatFacts({ verdict, notes, sections }: ReportModel): string {
  const counts = SEVERITIES.flatMap(({ name, one, many }) => {
    const count = notes.filter(({ severity }) => severity === name).length;
    return count === 0 ? [] : [countOf(count, one, many)];
  });
  const noted = counts.length === 0 ? "" : `<a href="#notes">${counts.join(", ")}</a>`;
  // If there are several scenarios, the first section of each is enough.
  const isBelow = (title: string): boolean => sections.some((other) => title.startsWith(`${other.title}: `));
  const links = sections
    .filter((section) => section.title !== "" && hasContent(section) && !isBelow(section.title))
    .map(({ id, title }) => `<a href="#${escapeHtml(id)}">${escapeHtml(title)}</a>`);
  const facts = verdict.facts.map((fact) => `<span>${escapeHtml(fact)}</span>`).join("");
  return `<span class="facts">${facts}${noted}</span>${links.length === 0 ? "" : `<nav>${links.join("")}</nav>`}`;
}

/** Above this number of checks, passed ones are folded. */
const MOST_OPEN_CHECKS = 5;

function formatChecks(checks: readonly Check[]): string {
  if (checks.length === 0) return "";
  const [open, folded] =
    checks.length <= MOST_OPEN_CHECKS
      ? [checks, []]
      : [checks.filter(({ state }) => state !== "pass"), checks.filter(({ state }) => state === "pass")];
  const list = (some: readonly Check[]): string =>
    some.length === 0 ? "" : `<ul class="checks">${some.map(formatCheck).join("")}</ul>`;
  return `<div class="panel">${list(open)}${fold(folded.length, countOf(folded.length, "check passes", "checks pass"), list(folded))}</div>`;
}

function formatCheck({ state, text, measured }: Check): string {
  return `<li class="${state}"><b>${state}</b><span>${escapeHtml(text)} <span class="measured">${escapeHtml(measured)}</span></span></li>`;
}

const SEVERITIES: readonly { readonly name: Severity; readonly one: string; readonly many: string }[] = [
  { name: "wrong", one: "number not to be used", many: "numbers not to be used" },
  { name: "caution", one: "caution", many: "cautions" },
  { name: "detail", one: "detail", many: "details" },
];
const MOST_OPEN_NOTES = 3;

/** Formats the notes by severity. The first ones are open; details are not. */
function formatNotes(notes: readonly Note[]): string {
  if (notes.length === 0) return "";
  const sorted = SEVERITIES.flatMap(({ name }) => notes.filter(({ severity }) => severity === name));
  const open = sorted.filter(({ severity }) => severity !== "detail").slice(0, MOST_OPEN_NOTES);
  const folds = SEVERITIES.map(({ name, one, many }) => {
    const rest = sorted.filter((note) => note.severity === name && !open.includes(note));
    const more = open.some(({ severity }) => severity === name) ? "more " : "";
    return fold(rest.length, `${rest.length} ${more}${plural(rest.length, one, many)}`, listNotes(rest));
  });
  return `<section id="notes"><h2>Notes</h2><div class="panel">${listNotes(open)}${folds.join("")}</div></section>`;
}

function listNotes(notes: readonly Note[]): string {
  const items = notes.map(({ severity, text }) => `<li class="${severity}">${escapeHtml(text)}</li>`);
  return items.length === 0 ? "" : `<ul class="notes">${items.join("")}</ul>`;
}

function fold(count: number, summary: string, content: string): string {
  return count === 0 ? "" : `<details><summary>${escapeHtml(summary)}</summary>${content}</details>`;
}

/** @param figure formats a chart */
function formatSection(
  { id, title, isSummary, tables, charts, lines = [] }: Section,
  figure: (plot: Plot, isSummary: boolean) => string,
): string {
  const cards = charts.map((plot) => figure(plot, isSummary));
  const marks = explainMarks(tables);
  const parts = [
    title === "" ? "" : `<h2>${escapeHtml(title)}</h2>`,
    formatLines(lines),
    cards.length === 0 ? "" : `<div class="cards${isSummary ? " summary" : ""}">\n${cards.join("\n")}\n</div>`,
    ...tables.map((table) => foldLong(table, isSummary ? MOST_OPEN_ROWS : MOST_DETAIL_ROWS)),
    marks === "" ? "" : `<p class="note">${marks}</p>`,
  ];
  return `<section id="${escapeHtml(id)}">${parts.filter((part) => part !== "").join("\n")}</section>`;
}

function explainMarks(tables: readonly ModelTable[]): string {
  const cells = tables.flatMap(({ rows }) => rows.flat());
  const why = explainMark(tables);
  return [
    ...(why === undefined ? [] : [`${MARK} ${why}.`]),
    ...(cells.some(({ interval }) => interval !== undefined) ? ["Small: 95 % intervals."] : []),
  ].join(" ");
}

function formatLines(lines: readonly string[]): string {
  const paragraphs = lines.map((line) => `<p>${escapeHtml(line)}</p>`);
  return paragraphs.length === 0 ? "" : `<div class="panel">${paragraphs.join("")}</div>`;
}

/** Tables with more rows are folded, because charts show them better. Details are folded earlier. */
const MOST_OPEN_ROWS = 40;
const MOST_DETAIL_ROWS = 12;

/** @param most maximum number of rows of an open table */
function foldLong(table: ModelTable, most: number): string {
  const { title, rows } = table;
  const text = formatTable(table);
  return rows.length <= most ? text : fold(rows.length, `${title === "" ? "Table" : title}: ${rows.length} rows`, text);
}

function formatPlan(plan: object | undefined): string {
  if (plan === undefined) return "";
  return `<details class="panel plan"><summary>The plan as JSON</summary><pre>${escapeHtml(JSON.stringify(plan, null, 2))}</pre></details>`;
}

const SUMMARY_PX = 280;
/** Height of charts that do not set one. */
const USUAL_PX = 360;

/** Returns the height of a chart. @param isSummary lower, so that it is visible without scrolling */
function heightOf(plot: Plot, isSummary: boolean): number {
  return plot.kind === "time-line" ? timeLineHeightPx(plot) : (plot.heightPx ?? (isSummary ? SUMMARY_PX : USUAL_PX));
}

/** @param isStill whether series cannot be switched off */
function formatLegend(plot: Plot, isStill: boolean): string {
  const entries = legendOf(plot).map(({ name, color, isDashed }) => {
    const line = `<i style="border-color:${color}${isDashed ? ";border-style:dashed" : ""}"></i>`;
    if (isStill) return `<span>${line}${escapeHtml(name)}</span>`;
    return `<button type="button" aria-pressed="true" data-series="${escapeHtml(name)}">${line}${escapeHtml(name)}</button>`;
  });
  if (hasHollow(plot)) entries.push(`<span><i class="hollow"></i>hollow: uncertain</span>`);
  return entries.length === 0 ? "" : `<div class="legend">${entries.join("")}</div>`;
}

/** Longer texts are wrapped. */
const LONGEST_LINE = 24;

/** Tables with more columns have smaller gaps, so that the last columns fit on a screen. */
const MOST_WIDE_COLUMNS = 14;

/** Formats a table in a panel, which scrolls if the table is wider than the page. Each column has one unit, in its heading. */
function formatTable({ title, columns, rows }: ModelTable): string {
  if (rows.length === 0) return "";
  const units = unitsOf({ columns, rows });
  const head = columns.map((column, at) => formatHeading(column, units[at]));
  const body = rows.map(
    (row) => `<tr>${columns.map((column, at) => formatValue(row[at] ?? {}, column, units[at], at)).join("")}</tr>`,
  );
  const heading = title === "" ? "" : `<h3>${escapeHtml(title)}</h3>`;
  return `<div class="panel">${heading}<div class="scroll"><table${columns.length > MOST_WIDE_COLUMNS ? ' class="dense"' : ""}><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("\n")}</tbody></table></div></div>`;
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
