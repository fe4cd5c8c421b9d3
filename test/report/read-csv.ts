import assert from "node:assert/strict";
import type { Cell, Column, ModelTable, ReportModel } from "../../src/report/model/report-model.ts";

/** Reads Rampart's CSV, and compares it with a model. */

/** A table of the file: a cell of each row by the name of its column. */
export type CsvTable = readonly Readonly<Record<string, string>>[];

/** Reads the tables as RFC 4180 says. */
export function readCsv(text: string): CsvTable[] {
  return text
    .trimEnd()
    .split(/\r\n\r\n/)
    .filter((part) => part !== "")
    .map((part) => {
      const [header = [], ...rows] = readLines(part);
      for (const row of rows) assert.equal(row.length, header.length, part);
      return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ""])));
    });
}

function readLines(text: string): string[][] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain = "", end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    lines.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\r\n") lines.push([]);
    if (end === "") break;
  }
  return lines;
}

/** Asserts that the file has every number of the model with all of its digits, with its interval and its mark. */
export function checkCsv(text: string, { sections }: ReportModel): void {
  const tables = sections.flatMap(({ id, tables: own }) => own.map((table) => ({ id, table })));
  const read = readCsv(text);
  assert.equal(read.length, tables.length, "tables of CSV");
  for (const [index, { id, table }] of tables.entries()) checkTable(read[index] ?? [], id, table);
}

function checkTable(read: CsvTable, id: string, { columns, rows, title }: ModelTable): void {
  assert.equal(read.length, rows.length, `rows of ${id}`);
  for (const [at, row] of rows.entries()) {
    const own = read[at] ?? {};
    assert.equal(own["section"], title === "" ? id : `${id}: ${title}`);
    for (const [index, column] of columns.entries()) checkCell(own, column, row[index] ?? {});
  }
}

/** Units of the file, and how many of them the unit of the model is. */
const UNITS: Readonly<Record<string, readonly [name: string, factor: number]>> = {
  time: ["us", 1e-3],
  rate: ["per s", 1],
  ratio: ["%", 100],
};

function checkCell(row: CsvTable[number], column: Column, { value, interval, mark }: Cell): void {
  const { key, quantity } = column;
  const [name = column.unit, factor = 1] = UNITS[quantity] ?? [];
  const unit = name === undefined ? "" : ` (${name})`;
  if (typeof value === "number" && (quantity === "mean" || key === "level"))
    assert.ok(unit !== "" || COUNTED.test(key), `${key} has no unit`);
  const check = (name: string, expected: number | string | null | undefined): void => {
    const text = row[`${name}${unit}`] ?? "";
    if (expected === undefined || expected === null) assert.equal(text, "", name);
    else if (typeof expected === "string") assert.equal(text, expected, name);
    else near(Number(text), expected * factor, name);
  };
  check(key, value);
  check(`${key} low`, interval?.low);
  check(`${key} high`, interval?.high);
  if (mark === "uncertain") assert.equal(row[`${key} is certain`], "false", key);
  else assert.ok([undefined, "", "true"].includes(row[`${key} is certain`]), key);
}

/** Means of counts, and numbers in a currency of the user's own. */
const COUNTED = /^(?:inFlight|littlesLaw|cost\w+)$/;

function near(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= 1e-12 * Math.abs(expected), `${what}: ${actual} and ${expected}`);
}
