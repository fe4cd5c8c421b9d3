import type { VerdictState } from "../measure/verdict-state.ts";
import { countOf } from "../plan/units.ts";
import { escapeMarkdown } from "./markup.ts";
import { DETAIL_DROP_ORDER } from "./model/level-columns.ts";
import type { Cell, Check, ModelTable, Note, ReportModel, Section, VerdictName } from "./model/report-model.ts";
import { explainMark } from "./model/tables.ts";
import { formatCell, formatInterval, MARK, type TimeUnit, unitsOf } from "./model/values.ts";

/** `--markdown`: a summary for pull requests and the summaries of CI jobs. */

const VERDICTS: Readonly<Record<VerdictName, string>> = {
  failed: "❌ Failed",
  partial: "⚠️ Partial result",
  unresolved: "⚠️ Unresolved",
  passed: "✅ Passed",
  measured: "Measured",
};
const SIGNS: Readonly<Record<VerdictState, string>> = { pass: "✅ pass", fail: "❌ FAIL", unresolved: "⚠️ unresolved" };
/** The section that is a chart elsewhere and has hundreds of rows. With several scenarios, its id has the scenario's name as a prefix. */
const LEFT_OUT = "timeline";
/** Further rows or notes are folded. */
const MOST_OPEN = 12;

/** Formats the summary. */
export function formatMarkdownReport(model: ReportModel): string {
  const { verdict, name, subject, setup, checks, notes, sections } = model;
  const facts = [verdict.headline, subject, ...setup, ...verdict.facts].filter((text) => text !== "");
  const parts = [
    `## ${VERDICTS[verdict.name]}: ${escapeMarkdown(name)}`,
    facts.map(escapeMarkdown).join(" · "),
    formatChecks(checks),
    ...sections.filter(({ isSummary }) => isSummary).map(formatSection),
    formatNotes(notes),
    ...sections
      .filter((section) => !section.isSummary && !section.id.endsWith(LEFT_OUT) && hasText(section))
      .map((section) => fold(formatSection(section), section.title)),
  ].filter((part) => part !== "");
  return `${parts.join("\n\n")}\n`;
}

function formatChecks(checks: readonly Check[]): string {
  if (checks.length === 0) return "";
  return formatTable(
    ["Check", "Measured", ""],
    checks.map(({ state, text, measured }) => [text, measured, SIGNS[state]]),
  );
}

/** Reports whether a section has text. A section with only charts is omitted. */
function hasText({ tables, lines = [] }: Section): boolean {
  return tables.length + lines.length > 0;
}

function formatSection({ title, lines = [], tables }: Section): string {
  const parts = [
    ...(title === "" ? [] : [`### ${escapeMarkdown(title)}`]),
    ...(lines.length === 0 ? [] : [lines.map((line) => `- ${escapeMarkdown(line)}`).join("\n")]),
    ...tables.map(formatModelTable),
  ];
  return parts.join("\n\n");
}

/** Formats a table with the intervals of its cells. Columns of details are only on the page and in the JSON report. */
function formatModelTable({ title, ...table }: ModelTable): string {
  const kept = table.columns.flatMap(({ dropOrder }, index) => (dropOrder < DETAIL_DROP_ORDER ? [index] : []));
  const columns = kept.flatMap((index) => table.columns[index] ?? []);
  const rows = table.rows.map((row) => kept.map((index) => row[index] ?? {}));
  const units = unitsOf({ columns, rows });
  const textOf = (cell: Cell, index: number): string =>
    cellText(cell, columns[index]?.quantity ?? "text", units[index]);
  const titles = columns.map((column) => column.title);
  const why = explainMark([{ ...table, title, columns, rows }]);
  const whole = [
    ...(title === "" ? [] : [`**${escapeMarkdown(title)}**`]),
    formatTable(
      titles,
      rows.map((row) => row.map(textOf)),
    ),
    ...(why === undefined ? [] : [`\\${MARK} ${why}`]),
  ].join("\n\n");
  return rows.length > MOST_OPEN ? fold(whole, `${rows.length} rows`) : whole;
}

function cellText(cell: Cell, quantity: ModelTable["columns"][number]["quantity"], unit: TimeUnit | undefined): string {
  const interval = formatInterval(cell, quantity, unit);
  return `${formatCell(cell, quantity, unit)}${interval === "" ? "" : ` (${interval})`}`;
}

function formatNotes(notes: readonly Note[]): string {
  if (notes.length === 0) return "";
  const line = ({ severity, text }: Note): string =>
    `- ${severity === "wrong" ? "**wrong**: " : ""}${escapeMarkdown(text)}`;
  const open = notes.filter(({ severity }) => severity !== "detail").map(line);
  const details = notes.filter(({ severity }) => severity === "detail").map(line);
  return [open.join("\n"), details.length === 0 ? "" : fold(details.join("\n"), countOf(details.length, "more note"))]
    .filter((part) => part !== "")
    .join("\n\n");
}

/** Formats a table. Its cells must have been escaped. */
function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeMarkdown).join(" | ")} |`;
  const rule = `| ${header.map((_, index) => (index === 0 ? "---" : "---:")).join(" | ")} |`;
  return [line(header), rule, ...rows.map(line)].join("\n");
}

/** Folds a part below a line that opens it. */
function fold(text: string, what: string): string {
  return text === "" ? "" : `<details><summary>${escapeMarkdown(what)}</summary>\n\n${text}\n\n</details>`;
}
