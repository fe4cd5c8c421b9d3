import assert from "node:assert/strict";
import { escapeHtml } from "../../../src/report/markup.ts";
import type { Cell, ModelTable, ReportModel } from "../../../src/report/model/report-model.ts";

/** Reads the tables of a page, and compares them with those of a model. */

/** A table of a page. */
interface PageTable {
  /** The unit of each column; empty for those without. */
  readonly units: readonly string[];
  readonly rows: readonly (readonly { readonly text: string; readonly small: string }[])[];
}

function readTables(html: string): PageTable[] {
  return [...html.matchAll(/<table[^>]*>(.*?)<\/table>/gs)].map(([, table = ""]) => {
    const [head = "", body = ""] = table.split("<tbody>");
    return {
      units: [...head.matchAll(/<th [^>]*>(.*?)<\/th>/gs)].map(
        ([, cell = ""]) => /<small>(.*?)<\/small>/.exec(cell)?.[1] ?? "",
      ),
      rows: [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
        [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => {
          const [text = "", small = ""] = cell.split(/<\/?small>/);
          return { text, small };
        }),
      ),
    };
  });
}

/** Asserts that the tables of a page are those of a model: the same rows, and in each cell the same number with its interval or mark. */
export function checkPageTables(html: string, model: ReportModel): void {
  const tables = model.sections.flatMap((section) => section.tables).filter(({ rows }) => rows.length > 0);
  const read = readTables(html);
  assert.equal(read.length, tables.length, "tables");
  for (const [index, table] of tables.entries()) checkTable(read[index] as PageTable, table);
}

function checkTable({ units, rows }: PageTable, table: ModelTable): void {
  assert.equal(rows.length, table.rows.length, "rows");
  assert.equal(units.length, table.columns.length, "columns");
  for (const [at, row] of table.rows.entries())
    for (const [column, { quantity, title }] of table.columns.entries()) {
      const { text, small } = rows[at]?.[column] ?? { text: "", small: "" };
      const cell = row[column] as Cell;
      const what = `${title} of row ${at}: ${text} ${small} for ${JSON.stringify(cell)}`;
      if (typeof cell.value !== "number") {
        assert.equal(text, escapeHtml(cell.value ?? ""), what);
        continue;
      }
      const size = SIZES[units[column] ?? ""] ?? Number.NaN;
      assert.equal(units[column] === "%", quantity === "ratio", what);
      assert.ok(isShown(numberOf(text) * size, cell.value), what);
      assert.equal(text.endsWith("*"), cell.mark === "uncertain", what);
      const ends = [...small.matchAll(/-?[\d.,]+(?:e[+-]?\d+)?/g)].map(([end]) => numberOf(end) * size);
      const { low = null, high = null } = cell.interval ?? {};
      // An interval whose ends are equal, or look so with three digits, says nothing.
      const isFlat =
        low === high || (ends.length === 0 && Math.abs((high ?? 0) - (low ?? 0)) < Math.abs(cell.value) / 100);
      const expected = isFlat ? [] : [low, high].filter((end) => typeof end === "number");
      assert.equal(ends.length, expected.length, what);
      for (const [index, end] of expected.entries()) assert.ok(isShown(ends[index] ?? Number.NaN, end), what);
    }
}

const SIZES: Readonly<Record<string, number>> = { us: 1e3, ms: 1e6, s: 1e9, min: 60e9, "%": 0.01, "": 1 };

function numberOf(text: string): number {
  return Number(text.replaceAll(/[,*]/g, ""));
}

/** Reports whether a number is the value with three digits or more. */
function isShown(shown: number, value: number): boolean {
  return Math.abs(shown - value) <= 0.0051 * Math.abs(value) + 1e-12;
}
