import type { Cell, ModelTable, ReportModel } from "../model/report-model.ts";
import { formatCell } from "../model/values.ts";

/** A report of one level as a few lines instead of a table, for commands that measure one request. */

const INDENT = "  ";
const GAP = "   ";
/** Times of the level, in the order of the columns. */
const TIMES = /^(?:latency|scheduledLatency|firstResponse)\./;
const RARE_TIMES = new Set(["latency.p99.9"]);

/**
 * Formats the subject with its load and rate, the latencies, and the numbers of requests. Undefined when there is not exactly one level.
 * @param word of the verdict, empty when nothing was judged
 */
export function singleLevelLines(model: ReportModel, maxColumns: number, word: string): string[] | undefined {
  const [table] = model.sections.find(({ id }) => id === "levels")?.tables ?? [];
  const [row, ...others] = table?.rows ?? [];
  if (table === undefined || row === undefined || others.length > 0) return undefined;
  const facts = [describeLoad(table, row), model.verdict.facts[0] ?? "", describeCell(table, row, "throughput")];
  const right = facts.filter((text) => text !== "").join(GAP);
  const left = [word, model.name, model.subject].filter((text) => text !== "").join(INDENT);
  const room = maxColumns - left.length;
  const first = right.length + GAP.length <= room ? [left + right.padStart(room)] : [left, INDENT + right];
  const times = table.columns.flatMap(({ key, title, quantity }, index) => {
    const cell = row[index] ?? {};
    if (!TIMES.test(key) || RARE_TIMES.has(key) || cell.value === undefined) return [];
    return [`${title} ${formatCell(cell, quantity)}`];
  });
  const received = model.sections.find(({ id }) => id === "received")?.lines ?? [];
  const completed = received.length === 0 ? describeCell(table, row, "requests", "completed") : "";
  const counts = [
    ...received.slice(0, -1),
    completed,
    describeCell(table, row, "failed", "failed"),
    ...received.slice(-1),
  ];
  const outcome = describeCell(table, row, "outcome");
  return [...first, ...joinLines(times, maxColumns), ...joinLines([...counts, outcome], maxColumns)];
}

/** `16 in flight`, or a rate in the words of the table. */
function describeLoad({ columns }: ModelTable, row: readonly Cell[]): string {
  const index = columns.findIndex(({ key }) => key === "level");
  const { title = "", quantity = "number" } = columns[index] ?? {};
  const value = formatCell(row[index] ?? {}, quantity);
  return title.includes("/s") ? `${value} ${title}` : `${value} in flight`;
}

/** Formats a value with a name. @param name default: the title of its column, after the value */
function describeCell({ columns }: ModelTable, row: readonly Cell[], wanted: string, name?: string): string {
  const index = columns.findIndex(({ key }) => key === wanted);
  const { title = "", quantity = "text" } = columns[index] ?? {};
  const value = formatCell(row[index] ?? {}, quantity);
  if (value === "") return "";
  return name === undefined ? `${value} ${title}`.trim() : `${name} ${value}`;
}

/** Joins texts to indented lines. */
function joinLines(texts: readonly string[], maxColumns: number): string[] {
  const lines: string[] = [];
  for (const text of texts.filter((one) => one !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + GAP.length + text.length <= maxColumns)
      lines[lines.length - 1] = last + GAP + text;
    else lines.push(INDENT + text);
  }
  return lines;
}
