import { userError } from "../../../plan/problem.ts";
import { countOf, NS_PER_US } from "../../../plan/units.ts";
import { describeLoad, type MeasuredLevel, type MeasuredValue, type RunFormat } from "./measured-run.ts";

/** perf_analyzer's CSV, written by perf_analyzer or by Rampart: a row per level. */

const NAME = "perf_analyzer's CSV";

/** Metric of a column, and the factor of its values. */
type Column = readonly [metric: string, scale: number];

const COLUMNS: ReadonlyMap<string, Column> = new Map<string, Column>([
  ["Inferences/Second", ["throughput", 1]],
  ["Response Throughput", ["responsesPerSec", 1]],
  ["Server Queue", ["serverQueue", NS_PER_US]],
  ["Server Compute Input", ["serverComputeInput", NS_PER_US]],
  ["Server Compute Infer", ["serverComputeInfer", NS_PER_US]],
  ["Server Compute Output", ["serverComputeOutput", NS_PER_US]],
  ["Output Tokens/Second", ["outputTokensPerSec", 1]],
  ["Avg Output Tokens", ["outputTokens.mean", 1]],
]);
/** Columns of statistics, such as `p99 latency` and `Avg Time To First Token`. */
const STATISTICS: readonly (readonly [ending: string, metric: string])[] = [
  ["latency", "latency"],
  ["Time To First Token", "timeToFirstToken"],
  ["Inter Token Latency", "interTokenLatency"],
];

/** perf_analyzer's CSV of one run. */
export const perfAnalyzerCsv: RunFormat = {
  name: NAME,
  detectHead: (head) => /^[^\n,]+,Inferences\/Second,/.test(head),
  read: (file) => {
    const { path } = file;
    // Sections of composing models follow an empty line.
    const [table = "", ...composing] = file
      .readText()
      .trimStart()
      .split(/\r?\n\s*\r?\n/);
    const [header = "", ...rows] = table.trimEnd().split(/\r?\n/);
    const titles = header.split(",");
    // Rows are sorted by throughput; levels are easier to read by load.
    const levels = rows
      .map((row, index) => ({
        load: Number(row.split(",")[0]),
        level: readRow(titles, row, `${path}, line ${index + 2}`),
      }))
      .sort((a, b) => a.load - b.load)
      .map(({ level }) => level);
    if (levels.length === 0)
      throw userError("missing", path, "has no level", "Give the CSV of a run that measured something.");
    const notCompared = [
      ...titles.slice(1).filter((title) => title !== "" && columnOf(title) === undefined),
      ...(composing.some((section) => section.trim() !== "") ? ["composing models"] : []),
    ];
    return [{ source: path, format: NAME, isPartial: false, facts: new Map(), levels, isSummary: true, notCompared }];
  },
};

function readRow(titles: readonly string[], row: string, place: string): MeasuredLevel {
  const cells = row.split(",");
  if (cells.length < titles.length) {
    const message = `has ${countOf(cells.length, "cell")}, and the header has ${titles.length}`;
    throw userError("invalid-value", place, message, "Give the CSV as perf_analyzer wrote it.");
  }
  const values = new Map<string, MeasuredValue>();
  for (const [at, title] of titles.entries()) {
    const column = columnOf(title);
    const cell = cells[at] ?? "";
    if (column === undefined || cell === "") continue;
    values.set(column[0], { value: toNumber(cell, title, place) * column[1] });
  }
  const [unit = ""] = titles;
  return { label: describeLoad(unit, toNumber(cells[0] ?? "", unit, place)), values };
}

function columnOf(title: string): Column | undefined {
  const known = COLUMNS.get(title);
  if (known !== undefined) return known;
  const match = /^(Avg|p\d+(?:\.\d+)?) (.+)$/.exec(title);
  const found = STATISTICS.find(([ending]) => ending === match?.[2]);
  if (match === null || found === undefined) return undefined;
  return [`${found[1]}.${match[1] === "Avg" ? "mean" : match[1]}`, NS_PER_US];
}

function toNumber(cell: string, title: string, place: string): number {
  const value = cell.trim() === "" ? Number.NaN : Number(cell);
  if (Number.isFinite(value)) return value;
  throw userError("invalid-value", place, `${title} is not a number`, "Give the CSV as perf_analyzer wrote it.", cell);
}
